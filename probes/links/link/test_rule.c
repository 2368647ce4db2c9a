/* The rule of links, on synthetic cells. */
#include "base/text.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

UNIT_TEST(test_links)
{
    struct made m;
    made_gpu_minimal(&m);
    m.info.bus_bandwidth = 63e9;
    made_add(&m, "link", "GB/s", 350, "peer=1 node=0 allocator=own direction=to how=engine size=268435456");
    made_add(&m, "link", "GB/s", 370, "peer=1 node=0 allocator=own direction=to how=kernel size=268435456");
    made_add(&m, "link", "GB/s", 700, "peer=1 node=0 allocator=own direction=both how=engine size=268435456");
    made_add(&m, "link", "GB/s", 20, "peer=host node=1 allocator=pinned direction=from how=engine size=268435456");
    made_add(&m, "link", "GB/s", 1000, "peer=every node=0 allocator=own direction=to how=kernel size=268435456");
    made_add(&m, "link", "GB/s", 1, "peer=2 node=0 allocator=own direction=to how=engine size=64")->status =
        AS_CELL_REJECTED;
    made_add(&m, "link", "GB/s", 83, "peer=host node=0 allocator=pinned direction=both how=kernel size=268435456");
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "link.1.to", 370, 1e-9);
    made_says(f, "Device to device 1: 370 GB/s (");
    made_says(f, "; copy kernel)");
    assert_null(strstr(f->sentence, "copy engine"));
    made_says(made_near(&m, "link.host-0.both", 83, 1e-9), "; copy kernel)");
    assert_string_equal(f->object, "link:1");
    assert_true(isnan(f->claimed));
    made_says(made_near(&m, "link.1.both", 700, 1e-9), "Device and device 1, both directions: 700 GB/s");
    f = made_near(&m, "link.host-1.from", 20, 1e-9);
    made_says(f, "Host memory node 1 to device: 20.0 GB/s");
    assert_string_equal(f->object, "link:host-1");
    assert_true(fabs(f->claimed - 63) < 1e-9);
    made_says(made_near(&m, "link.every.to", 1000, 1e-9), "Device to all other devices: ");
    assert_null(made_find(&m, "link.2.to"));
    made_end(&m);
}

/* Four devices that share half of what their links could carry; the notes are those of a trial. */
UNIT_TEST(test_links_together)
{
    struct made m;
    made_gpu_minimal(&m);
    m.share = 0.01;
    struct as_cell *cell = made_add(&m, "link", "GB/s", 105,
                                    "peer=every_host node=0 allocator=pinned direction=from how=engine size=67108864");
    cell->detail = as_strdup("{\"links\":4,\"device_bandwidths\":\"4 x 26.2 GB/s\"}");
    made_add(&m, "link", "GB/s", 50, "peer=host node=0 allocator=pinned direction=from how=engine size=67108864");
    made_add(&m, "link", "GB/s", 52.5, "peer=host node=1 allocator=pinned direction=from how=engine size=67108864");
    made_add(&m, "link", "GB/s", 99, "peer=host node=0 allocator=pinned direction=to how=engine size=67108864");
    made_add(&m, "link", "GB/s", 60, "peer=host node=0 allocator=pinned direction=from how=engine size=1048576");
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "link.every_host.from", 105, 1e-9);
    made_says(f, "Host to all 4 devices at once: 105 GB/s (");
    made_says(f, "; 4 x 26.2 GB/s)");
    assert_string_equal(f->object, "link:every_host");
    assert_true(isnan(f->claimed));
    f = made_near(&m, "link.shared.from", 50, 1e-9);
    made_says(f, "Copies to all 4 devices at once reach 50");
    made_says(f, "Copies to all 4 devices at once reach 50");
    assert_int_equal(f->evidence_n, 2);
    assert_null(made_find(&m, "link.shared.to"));
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_links_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
