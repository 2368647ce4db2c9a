/* Messages of processes and drivers: any input is refused with a reason, or can be stored, read and written again. */
#include "forged.h"

#include "device/null/null.h"
#include "device/tree_json.h"
#include "model/gates.h"
#include "plan/plan.h"
#include "report/map/map.h"
#include "store/store.h"
#include "worker/measure.h"

#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

static char path[64], script_path[64];

static void remove_files(void)
{
    char journal[80];
    snprintf(journal, sizeof journal, "%s-journal", path);
    unlink(path);
    unlink(journal);
    unlink(script_path);
}

static void begin(void)
{
    const char *folder = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(path, sizeof path, "%s/assay-message-%ld.db", folder, (long)getpid());
    snprintf(script_path, sizeof script_path, "%s/assay-message-%ld.json", folder, (long)getpid());
    setenv("ASSAY_NULL", script_path, 1);
    setenv("ASSAY_CACHE", "off", 1);
    atexit(remove_files);
}

static void lie_some(json_t *tree, struct fuzz_bytes *b)
{
    for (unsigned n = fuzz_byte(b) % 8; n; n--)
        forged_in_tree(tree, b);
}

static json_t *parsed(struct as_buf *text)
{
    json_t *j = text->failed ? NULL : json_loadb(as_buf_get(text), text->len, 0, NULL);
    fuzz_require(j != NULL, "what is told is no JSON");
    as_buf_finish(text);
    return j;
}

/* ---- a trial ---- */

static struct as_cell one_cell(void)
{
    struct as_cell c = {.backend = "null",
                        .device = "null",
                        .probe = "latency",
                        .metric = "latency",
                        .unit = "ns",
                        .lower_is_better = 1,
                        .precision = 0.05,
                        .limit = NAN,
                        .clock_hz = NAN};
    static const char *const axes[][2] = {
        {"size", "4096"}, {"pattern", "random"}, {"allocator", "malloc"}, {"stride", "64"}, {"instrument", "timed"}};
    c.sum = (struct as_summary){.median = NAN, .ci = {NAN, NAN}, .mad = NAN, .min = NAN, .max = NAN};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        as_axes_add(&c.axes, axes[i][0], axes[i][1], NULL);
    c.key = as_cell_key(c.probe, c.metric, &c.axes);
    return c;
}

/* As in the parent: judges it with the cell and stores it; then the store is sound and readable. */
static void store_trial(struct as_trial *v)
{
    struct as_store *store = NULL;
    struct as_error err = {0};
    struct as_cell cell = one_cell();
    struct as_run run = {.uuid = "78258810-1b0d-4548-ba30-cd3665b6688e", .trials = 1, .precision = 0.05};
    struct as_buf text = AS_BUF_INIT;
    const struct as_judge judge = {.trials_asked = 1, .reference_hz = NAN};
    const struct as_judge_context context = {.largest_cache = 1 << 20, .memory_least = 4 << 20};
    struct as_trials trials = {.v = v, .n = 1};
    remove_files();
    enum as_status st = as_store_open(path, AS_STORE_WRITE, &store, &err);
    if (!st)
        st = as_store_begin_run(store, &run, &cell, 1, &err);
    v->cell_id = cell.id;
    v->number = 0;
    if (!st)
        st = as_judge_cell(&judge, &cell, &trials, &context, &err);
    if (!st && v->detail)
        cell.detail = strdup(v->detail);
    if (!st)
        st = as_store_add_trials(store, &(struct as_stored_trial){v, &cell}, 1, &err);
    if (!st)
        st = as_store_verify(store, &err);
    if (!st)
        st = as_store_export_json(store, &run, &(struct as_sink){.out = &text}, &err);
    if (st) {
        fprintf(stderr, "%s\n", err.text);
        fuzz_require(0, "an accepted trial cannot be kept");
    }
    as_buf_finish(&text);
    as_cell_finish(&cell);
    as_store_close(store);
}

static void take_trial(const json_t *j)
{
    struct as_trial v;
    struct as_error err = {0};
    if (as_trial_from_json(j, &v, &err)) {
        fuzz_require(err.text[0] != 0, "refused without a reason");
        return;
    }
    store_trial(&v);
    as_trial_finish(&v);
}

