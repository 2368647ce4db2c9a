/* Device information: look-ups, JSON both ways, hostile JSON; what the contract checks. */
#include "check.h"

#include <math.h>
#include <stdio.h>

static const struct as_device_info full = {
    .id = "opencl:3",
    .backend = "opencl",
    .name = "<b>\"GPU\"</b> \x1b[31m & \xc3\xa9",
    .vendor = "Vendor",
    .driver = "1.2\\3",
    .uuid = "u-1",
    .bus_id = "0000:01:00.0",
    .capabilities = AS_CAP_SOURCE | AS_CAP_SIMULATED,
    .compute_units = 132,
    .threads = 1024,
    .warp = 32,
    .clock_max_hz = 1.98e9 + 1.0 / 3,
    .memory_bytes = 1ull << 40,
    .memory_free = (1ull << 53) + 1,
    .max_alloc = INT64_MAX,
    .page_size = 65536,
    .peak_bandwidth = 3.35e12,
    .is_host_memory = true,
    .numa_nodes = 8,
    .memory_node = 1,
    .host_cache = 384u << 20,
    .peers_n = 2,
    .peers = {{.device = 0, .access = true, .atomics = true, .rank = 3}, {.device = 7, .why_not = "<denied>"}},
    .caches_n = 4,
    .caches = {{.level = 1, .kind = 'd', .size = 32768, .line = 64, .ways = 8, .shared = 1},
               {.level = 1, .kind = 'i', .size = 65536, .line = 64, .ways = 4, .shared = 1},
               {.level = 3, .kind = 'u', .size = 1u << 30, .line = 128, .ways = (unsigned)-1, .shared = 96},
               {4, 'u', 2u << 30, 0, 0, 0, true, "<Infinity>", "kfd"}},
    .allocators_n = 2,
    .allocators = {{"malloc", "", true, true, false, "", 1u << 30, AS_ROLE_PAGEABLE, ""},
                   {"clSVMAlloc fine", "the driver <says> no", true, false, true, "no", 0, AS_ROLE_UNKNOWN, "it may"}},
};

static void variables_without_effect(void **state)
{
    struct as_device_info info = {.ignored = "HSA_XNACK"};
    (void)state;
    assert_true(as_info_ignores(&info, "HSA_XNACK=1"));
    assert_true(as_info_ignores(&info, "HSA_ENABLE_SDMA=0+HSA_XNACK=0"));
    assert_false(as_info_ignores(&info, "HSA_ENABLE_SDMA=0"));
    assert_false(as_info_ignores(&info, "A_HSA_XNACK=1"));
    assert_false(as_info_ignores(&info, "HSA_XNACK_2=1"));
    assert_false(as_info_ignores(&info, ""));
    info.ignored[0] = 0;
    assert_false(as_info_ignores(&info, "HSA_XNACK=1"));
}

static void round_trip(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_buf a = AS_BUF_INIT, b = AS_BUF_INIT;
    struct as_device_info back;
    memset(&back, 0xee, sizeof back);
    as_info_to_json(&full, &a);
    assert_null(strchr(as_buf_get(&a), '<'));
    assert_null(strchr(as_buf_get(&a), 0x1b));
    check_ok(as_info_from_json(as_buf_get(&a), &back, &err), &err);
    as_info_to_json(&back, &b);
    assert_string_equal(as_buf_get(&a), as_buf_get(&b));
    assert_string_equal(back.name, full.name);
    assert_int_equal(back.memory_free, full.memory_free);
    assert_int_equal(back.caches[2].ways, (unsigned)-1);
    assert_true(back.caches[3].memory_side && !back.caches[2].memory_side);
    assert_string_equal(back.caches[3].name, "<Infinity>");
    assert_string_equal(back.caches[3].source, "kfd");
    assert_int_equal(back.host_cache, 384u << 20);
    assert_int_equal(back.capabilities, full.capabilities);
    assert_int_equal(back.peers_n, 2);
    assert_true(back.peers[0].access && back.peers[0].atomics && !back.peers[0].arrays && back.peers[0].rank == 3);
    assert_string_equal(as_info_peer(&back, 7)->why_not, "<denied>");
    assert_true(back.clock_max_hz == full.clock_max_hz);
    assert_true(back.is_host_memory && !back.allocators[1].on_demand);
    assert_true(back.allocators[1].coherent && !back.allocators[0].coherent);
    assert_true(back.allocators[0].most == 1u << 30 && back.allocators[1].most == 0);
    assert_int_equal(back.allocators[0].role, AS_ROLE_PAGEABLE);
    assert_int_equal(back.allocators[1].role, AS_ROLE_UNKNOWN);
    as_buf_finish(&a);
    as_buf_finish(&b);
}

