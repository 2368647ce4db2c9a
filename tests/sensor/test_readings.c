/* Readings as text and numbers. */
#include "model/fields.h"
#include "sensor/sensor.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

UNIT_TEST(test_throttle_words)
{
    int back;
    for (int bits = -1; bits < 2 * (int)AS_THROTTLE_OTHER; bits++) {
        struct as_buf b = AS_BUF_INIT;
        as_throttle_text(bits, &b);
        assert_int_equal(as_throttle_parse(as_buf_get(&b), &back, NULL), AS_OK);
        assert_int_equal(back, bits);
        as_buf_finish(&b);
    }
    static const char *const bad[] = {"thermal,", "thermal,power cap", "Thermal", "none, thermal", "thermal, ", ", ",
                                      "hot",      "thermal power cap"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(as_throttle_parse(bad[i], &back, NULL), AS_FORMAT);
}

UNIT_TEST(test_text)
{
    struct as_buf b = AS_BUF_INIT;
    struct as_readings r;
    as_readings_clear(&r);
    as_readings_text(&r, &b);
    assert_string_equal(as_buf_get(&b), "");
    strcpy(r.sensor, "nvml");
    as_readings_text(&r, &b);
    assert_string_equal(as_buf_get(&b), ""); /* it was there and knew nothing */
    r.power_w = 312.4;
    r.temperature_before = 54;
    r.temperature_after = 61;
    r.throttle = AS_THROTTLE_POWER_CAP | AS_THROTTLE_IDLE;
    r.pcie_generation = 5;
    r.pcie_width = 16;
    r.ecc_corrected = 2;
    r.users = 0;
    as_readings_text(&r, &b);
    assert_string_equal(as_buf_get(&b),
                        "312 W, 54 to 61 C, throttled by power cap, PCIe 5.0 x16, 2 ECC errors corrected");
    as_buf_finish(&b);
}

UNIT_TEST(test_every_number_has_a_name)
{
    struct as_readings r;
    as_readings_clear(&r);
    size_t numbers = 0;
    for (size_t i = 0; i < as_readings_fields.n; i++) {
        const struct as_field *f = &as_readings_fields.v[i];
        if (f->kind != AS_FIELD_REAL)
            continue;
        assert_true(isnan(*(const double *)as_field_at(f, &r)));
        numbers++;
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(f->name, as_readings_fields.v[k].name);
            assert_int_not_equal(f->offset, as_readings_fields.v[k].offset);
        }
    }
    assert_int_equal(numbers * sizeof(double),
                     sizeof r - offsetof(struct as_readings, power_w)); /* all members are covered */
}

UNIT_TEST(test_who_serves)
{
    static const struct {
        struct as_device_info info;
        const char *sensor;
    } devices[] = {
        {{.backend = "cuda", .vendor = ""}, "nvml"},
        {{.backend = "opencl", .vendor = "NVIDIA Corporation"}, "nvml"},
        {{.backend = "cpu", .vendor = "GenuineIntel", .capabilities = AS_CAP_HOST_KERNELS}, "host"},
        {{.backend = "null", .capabilities = AS_CAP_HOST_KERNELS | AS_CAP_SIMULATED}, "script"},
        {{.backend = "opencl", .vendor = "AuthenticAMD", .is_host_memory = true}, NULL},
    };
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        const struct as_sensor *found = as_sensor_of(&devices[i].info);
        if (!devices[i].sensor)
            assert_null(found);
        else
            assert_string_equal(found->name, devices[i].sensor);
    }
    struct as_sensing s;
    as_sensing_open(&devices[4].info, &s);
    assert_null(s.sensor);
    assert_true(strlen(s.why_not) > 0);
    as_sensing_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_throttle_words),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_every_number_has_a_name),
        cmocka_unit_test(test_who_serves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
