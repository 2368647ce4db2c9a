"""What the scripts share that write kernels of CPUs: one file of assembly for all machines, and the C table of them."""


# Text in which Linux and macOS differ: begin_function, end_function, and constants, the section
# of read-only data.
FORMATS = """#ifdef __APPLE__
.macro begin_function name
    .globl _\\name
    .private_extern _\\name
_\\name:
.endm
.macro end_function name
.endm
.macro constants
    .section __TEXT,__const
.endm
#else
.macro begin_function name
    .globl \\name
    .hidden \\name
    .type \\name, %function
\\name:
.endm
.macro end_function name
    .size \\name, .-\\name
.endm
.macro constants
    .section .rodata
.endm
#endif
"""


def write(assembly, table, header, function, array, machines):
    """Writes both files. function: the kernels' C type, array: the table's type and name, which `header` declares. machines:
    of each its class, what stands in front of its kernels, and their rows: assembly(), symbols(), and record() of the table."""
    with open(assembly, "w", encoding="ascii") as s, open(table, "w", encoding="ascii") as c:
        s.write(FORMATS)
        c.write(f'#include "{header}"\n\n#include "device/cpu/features.h"\n\n')
        for i, (machine, front, rows) in enumerate(machines):
            guard = f"#{'el' if i else ''}if (defined(__ELF__) || defined(__APPLE__)) && defined({machine.guard})\n"
            s.write(guard + front + "".join(r.assembly() for r in rows))
            c.write(guard + "".join(f"{function} {name};\n" for r in rows for name in r.symbols()))
            c.write(f"const {array}[] = {{\n" + "".join(r.record() for r in rows) + "    {0},\n};\n")
        s.write('#endif\n#ifdef __ELF__\n    .section .note.GNU-stack, "", %progbits\n#endif\n')
        c.write(f"#else\nconst {array}[] = {{{{0}}}};\n#endif\n")