static void fuzz_trial(struct fuzz_bytes *b)
{
    double samples[5] = {1, 1.5, 2, 1.25, 1.75};
    for (size_t i = 0; i < 5; i++)
        samples[i] = fuzz_byte(b) % 2 ? forged_number(b) : samples[i];
    struct as_trial v = {.n = 5,
                         .samples = samples,
                         .started_at = 1.7e9,
                         .prepare_s = 0.1,
                         .duration_s = 0.2,
                         .warmup = 1,
                         .reps = 100,
                         .sample_s = 1e-3,
                         .clock_hz = 2e9,
                         .clock_lo = 1.9e9,
                         .clock_hi = 2.1e9,
                         .limit = 0.5,
                         .checksum = AS_GATE_PASS,
                         .status = AS_CELL_OK,
                         .footprint = 4096,
                         .detail = (char[]){"{\"timer_ns\":14000,\"power_w\":300}"}};
    as_readings_clear(&v.readings);
    snprintf(v.readings.sensor, sizeof v.readings.sensor, "%s", fuzz_byte(b) % 2 ? "nvml" : "");
    json_t *j = as_trial_to_json(&v);
    lie_some(j, b);
    take_trial(j);
    json_decref(j);
}

/* ---- a device ---- */

static void take_info(const json_t *j)
{
    struct as_device_info info, again;
    struct as_error err = {0};
    struct as_buf first = AS_BUF_INIT, second = AS_BUF_INIT;
    struct as_map_tree tree;
    char *text = json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY);
    char *topology = json_dumps(json_object_get(j, "topology"), JSON_COMPACT | JSON_ENCODE_ANY);
    if (text && as_info_from_json(text, &info, &err)) {
        fuzz_require(err.text[0] != 0, "refused without a reason");
    } else if (text) {
        as_info_to_json(&info, &first);
        fuzz_require(as_info_from_json(as_buf_get(&first), &again, &err) == AS_OK, "a device is not told again");
        as_info_to_json(&again, &second);
        fuzz_require(strcmp(as_buf_get(&first), as_buf_get(&second)) == 0, "a device changed on its way");
        if (as_map_tree_make(&info, topology, true, &tree, &err) == AS_OK) {
            (void)as_map_layout(&tree, 64, &err);
            as_map_tree_finish(&tree);
        }
    }
    as_buf_finish(&first);
    as_buf_finish(&second);
    free(text);
    free(topology);
}

static void fuzz_info(struct fuzz_bytes *b)
{
    json_t *root = forged_sample(b);
    json_t *device = json_array_get(json_object_get(json_object_get(root, "run"), "devices"), 0);
    lie_some(device, b);
    take_info(device);
    json_decref(root);
}

static void put_text(char *out, size_t size, struct fuzz_bytes *b)
{
    snprintf(out, size, "%s", forged_broken(b));
}

/* A driver's text reaches the parent as JSON, whatever its bytes. */
static void fuzz_driver(struct fuzz_bytes *b)
{
    struct as_device_info info = {.caches_n = fuzz_byte(b) % 3};
    struct as_buf text = AS_BUF_INIT;
    info.allocators_n = fuzz_byte(b) % 3;
    put_text(info.id, sizeof info.id, b);
    put_text(info.name, sizeof info.name, b);
    put_text(info.vendor, sizeof info.vendor, b);
    put_text(info.driver, sizeof info.driver, b);
    put_text(info.bus_id, sizeof info.bus_id, b);
    put_text(info.sensor_why, sizeof info.sensor_why, b);
    info.clock_max_hz = fabs(forged_number(b));
    info.peak_bandwidth = fuzz_byte(b) % 8 ? fabs(forged_number(b)) : NAN;
    info.memory_bytes = fuzz_byte(b) % 2 ? UINT64_MAX : fuzz_byte(b);
    info.capabilities = fuzz_byte(b) * 0x01010101u;
    for (size_t i = 0; i < info.caches_n; i++) {
        const unsigned level = fuzz_byte(b);
        info.caches[i] = (struct as_cache){.level = level, .kind = "diu"[level % 3], .size = level << level % 24};
    }
    for (size_t i = 0; i < info.allocators_n; i++) {
        snprintf(info.allocators[i].name, sizeof info.allocators[i].name, "a%s", forged_broken(b));
        put_text(info.allocators[i].why_not, sizeof info.allocators[i].why_not, b);
    }
    as_info_to_json(&info, &text);
    json_t *j = parsed(&text);
    take_info(j);
    json_decref(j);
    as_tree_open(&text, "machine", forged_broken(b));
    as_tree_children(&text);
    const unsigned size = fuzz_byte(b);
    as_tree_memory(&text, "L2", forged_broken(b), size, size / 2);
    as_tree_core(&text, forged_broken(b), size, size / 2);
    as_buf_str(&text, "]}]}");
    json_decref(parsed(&text));
}

/* ---- an order ---- */

static const struct as_device_info *null_info(void)
{
    static struct as_null_script script;
    static struct as_device_info info;
    struct as_error err;
    if (!info.name[0])
        fuzz_require(as_null_script_read("{}", "script", &script, &info, &err) == AS_OK, "no scripted device");
    return &info;
}

