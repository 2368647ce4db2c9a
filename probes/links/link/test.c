/* Probe link on the scripted device: which pairs apply, which bytes count, and faults are detected. */
#include "lib/transfer/peers.h"
#include "model/metrics.h"
#include "tests/probes/scripted.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_link;

#define INFO(n)                                                                                                        \
    "\"info\":{\"siblings\":" #n ",\"capabilities\":[\"copy\"],\"allocators\":[{\"name\":\"own\",\"host_access\":"     \
    "false},{\"name\":\"pinned\",\"host_access\":true}]}"
#define LEVELS "\"levels\":[{\"size\":0,\"gbs\":20,\"ns\":500}],"

static enum as_applies link_applies(const struct scripted *s, const char *peer, const char *rest)
{
    char axes[160];
    struct as_error err = {0};
    snprintf(axes, sizeof axes, "peer=%s %s size=65536", peer, rest);
    return scripted_applies(s, &as_probe_link, axes, &err);
}

UNIT_TEST(test_which_pairs)
{
    static const char to_own[] = "node=0 allocator=own direction=to how=engine";
    struct scripted s;
    scripted_open(&s, "{" INFO(1) "}");
    assert_int_equal(link_applies(&s, "0", to_own), AS_PRUNED);
    assert_int_equal(link_applies(&s, "1", to_own), AS_INAPPLICABLE);
    assert_int_equal(link_applies(&s, "1", "node=0 allocator=own direction=to how=kernel"), AS_PRUNED);
    assert_int_equal(link_applies(&s, "2", to_own), AS_PRUNED);
    assert_int_equal(link_applies(&s, "host", to_own), AS_PRUNED); /* its own memory is not host memory */
    assert_int_equal(link_applies(&s, "host", "node=0 allocator=pinned direction=to how=engine"), AS_APPLIES);
    assert_int_equal(link_applies(&s, "host", "node=63 allocator=pinned direction=to how=engine"), AS_PRUNED);
    assert_int_equal(link_applies(&s, "every", "node=0 allocator=own direction=to how=kernel"), AS_PRUNED);
    s.dev->info.siblings = 4;
    assert_int_equal(link_applies(&s, "3", to_own), AS_APPLIES);
    assert_int_equal(link_applies(&s, "4", to_own), AS_PRUNED);
    assert_int_equal(link_applies(&s, "3", "node=1 allocator=own direction=to how=engine"), AS_PRUNED);
    assert_int_equal(link_applies(&s, "every", "node=0 allocator=own direction=to how=kernel"), AS_APPLIES);
    assert_int_equal(link_applies(&s, "every", "node=0 allocator=own direction=both how=kernel"), AS_PRUNED);
    assert_int_equal(link_applies(&s, "every", to_own), AS_PRUNED);
    struct as_peer *peer_3 = s.dev->info.peers;
    s.dev->info.peers_n = 1;
    *peer_3 = (struct as_peer){.device = 3, .access = true};
    assert_int_equal(link_applies(&s, "3", to_own), AS_APPLIES);
    peer_3->access = false; /* the driver says so: no worker has to find out */
    assert_int_equal(link_applies(&s, "3", to_own), AS_INAPPLICABLE);
    assert_int_equal(link_applies(&s, "3", "node=0 allocator=own direction=from how=kernel"), AS_PRUNED);
    assert_int_equal(link_applies(&s, "2", to_own), AS_APPLIES);
    s.dev->info.peers_n = 0;
    s.dev->info.siblings = 16;
    unsigned pairs = 0;
    for (unsigned i = 0; i < 16; i++) {
        char peer[8];
        snprintf(peer, sizeof peer, "%u", i);
        pairs += link_applies(&s, peer, to_own) == AS_APPLIES;
    }
    assert_int_equal(pairs, 4); /* 1, 2, 4 and 8 devices */
    s.dev->info.capabilities &= ~(unsigned)AS_CAP_PEERS;
    assert_int_equal(link_applies(&s, "2", to_own), AS_PRUNED);
    assert_int_equal(link_applies(&s, "every", "node=0 allocator=own direction=to how=kernel"), AS_PRUNED);
    assert_int_equal(link_applies(&s, "host", "node=0 allocator=pinned direction=to how=engine"), AS_APPLIES);
    s.dev->info.is_host_cpu = true;
    assert_int_equal(link_applies(&s, "host", "node=0 allocator=pinned direction=to how=engine"), AS_PRUNED);
    scripted_close(&s);
}

