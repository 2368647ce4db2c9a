/* node_link: messages between the nodes of a fleet by MPI. `assay fleet links` measures its cells
 * (src/fleet/fleet_links.c), on all ranks together; a worker of one machine cannot. See method.md. */
#include "lib/checks/checks.h"

static const char *const what_words[] = {"latency", "bandwidth", "both", "bisection", "allreduce", NULL};

static const char *const pairs_words[] = {"alone", "together", NULL};

static const char *const memory_words[] = {"pageable", "pinned", "device", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("what", what_words, "latency",
                 "latency: ping-pong, one way; bandwidth: windows of 64 messages; both: in both directions; bisection: "
                 "the lower half of ranks with the upper half; allreduce: a sum of doubles over all ranks"),
    AS_SIZE_AXIS("size", 1, UINT64_C(1) << 26, "8", "bytes of one message"),
    AS_WORD_AXIS("pairs", pairs_words, "alone",
                 "alone: no other rank sends messages; together: other pairs that share no node with this one are "
                 "measured at the same time"),
    AS_WORD_AXIS("memory", memory_words, "pageable",
                 "of messages: pageable host memory, host memory pinned by the device's API, or memory of the device"),
    AS_COUNT_AXIS("from", 0, 1 << 24, "0", "the first rank; of bisection and allreduce the first of all"),
    AS_COUNT_AXIS("to", 0, 1 << 24, "1", "the second rank, or the last of all"),
    {0},
};
static const char *const grids[] = {"what=latency size=8", NULL};

static enum as_applies node_link_applies(const struct as_device_info *info, const struct as_axes *a,
                                         struct as_error *err)
{
    if (strcmp(info->backend, "mpi") != 0)
        return as_pruned(err, "links between nodes are measured by 'assay fleet links' under mpirun or srun");
    const bool of_all = as_word_is(a, "what", "bisection") || as_word_is(a, "what", "allreduce");
    if (of_all && as_word_is(a, "pairs", "together"))
        return as_pruned(err, "pairs=together does not apply to bisection and all-reduce, which use all ranks");
    return as_word_is(a, "what", "allreduce") && as_axes_u64(a, "size") % sizeof(double) ? AS_PRUNED : AS_APPLIES;
}

static enum as_status node_link_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    (void)tc;
    (void)state;
    return as_fail(err, AS_UNSUPPORTED, "links between nodes are measured by 'assay fleet links' under mpirun or srun");
}

static enum as_status node_link_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    (void)reps;
    (void)out;
    return node_link_prepare(NULL, state, err);
}

static bool node_link_check(void *state, char *why, size_t size)
{
    (void)state;
    return as_check_no_memory(why, size);
}

static void node_link_finish(void *state)
{
    (void)state;
}

#define LATENCY_METRIC(of)                                                                                             \
    {                                                                                                                  \
        .name = "latency", .unit = "ns", .lower_is_better = true, .counts = of                                         \
    }
static const struct as_own_metric own[] = {
    {"what", "latency", LATENCY_METRIC("half of a round trip of one message")},
    {"what", "allreduce", LATENCY_METRIC("one all-reduce, averaged over the ranks")},
    {0},
};

const struct as_probe as_probe_node_link = {
    .name = "node_link",
    .title = "Links between nodes",
    .question = "What latency and bandwidth do messages between nodes reach?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .counts = "bytes of messages; both directions together where there are two, all pairs together in a bisection; "
              "decimal GB",
    .own_metrics = own,
    AS_CELLS(axes, grids, grids, node_link_applies),
    .state_bytes = 1,
    .prepare = node_link_prepare,
    .sample = node_link_sample,
    .check = node_link_check,
    .finish = node_link_finish,
};