static void fuzz_order(struct fuzz_bytes *b)
{
    struct as_error err = {0};
    struct as_cell cell = one_cell();
    struct as_trial_order order = {.axes = cell.axes, .seed = 1, .precision = 0.05, .share_s = 0.1}, got;
    snprintf(order.probe, sizeof order.probe, "%s", fuzz_byte(b) % 8 ? "latency" : forged_text(b));
    json_t *j = as_order_to_json(&order), *axes = json_loads(json_string_value(json_object_get(j, "axes")), 0, NULL);
    lie_some(axes, b);
    char *text = json_dumps(axes, JSON_COMPACT | JSON_ENCODE_ANY);
    json_object_set_new(j, "axes", json_string(text ? text : ""));
    lie_some(j, b);
    if (as_order_from_json(j, &got, &err) || as_plan_check(got.probe, &got.axes, null_info(), &err))
        fuzz_require(err.text[0] != 0, "refused without a reason");
    free(text);
    json_decref(axes);
    json_decref(j);
}

/* ---- packets ---- */

static void fuzz_packets(struct fuzz_bytes *b)
{
    int ends[2];
    json_t *message = NULL;
    fuzz_require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0, "no sockets");
    for (int n = 0; b->left && n < 20; n++) {
        const size_t want = fuzz_byte(b), length = want < b->left ? want : b->left;
        if (send(ends[0], b->at, length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            break;
        b->at += length;
        b->left -= length;
    }
    close(ends[0]);
    const enum as_receive r = as_message_receive(ends[1], INFINITY, NULL, &message);
    fuzz_require((r == AS_RECEIVED) == (message != NULL), "received or not");
    if (message) {
        take_trial(message);
        take_info(message);
    }
    json_decref(message);
    close(ends[1]);
}

/* ---- a device's times ---- */

static const char script[] =
    "{\"seed\":1,\"cycles\":true,\"clock_hz\":2e9,\"launch_ns\":1000,\"alloc_ns\":100,\"free_ns\":50,"
    "\"levels\":[{\"size\":32768,\"ns\":1.5,\"gbs\":200},{\"size\":0,\"ns\":90,\"gbs\":20}],"
    "\"noise\":{\"sd\":0.002,\"trial_sd\":0},\"modes\":[{\"share\":0.7,\"factor\":1},{\"share\":0.3,\"factor\":1.1}],"
    "\"drift\":{\"factor\":1.05,\"from_launch\":3,\"to_launch\":9},\"faults\":[{\"do\":\"slow\",\"factor\":3,"
    "\"launch\":2},"
    "{\"do\":\"clock-half\",\"launch\":4}],\"sensor\":{\"throttle\":\"thermal\",\"power_w\":300,\"temperature\":60,"
    "\"clock_hz\":1e9,\"memory_clock_hz\":2e9,\"users\":1},\"info\":{\"threads\":1,\"clock_max_hz\":2e9}}";

static void measure(struct as_device *dev)
{
    struct as_sensing sensing;
    struct as_reference reference = AS_REFERENCE_INIT;
    struct as_trial v;
    struct as_error err = {0};
    const struct as_cell cell = one_cell();
    struct as_trial_order order = {
        .probe = "latency", .axes = cell.axes, .seed = 1, .precision = 0.05, .share_s = 0.001};
    as_sensing_open(&dev->info, &sensing);
    if (as_measure_trial(dev, &sensing, &reference, &order, &v, &err) == AS_OK) {
        json_t *j = as_trial_to_json(&v);
        take_trial(j);
        json_decref(j);
        as_trial_finish(&v);
    }
    as_sensing_close(&sensing);
}

/* A device that reports impossible times: samples are finite numbers, or the trial has a reason. */
static void fuzz_times(struct fuzz_bytes *b)
{
    struct as_opened opened;
    struct as_error err = {0};
    json_t *j = json_loads(script, 0, NULL);
    lie_some(j, b);
    json_object_del(j, "sleep"); /* for as long as it reports */
    json_object_set_new(j, "execute", json_false());
    char *text = json_dumps(j, JSON_COMPACT);
    json_decref(j);
    if (text && as_write_file(script_path, text, strlen(text), &err) == AS_OK) {
        if (as_device_open("null", &opened, &err) == AS_OK) {
            measure(&opened.device);
            as_device_close(&opened);
        } else
            fuzz_require(err.text[0] != 0, "refused without a reason");
    }
    free(text);
}

static void (*const kinds[])(struct fuzz_bytes *b) = {fuzz_trial, fuzz_info,    fuzz_driver,
                                                      fuzz_order, fuzz_packets, fuzz_times};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    if (!path[0])
        begin();
    kinds[fuzz_byte(&bytes) % (sizeof kinds / sizeof *kinds)](&bytes);
    return 0;
}