static enum as_status read_role(const char *role, enum as_role *out, struct as_error *err)
{
    char json[128];
    struct as_device_info info;
    snprintf(json, sizeof json, "{\"allocators\": [{\"name\": \"malloc\"%s}]}", role);
    enum as_status st = as_info_from_json(json, &info, err);
    *out = info.allocators[0].role;
    return st;
}

/* Descriptions without a role, or with one of a later build, are read without. */
static void roles(void **state)
{
    enum as_role role;
    struct as_error err = {0};
    (void)state;
    check_ok(read_role(", \"role\": \"pinned_wc\"", &role, &err), &err);
    assert_int_equal(role, AS_ROLE_PINNED_WC);
    check_ok(read_role("", &role, &err), &err);
    assert_int_equal(role, AS_ROLE_UNKNOWN);
    check_ok(read_role(", \"role\": \"of a later build\"", &role, &err), &err);
    assert_int_equal(role, AS_ROLE_UNKNOWN);
    check_fails(read_role(", \"role\": 3", &role, &err), AS_FORMAT, &err, "\"role\" of an allocator is no text");
    assert_int_equal(as_role_find(""), AS_ROLE_UNKNOWN);
    for (int i = AS_ROLE_UNKNOWN + 1; i < AS_ROLES_N; i++) {
        assert_int_equal(as_role_find(as_role_word((enum as_role)i)), i);
        assert_true(strlen(as_role_help((enum as_role)i)) > 10);
    }
    static const struct as_role_name table[] = {{AS_ROLE_DEVICE, "own"}, {AS_ROLE_UNKNOWN, NULL}};
    assert_int_equal(as_role_in(table, "own"), AS_ROLE_DEVICE);
    assert_int_equal(as_role_in(table, "other"), AS_ROLE_UNKNOWN);
    assert_int_equal(as_role_in(NULL, "own"), AS_ROLE_UNKNOWN);
}

static void numbers_that_json_does_not_have(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_buf a = AS_BUF_INIT;
    struct as_device_info odd = {.clock_max_hz = NAN, .peak_bandwidth = INFINITY, .memory_bytes = UINT64_MAX}, back;
    memcpy(odd.name, "\xff\xfe", 3);
    as_info_to_json(&odd, &a);
    check_ok(as_info_from_json(as_buf_get(&a), &back, &err), &err);
    assert_true(back.clock_max_hz == 0 && back.peak_bandwidth == 0);
    assert_int_equal(back.memory_bytes, INT64_MAX);
    assert_string_equal(back.name, "\xef\xbf\xbd\xef\xbf\xbd");
    as_buf_finish(&a);
}

static void unknown_ignored_missing_zero(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_device_info back;
    memset(&back, 0xee, sizeof back);
    check_ok(as_info_from_json("{\"units\":3,\"later\":{\"x\":[1]},\"capabilities\":[\"clock\",\"telepathy\"]}", &back,
                               &err),
             &err);
    assert_int_equal(back.compute_units, 3);
    assert_int_equal(back.threads, 0);
    assert_int_equal(back.capabilities, AS_CAP_CLOCK);
    assert_string_equal(back.name, "");
}

