"""What the scripts share that write kernels of CPUs: one file of assembly for all machines, and the C table of them."""


def write(assembly, table, header, function, array, machines):
    """Writes both files. function: the kernels' C type, array: the table's type and name, which `header` declares. machines:
    of each its class, what stands in front of its kernels, and their rows: assembly(), symbols(), and record() of the table."""
    with open(assembly, "w", encoding="ascii") as s, open(table, "w", encoding="ascii") as c:
        c.write(f'#include "{header}"\n\n#include "device/cpu/features.h"\n\n')
        for i, (machine, front, rows) in enumerate(machines):
            guard = f"#{'el' if i else ''}if defined(__ELF__) && defined({machine.guard})\n"
            s.write(guard + front + "".join(r.assembly() for r in rows))
            c.write(guard + "".join(f"{function} {name};\n" for r in rows for name in r.symbols()))
            c.write(f"const {array}[] = {{\n" + "".join(r.record() for r in rows) + "    {0},\n};\n")
        s.write('#endif\n#ifdef __ELF__\n    .section .note.GNU-stack, "", %progbits\n#endif\n')
        c.write(f"#else\nconst {array}[] = {{{{0}}}};\n#endif\n")