UNIT_TEST(test_which_host_links_together)
{
    static const char to_pinned[] = "node=0 allocator=pinned direction=both how=engine";
    struct scripted s;
    scripted_open(&s, "{" INFO(1) "}");
    assert_int_equal(link_applies(&s, "every_host", to_pinned), AS_PRUNED);
    s.dev->info.siblings = 4;
    assert_int_equal(link_applies(&s, "every_host", to_pinned), AS_APPLIES);
    assert_int_equal(link_applies(&s, "every_host", "node=0 allocator=own direction=to how=engine"), AS_PRUNED);
    assert_int_equal(link_applies(&s, "every_host", "node=1 allocator=pinned direction=to how=engine"), AS_PRUNED);
    assert_int_equal(link_applies(&s, "every_host", "node=0 allocator=pinned direction=to how=kernel"), AS_PRUNED);
    snprintf(s.dev->info.id, sizeof s.dev->info.id, "null:1"); /* the first device measures it for all */
    assert_int_equal(link_applies(&s, "every_host", to_pinned), AS_PRUNED);
    snprintf(s.dev->info.id, sizeof s.dev->info.id, "null");
    s.dev->info.capabilities &= ~(unsigned)AS_CAP_PEERS; /* no device needs another's memory */
    assert_int_equal(link_applies(&s, "every_host", to_pinned), AS_APPLIES);
    s.dev->info.siblings = 33;
    assert_int_equal(link_applies(&s, "every_host", to_pinned), AS_PRUNED);
    s.dev->info.siblings = 4;
    s.dev->info.capabilities &= ~(unsigned)AS_CAP_TEAM;
    assert_int_equal(link_applies(&s, "every_host", to_pinned), AS_PRUNED);
    scripted_close(&s);
}

UNIT_TEST(test_owners_and_lists)
{
    struct as_device_info info = {.id = "null:2", .backend = "null", .siblings = 5};
    char owners[8][32];
    struct as_axes axes;
    struct as_cpus cpus;
    assert_int_equal(as_peer_index("null:2"), 2);
    assert_int_equal(as_peer_index("cpu"), 0);
    toy_axes(&axes, "peer=every");
    assert_int_equal(as_peer_owners(&info, &axes, owners, 8), 4);
    assert_string_equal(owners[0], "null:0");
    assert_string_equal(owners[2], "null:3");
    assert_int_equal(as_peer_owners(&info, &axes, owners, 2), 2);
    toy_axes(&axes, "peer=4");
    assert_int_equal(as_peer_owners(&info, &axes, owners, 8), 1);
    assert_string_equal(owners[0], "null:4");
    toy_axes(&axes, "peer=host");
    assert_int_equal(as_peer_owners(&info, &axes, owners, 8), 0);
    assert_true(as_cpu_list("0-2,7", &cpus));
    assert_int_equal(as_cpus_count(&cpus), 4);
    assert_true(as_cpus_has(&cpus, 7) && !as_cpus_has(&cpus, 3));
    static const char *const bad[] = {"", "a", "3-1", "1-", "0-9999999", "1,,2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(as_cpu_list(bad[i], &cpus));
    as_host_nodes("", &cpus);
    assert_true(as_cpus_count(&cpus) >= 1);
}

static bool is_right(const char *script, const char *axes, double *value)
{
    struct scripted s;
    char why[160] = "";
    scripted_open(&s, script);
    bool right = scripted_check(&s, &as_probe_link, axes, 3, value, why, sizeof why);
    scripted_close(&s);
    if (!right)
        print_message("%s: %s\n", axes, why);
    return right;
}

UNIT_TEST(test_links)
{
    static const char *const cells[] = {"peer=1 node=0 allocator=own direction=to how=engine",
                                        "peer=1 node=0 allocator=own direction=from how=kernel",
                                        "peer=1 node=0 allocator=own direction=both how=engine",
                                        "peer=host node=0 allocator=pinned direction=both how=kernel",
                                        "peer=every node=0 allocator=own direction=to how=kernel"};
    char axes[160];
    double value;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        snprintf(axes, sizeof axes, "%s size=1048576", cells[i]);
        assert_true(is_right("{" LEVELS INFO(4) "}", axes, &value));
        assert_true(fabs(value - 20) < 1e-6);
        assert_false(is_right("{\"faults\":[{\"do\":\"wrong\",\"kernel\":\"copy\"}]," INFO(4) "}", axes, &value));
    }
}

#define HOST_COPIES                                                                                                    \
    "\"copies\":[{\"from\":\"own\",\"to\":\"pinned\",\"gbs\":50,\"both_gbs\":80},"                                     \
    "{\"from\":\"pinned\",\"to\":\"own\",\"gbs\":50}],"