static void hostile_json_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *part;
    } cases[] = {
        {"", "line"},
        {"[]", "object"},
        {"{\"units\":", "line"},
        {"{\"units\":-1}", "\"units\""},
        {"{\"units\":4294967296}", "\"units\""},
        {"{\"units\":1.5}", "\"units\""},
        {"{\"units\":\"4\"}", "\"units\""},
        {"{\"memory_bytes\":-5}", "\"memory_bytes\""},
        {"{\"memory_bytes\":99999999999999999999}", "line"},
        {"{\"clock_max_hz\":1e999}", "line"},
        {"{\"clock_max_hz\":-1}", "\"clock_max_hz\""},
        {"{\"name\":7}", "\"name\""},
        {"{\"name\":\"a\\u0000b\"}", "line"},
        {"{\"is_host_memory\":1}", "\"is_host_memory\""},
        {"{\"capabilities\":\"clock\"}", "\"capabilities\""},
        {"{\"capabilities\":[1]}", "\"capabilities\""},
        {"{\"caches\":{}}", "\"caches\""},
        {"{\"caches\":[{\"kind\":\"x\"}]}", "\"kind\""},
        {"{\"caches\":[{\"kind\":\"dd\"}]}", "\"kind\""},
        {"{\"caches\":[3]}", "object"},
        {"{\"caches\":[{},{},{},{},{},{},{},{},{}]}", "\"caches\""},
        {"{\"allocators\":[{}]}", "\"name\""},
        {"{\"allocators\":[{\"name\":\"m\",\"on_demand\":0}]}", "\"on_demand\""},
        {"{\"units\":1,\"units\":2}", "line"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct as_error err = {0};
        struct as_device_info back = full;
        check_fails(as_info_from_json(cases[i].json, &back, &err), AS_FORMAT, &err, cases[i].part);
        assert_int_equal(back.caches_n, 0);
    }
    char lengthy[2000] = "{\"name\":\"";
    memset(lengthy + 9, 'n', 1900);
    memcpy(lengthy + 1909, "\"}", 3);
    struct as_error err = {0};
    struct as_device_info back;
    check_ok(as_info_from_json(lengthy, &back, &err), &err);
    assert_int_equal(strlen(back.name), sizeof back.name - 1);
}

static void look_ups(void **state)
{
    (void)state;
    const struct as_device_info none = {0};
    assert_int_equal(as_info_last_cache(&full), 1u << 30);
    assert_int_equal(as_info_cache(&full, 1), 32768);
    assert_int_equal(as_info_cache(&full, 2), 0);
    assert_int_equal(as_info_last_cache(&none), 0);
    assert_ptr_equal(as_info_allocator(&full, "malloc"), &full.allocators[0]);
    assert_null(as_info_allocator(&full, "mallo"));
    struct as_device_info only_code = {
        .caches_n = 1, .caches = {{.level = 1, .kind = 'i', .size = 4096, .line = 64, .ways = 4, .shared = 1}}};
    assert_int_equal(as_info_last_cache(&only_code), 0);
    assert_int_equal(as_info_cache(&only_code, 1), 0);
}

static void a_capability_of_an_older_store_is_read(void **state)
{
    (void)state;
    struct as_device_info info = {0};
    assert_int_equal(as_info_from_json("{\"capabilities\":[\"scripted\",\"pin\",\"unheard of\"]}", &info, NULL), AS_OK);
    assert_int_equal(info.capabilities, AS_CAP_SIMULATED | AS_CAP_PIN);
}

static void capability_words(void **state)
{
    (void)state;
    assert_string_equal(as_capability_word(AS_CAP_SVM_ATOMICS), "svm atomics");
    assert_string_equal(as_capability_word(AS_CAP_SIMULATED), "simulated");
    assert_string_equal(as_capability_word(AS_CAP_PEERS), "peers");
    assert_null(as_capability_word((unsigned)AS_CAP_TEAM << 1));
    assert_null(as_capability_word(0));
    assert_null(as_capability_word(3));
    struct as_buf b = AS_BUF_INIT;
    as_capability_phrases(AS_CAP_SOURCE | AS_CAP_COPY, ", no ", &b);
    assert_string_equal(as_buf_get(&b), "run-time compiler for kernels, no copy engines");
    for (unsigned bit = 1; as_capability_word(bit); bit <<= 1) {
        as_buf_clear(&b);
        as_capability_phrases(bit, ", ", &b);
        assert_true(b.len > strlen(as_capability_word(bit)));
    }
    as_buf_finish(&b);
}

static void seconds_of_a_timing(void **state)
{
    (void)state;
    assert_true(as_timing_seconds(&(struct as_timing){.host_s = 2, .device_s = NAN}) == 2);
    assert_true(as_timing_seconds(&(struct as_timing){.host_s = 2, .device_s = 1}) == 1);
}

