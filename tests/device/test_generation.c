/* Names of CPUs by planted CPUID and MIDR. */
#include "tests/unit_test.h"

#include "device/cpu/generation.h"

#include <string.h>

static const struct {
    struct as_cpu_identity id;
    const char *reported, *wanted;
} cases[] = {
    {{.vendor = "AuthenticAMD", .family = 0x1a, .model = 0x02}, "AMD EPYC", "AMD EPYC 9005 (Zen 5)"},
    {{.vendor = "AuthenticAMD", .family = 0x1a, .model = 0x11}, "AMD EPYC Processor", "AMD EPYC 9005 (Zen 5c)"},
    {{.vendor = "AuthenticAMD", .family = 0x19, .model = 0x11},
     "AMD EPYC 9654 96-Core Processor",
     "AMD EPYC 9654 96-Core Processor (Zen 4)"},
    {{.vendor = "AuthenticAMD", .family = 0x19, .model = 0x21},
     "AMD Ryzen 9 5950X 16-Core Processor",
     "AMD Ryzen 9 5950X 16-Core Processor (Zen 3)"},
    {{.vendor = "AuthenticAMD", .family = 0x17, .model = 0x01},
     "AMD Ryzen Threadripper",
     "AMD Ryzen Threadripper (Zen)"},
    {{.vendor = "GenuineIntel", .family = 6, .model = 0x8f},
     "Intel(R) Xeon(R) Processor",
     "Intel Xeon Scalable, 4th generation (Sapphire Rapids)"},
    {{.vendor = "GenuineIntel", .family = 6, .model = 0x55, .stepping = 4},
     "Intel(R) Xeon(R) Processor",
     "Intel Xeon Scalable, 1st generation (Skylake)"},
    {{.vendor = "GenuineIntel", .family = 6, .model = 0x55, .stepping = 7},
     "Intel(R) Xeon(R) Processor",
     "Intel Xeon Scalable, 2nd generation (Cascade Lake)"},
    {{.vendor = "GenuineIntel", .family = 6, .model = 0x4f},
     "Intel(R) Xeon(R) CPU @ 2.20GHz",
     "Intel Xeon E5/E7 v4 (Broadwell)"},
    {{.vendor = "GenuineIntel", .family = 6, .model = 0x4f},
     "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz",
     "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz (Broadwell)"},
    {{.implementer = 0x41, .part = 0xd4f}, "CPU implementer 0x41 part 0xd4f", "Arm Neoverse V2"},
    {{.implementer = 0x41, .part = 0xd4f}, "NVIDIA Grace", "NVIDIA Grace (Arm Neoverse V2)"},
    {{.implementer = 0x41, .part = 0xd0c}, "", "Arm Neoverse N1"},
    /* nothing is guessed */
    {{.vendor = "AuthenticAMD", .family = 0x1b, .model = 0x02}, "AMD EPYC", ""},
    {{.vendor = "GenuineIntel", .family = 0x1a, .model = 0x02}, "Intel", ""},
    {{.vendor = "GenuineIntel", .family = 6, .model = 0x55, .stepping = 8}, "Intel(R) Xeon(R) Processor", ""},
    {{.implementer = 0x41, .part = 0xfff}, "CPU implementer 0x41 part 0xfff", ""},
    {{.vendor = ""}, "", ""},
    {{.vendor = "AuthenticAMD", .family = 0x1a, .model = 0x02}, "", ""},
};

UNIT_TEST(test_names)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[96];
        as_cpu_generation(&cases[i].id, cases[i].reported, out, sizeof out);
        assert_string_equal(out, cases[i].wanted);
    }
}

UNIT_TEST(test_long_names_are_cut)
{
    const struct as_cpu_identity id = {.vendor = "AuthenticAMD", .family = 0x19, .model = 0x11};
    char out[12];
    as_cpu_generation(&id, "AMD EPYC 9654 96-Core Processor", out, sizeof out);
    assert_string_equal(out, "AMD EPYC 96");
}

UNIT_TEST(test_hypervisors)
{
    assert_string_equal(as_cpu_hypervisor(&(struct as_cpu_identity){.hypervisor = "KVMKVMKVM"}), "KVM");
    assert_string_equal(as_cpu_hypervisor(&(struct as_cpu_identity){.hypervisor = "<script>"}), "");
    assert_string_equal(as_cpu_hypervisor(&(struct as_cpu_identity){.hypervisor = ""}), "");
}

/* Whatever this machine is, its identity is terminated text. */
UNIT_TEST(test_this_machine)
{
    struct as_cpu_identity id;
    as_cpu_identify("0x41", "0xd4f", &id);
    assert_true(strlen(id.vendor) < sizeof id.vendor && strlen(id.hypervisor) < sizeof id.hypervisor);
    assert_true(id.vendor[0] ? id.family > 0 : id.part == 0xd4f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_long_names_are_cut),
                                       cmocka_unit_test(test_hypervisors), cmocka_unit_test(test_this_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