/* All host links at once, with what the devices share and how fast each is. */
UNIT_TEST(test_host_links_together)
{
    static const struct {
        const char *script, *direction;
        double value, slowest;
        const char *shares;
    } cases[] = {
        {"", "to", 200, 50, "\"4 x 50 GB/s\""},
        {"", "from", 200, 50, "\"4 x 50 GB/s\""},
        {"", "both", 320, 80, "\"4 x 80 GB/s\""},
        {"\"together_gbs\":120,", "to", 120, 30, "\"4 x 30 GB/s\""},
        {"\"together_gbs\":240,", "both", 240, 60, "\"4 x 60 GB/s\""},
        {"\"together_gbs\":500,", "to", 200, 50, "\"4 x 50 GB/s\""},
        {"\"factors\":[1,1,2],", "to", 100, 25, "\"50, 50, 25, 50 GB/s\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scripted s;
        struct toy_trial v;
        char script[600], axes[160], why[160];
        double value;
        snprintf(script, sizeof script, "{%s" HOST_COPIES INFO(4) "}", cases[i].script);
        snprintf(axes, sizeof axes, "peer=every_host node=0 allocator=pinned direction=%s how=engine size=1048576",
                 cases[i].direction);
        scripted_open(&s, script);
        scripted_trial(&s, &as_probe_link, axes, 3, &v, &value);
        assert_true(as_probe_link.check(v.state, why, sizeof why));
        assert_true(fabs(value - cases[i].value) < 1e-6);
        as_buf_char(&v.tc.detail, '}');
        const char *notes = as_buf_get(&v.tc.detail);
        assert_non_null(strstr(notes, cases[i].shares));
        assert_true(fabs(as_detail_number(notes, "slowest_device") - cases[i].slowest) < 1e-6);
        assert_true(as_detail_number(notes, "links") == 4);
        toy_finish(&as_probe_link, &v);
        scripted_close(&s);
    }
}

/* Both directions between two devices by kernel: each device writes the other's memory, and they share what the script
 * says. */
UNIT_TEST(test_both_push)
{
    static const struct {
        const char *script;
        double value, slowest;
        const char *shares;
    } cases[] = {
        {"", 40, 20, "\"2 x 20 GB/s\""},
        {"\"together_gbs\":30,", 30, 15, "\"2 x 15 GB/s\""},
        {"\"factors\":[1,2],", 20, 10, "\"20, 10 GB/s\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scripted s;
        struct toy_trial v;
        char script[600], why[160];
        double value;
        snprintf(script, sizeof script, "{%s" LEVELS INFO(4) "}", cases[i].script);
        scripted_open(&s, script);
        scripted_trial(&s, &as_probe_link, "peer=1 node=0 allocator=own direction=both how=kernel size=1048576", 3, &v,
                       &value);
        assert_true(as_probe_link.check(v.state, why, sizeof why));
        assert_int_equal(strncmp(why, "2 devices: ", 11), 0);
        assert_true(fabs(value - cases[i].value) < 1e-6);
        as_buf_char(&v.tc.detail, '}');
        const char *notes = as_buf_get(&v.tc.detail);
        assert_non_null(strstr(notes, cases[i].shares));
        assert_true(fabs(as_detail_number(notes, "slowest_device") - cases[i].slowest) < 1e-6);
        assert_true(as_detail_number(notes, "links") == 1 && as_detail_number(notes, "copying_devices") == 2);
        toy_finish(&as_probe_link, &v);
        scripted_close(&s);
    }
    double value;
    assert_false(is_right("{\"faults\":[{\"do\":\"wrong\",\"kernel\":\"copy\"}]," INFO(4) "}",
                          "peer=1 node=0 allocator=own direction=both how=kernel size=1048576", &value));
}

/* What one device copies wrongly is detected, and it is named. */
UNIT_TEST(test_wrong_copy_of_one_device)
{
    struct scripted s;
    char why[160] = "";
    double value;
    scripted_open(&s, "{\"faults\":[{\"do\":\"wrong\",\"kernel\":\"copy\",\"launch\":3}]," HOST_COPIES INFO(4) "}");
    assert_false(scripted_check(&s, &as_probe_link,
                                "peer=every_host node=0 allocator=pinned direction=to how=engine size=65536", 3, &value,
                                why, sizeof why));
    assert_int_equal(strncmp(why, "null: byte ", 11), 0); /* each device's third copy, of which the first is checked */
    scripted_close(&s);
}

UNIT_TEST(test_no_way_to_the_peer)
{
    struct scripted s;
    struct as_axes axes;
    struct as_error err = {0};
    void *state = NULL;
    scripted_open(&s, "{" INFO(4) "}");
    snprintf(s.dev->info.backend, sizeof s.dev->info.backend, "other");
    struct as_trial_context tc = {.dev = s.dev, .axes = &axes};
    toy_axes(&axes, "peer=1 node=0 allocator=own direction=to how=engine size=4096");
    assert_int_not_equal(as_probe_prepare(&as_probe_link, &tc, &state, &err), AS_OK);
    assert_non_null(strstr(err.text, "other:1"));
    as_probe_finish(&as_probe_link, state);
    as_buf_finish(&tc.detail);
    scripted_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_pairs),
        cmocka_unit_test(test_which_host_links_together),
        cmocka_unit_test(test_owners_and_lists),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_host_links_together),
        cmocka_unit_test(test_both_push),
        cmocka_unit_test(test_wrong_copy_of_one_device),
        cmocka_unit_test(test_no_way_to_the_peer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