/* More names than there is room for are counted together. */
static void names_of_instructions(void **state)
{
    struct as_instructions list = {.n = 0};
    (void)state;
    for (int i = 0; i < AS_INSTRUCTIONS_MAX + 40; i++) {
        char name[8];
        snprintf(name, sizeof name, "I%d", i);
        as_instructions_add(&list, name);
        as_instructions_add(&list, "I0");
    }
    assert_int_equal(list.n, AS_INSTRUCTIONS_MAX);
    assert_int_equal(as_instructions_of(&list, "I0"), AS_INSTRUCTIONS_MAX + 41);
    assert_int_equal(as_instructions_of(&list, "I1"), 1);
    assert_int_equal(as_instructions_of(&list, "others"), 41);
    assert_int_equal(as_instructions_of(&list, "I200"), 0);
}

static struct as_code_identity code_of(const uint64_t (*programs)[2], size_t n)
{
    struct as_device dev = {.ctx = NULL};
    for (size_t i = 0; i < n; i++)
        as_device_note_code(&dev, programs[i][0], programs[i][1]);
    return dev.code;
}

static void code_is_told_apart(void **state)
{
    const uint64_t all[][2] = {{1, 5}, {2, 6}}, swapped[][2] = {{2, 6}, {1, 5}}, other[][2] = {{1, 5}, {2, 7}},
                   first_unknown[][2] = {{1, 0}, {2, 6}}, last_unknown[][2] = {{1, 5}, {2, 0}};
    struct as_code_identity a = code_of(all, 2), b = code_of(swapped, 2), c = code_of(other, 2);
    (void)state;
    assert_int_equal(a.programs, 2);
    assert_true(a.source && a.binary && a.source != b.source && a.binary != b.binary);
    assert_true(a.source == c.source && a.binary != c.binary);
    assert_true(code_of(first_unknown, 2).binary == 0 && code_of(last_unknown, 2).binary == 0);
    assert_true(code_of(first_unknown, 2).source == a.source);
    assert_true(code_of(all, 0).source == 0 && code_of(all, 0).binary == 0);
}

/* Sizes that a product has, those that are none, and such whose bytes are more than 64 bits hold. */
static void products_fit_their_memory(void **state)
{
    static const uint64_t much = UINT64_C(1) << 34;
    static const struct {
        uint64_t m, n, k, a, b, d; /* bytes */
        const char *part;          /* NULL: it fits */
    } cases[] = {
        {3, 5, 7, 3 * 7 * 8, 7 * 5 * 8, 3 * 5 * 4, NULL},
        {3, 5, 7, 3 * 7 * 8 - 1, 7 * 5 * 8, 3 * 5 * 4, "168 bytes at 0 are outside of memory of 167"},
        {3, 5, 7, 3 * 7 * 8, 7 * 5 * 8 - 1, 3 * 5 * 4, "280 bytes at 0 are outside of memory of 279"},
        {3, 5, 7, 3 * 7 * 8, 7 * 5 * 8, 3 * 5 * 4 - 1, "60 bytes at 0 are outside of memory of 59"},
        {0, 5, 7, much, much, much, "a GEMM of 0 x 5 x 7: sizes are from 1 to 2147483647"},
        {3, 0, 7, much, much, much, "sizes are from 1"},
        {3, 5, 0, much, much, much, "sizes are from 1"},
        {3, UINT64_C(1) << 31, 7, much, much, much, "sizes are from 1"},
        {1610612736, 1, 1431655766, much, much, much, "are outside of memory of"}, /* of a are 2^64 and 8 GiB */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_memory a = {.bytes = cases[i].a}, b = {.bytes = cases[i].b}, d = {.bytes = cases[i].d};
        const struct as_vendor_gemm_desc desc = {
            .m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .a = &a, .b = &b, .d = &d};
        struct as_error err = {0};
        if (cases[i].part)
            check_fails(as_vendor_gemm_check(&desc, 8, 4, &err), AS_USAGE, &err, cases[i].part);
        else
            check_ok(as_vendor_gemm_check(&desc, 8, 4, &err), &err);
    }
}

