/* Attention on this machine's OpenCL device: correct results pass, wrong ones are detected. */
#include "probes/apps/attention/attention.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct as_opened opencl;
static bool has_opencl;

static int open_device(void **state)
{
    struct as_error err = {0};
    (void)state;
    has_opencl = as_device_open("opencl", &opencl, &err) == AS_OK;
    if (!has_opencl)
        print_message("skipped: %s\n", err.text);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    if (has_opencl)
        as_device_close(&opencl);
    return 0;
}

static void prepare(struct as_attention *a, enum as_attention_path path)
{
    const struct as_attention_desc d = {.path = path, .length = 256, .heads = 2, .seed = 5};
    struct as_error err = {0};
    if (as_attention_applies(&opencl.device.info, &d, &err) != AS_APPLIES ||
        as_attention_prepare(a, &opencl.device, &d, &err))
        fail_msg("%s: %s", as_attention_path_words[path], err.text);
}

UNIT_TEST(test_paths)
{
    if (!has_opencl)
        skip();
    for (int path = AS_ATTENTION_DECOMPOSED; path <= AS_ATTENTION_SCALAR; path++) {
        struct as_attention a;
        char why[200] = "";
        prepare(&a, (enum as_attention_path)path);
        if (!as_attention_check(&a, why, sizeof why))
            fail_msg("%s: %s", as_attention_path_words[path], why);
        as_attention_finish(&a);
    }
}

/* Softmax over too few numbers, and a skipped block of keys. */
UNIT_TEST(test_wrong)
{
    struct as_attention a;
    char why[200] = "";
    if (!has_opencl)
        skip();
    prepare(&a, AS_ATTENTION_DECOMPOSED);
    a.args[0][1].u.u32 -= 16;
    assert_false(as_attention_check(&a, why, sizeof why));
    assert_non_null(strstr(why, ", not "));
    as_attention_finish(&a);
    prepare(&a, AS_ATTENTION_SCALAR);
    a.args[0][4].u.u32 -= 32;
    assert_false(as_attention_check(&a, why, sizeof why));
    as_attention_finish(&a);
}

UNIT_TEST(test_what_applies)
{
    struct as_device_info info = {.capabilities = AS_CAP_SOURCE, .arch = "sm_80", .dialect = "cuda"};
    struct as_attention_desc d = {.path = AS_ATTENTION_FLASH, .length = 8192, .heads = 16};
    struct as_error err = {0};
    assert_int_equal(as_attention_applies(&info, &d, &err), AS_APPLIES);
    d.length = 8200;
    assert_int_equal(as_attention_applies(&info, &d, &err), AS_INAPPLICABLE);
    d.length = 8192;
    snprintf(info.arch, sizeof info.arch, "sm_70");
    assert_int_equal(as_attention_applies(&info, &d, &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "path flash needs CUDA from sm_80 on, an AMD GPU with f16 MFMA or WMMA, or an Apple "
                                  "GPU with simdgroup_matrix");
    d.path = AS_ATTENTION_FLASH_WGMMA;
    assert_int_equal(as_attention_applies(&info, &d, &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "path flash_wgmma needs sm_90a, this is sm_70");
    snprintf(info.arch, sizeof info.arch, "sm_90");
    assert_int_equal(as_attention_applies(&info, &d, &err), AS_APPLIES);
    d.path = AS_ATTENTION_SPLIT_WGMMA;
    d.length = 384; /* three blocks of 128 keys */
    assert_int_equal(as_attention_applies(&info, &d, &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "the keys cannot be split into two ranges of whole blocks");
    d.path = AS_ATTENTION_SPLIT;
    assert_int_equal(as_attention_applies(&info, &d, &err), AS_APPLIES);
    d.path = AS_ATTENTION_SCALAR;
    d.length = 8192;
    assert_int_equal(as_attention_applies(&info, &d, &err), AS_APPLIES);
    info.is_host_cpu = true;
    assert_int_equal(as_attention_applies(&info, &d, &err), AS_INAPPLICABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_what_applies),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