static void largest_cache(void **state)
{
    (void)state;
    struct as_device_info i = {.threads = 24, .caches_n = 2, .capabilities = AS_CAP_HOST_KERNELS};
    i.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 1 << 20, .shared = 1};
    i.caches[1] = (struct as_cache){.level = 3, .kind = 'u', .size = 32 << 20, .shared = 8};
    assert_int_equal(as_info_largest_cache(&i, NULL, 1), 32 << 20);
    assert_int_equal(as_info_largest_cache(&i, NULL, 2), 64 << 20);
    assert_int_equal(as_info_largest_cache(&i, NULL, 24), 96 << 20);
    assert_int_equal(as_info_largest_cache(&i, NULL, NAN), 32 << 20);
    i.capabilities = 0; /* a GPU whose driver tells of a small cache */
    assert_int_equal(as_info_largest_cache(&i, NULL, 1), 64 << 20);
    i.is_host_memory = true;
    assert_int_equal(as_info_largest_cache(&i, NULL, 1), 32 << 20);
}

/* Either side of the way counts: a cache of the memory's, of the host's CPUs, or of the device. */
static void largest_on_either_side(void **state)
{
    /* An APU whose L2 of 4 MiB has a cache of 256 MiB behind it. */
    struct as_device_info i = {
        .is_host_memory = true,
        .host_cache = 96 << 20,
        .caches_n = 2,
        .caches = {{.level = 2, .kind = 'u', .size = 4 << 20},
                   {.level = 3, .kind = 'u', .size = 256 << 20, .memory_side = true, .name = "Infinity Cache"}}};
    (void)state;
    assert_int_equal(as_info_last_cache(&i), 4 << 20);
    assert_int_equal(as_info_cache(&i, 3), 256 << 20);
    assert_ptr_equal(as_info_memory_side(&i), &i.caches[1]);
    assert_int_equal(as_info_largest_cache(&i, NULL, 1), 256 << 20);
    assert_int_equal(as_info_memory_least(&i, NULL, 1), 1 << 30);
    assert_true(as_info_memory_set(&i) >= 1 << 30);
    assert_false(as_info_is_memory(&i, NULL, 1, 512 << 20));
    assert_true(as_info_is_memory(&i, NULL, 1, 1 << 30));
    i.host_cache = UINT64_C(384) << 20; /* four packages */
    assert_int_equal(as_info_largest_cache(&i, NULL, 1), 384 << 20);
    assert_string_equal(as_info_largest_cache_name(&i, NULL, 1), "last-level cache of the CPU");
    i.is_host_memory = false; /* a GPU: only memory of the host goes through the host's caches */
    i.allocators_n = 2;
    i.allocators[0] = (struct as_allocator){.name = "own", .role = AS_ROLE_DEVICE};
    i.allocators[1] = (struct as_allocator){.name = "host", .role = AS_ROLE_PINNED};
    assert_int_equal(as_info_largest_cache(&i, "own", 1), 256 << 20);
    assert_int_equal(as_info_largest_cache(&i, "host", 1), 384 << 20);
    assert_true(as_info_memory_set(&i) >= as_info_memory_least(&i, "host", 1));
    i.caches[1].size = INT64_MAX;
    assert_int_equal(as_info_memory_least(&i, NULL, 1), UINT64_MAX);
    static const uint64_t sizes[] = {INT64_MAX, UINT64_MAX, UINT64_C(1) << 63};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) { /* as firmware may say, and stores of others */
        i.caches[1].size = i.host_cache = sizes[k];
        assert_in_range(as_info_memory_set(&i), UINT64_C(1) << 61, UINT64_C(1) << 62);
    }
    as_info_drop_caches(&i);
    assert_int_equal(i.caches_n, 1);
    assert_int_equal(i.host_cache, 0);
    assert_int_equal(as_info_last_cache(&i), 4 << 20);
    assert_null(as_info_memory_side(&i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_cache),
        cmocka_unit_test(largest_on_either_side),
        cmocka_unit_test(variables_without_effect),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(roles),
        cmocka_unit_test(numbers_that_json_does_not_have),
        cmocka_unit_test(unknown_ignored_missing_zero),
        cmocka_unit_test(hostile_json_is_refused),
        cmocka_unit_test(look_ups),
        cmocka_unit_test(a_capability_of_an_older_store_is_read),
        cmocka_unit_test(capability_words),
        cmocka_unit_test(seconds_of_a_timing),
        cmocka_unit_test(names_of_instructions),
        cmocka_unit_test(code_is_told_apart),
        cmocka_unit_test(products_fit_their_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
