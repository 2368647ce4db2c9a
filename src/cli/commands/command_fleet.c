/* assay fleet: many machines beside each other */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/fleet/fleet_verbs.h"
#include "cli/output/outputs.h"

#include <string.h>

/* Options of show, which run and resume have as well. */
#define SHOWING "min-deviation", "fdr", "all", "page", "junit", "prometheus", "json", "colour"
enum { OPTIONS_MAX = 20 };
static const struct verb {
    const char *name;
    as_command_fn run;
    const char *takes[OPTIONS_MAX];
} verbs[] = {
    {"run", as_fleet_verb_run, {SHOWING, AS_FLEET_REQUEST_OPTIONS, "folder", "gather", "quiet"}},
    {"resume", as_fleet_verb_resume, {SHOWING, "gather", "quiet", "budget"}},
    {"links",
     as_fleet_verb_links,
     {"folder", "quiet", "device", "set", "precision", "budget", "trials", "seed", "resume", "colour"}},
    {"show", as_fleet_verb_show, {SHOWING, "policy"}},
    {"merge", as_fleet_verb_merge, {"output"}},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static enum as_status find_verb(const char *word, size_t *out, struct as_error *err)
{
    const char *names[VERBS + 1] = {NULL};
    for (*out = 0; *out < VERBS; ++*out) {
        names[*out] = verbs[*out].name;
        if (strcmp(word, verbs[*out].name) == 0)
            return AS_OK;
    }
    const char *near = as_nearest(word, names);
    return as_fail(err, AS_USAGE, "'%s' is not run, resume, links, show or merge%s%s%s", word,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool verb_takes(const struct verb *verb, const char *option)
{
    for (size_t i = 0; i < OPTIONS_MAX && verb->takes[i]; i++)
        if (strcmp(verb->takes[i], option) == 0)
            return true;
    return false;
}

/* Options of other verbs, and a file that would be stdout. */
static enum as_status check_options(const struct as_args *args, const struct verb *verb, struct as_error *err)
{
    static const char *const files[] = {"output", "page", "junit", "prometheus"};
    for (size_t i = 0; i < args->given_n; i++)
        if (!verb_takes(verb, args->given[i].option->name))
            return as_fail(err, AS_USAGE, "--%s does not apply to 'fleet %s'", args->given[i].option->name, verb->name);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = as_args_value(args, files[i]);
        if (path && strcmp(path, "-") == 0)
            return as_fail(err, AS_USAGE, "--%s needs a file name, not '-'", files[i]);
    }
    return AS_OK;
}

static int run_fleet(const struct as_command *command, const struct as_args *args)
{
    struct as_error err = {0};
    size_t verb = 0;
    enum as_status st = as_check_outputs(args, &err);
    if (!st)
        st = find_verb(args->word[0], &verb, &err);
    if (!st)
        st = check_options(args, &verbs[verb], &err);
    return st ? as_cli_misuse(command, &err) : verbs[verb].run(command, args);
}

static const struct as_option options[] = {
    {"folder", 0, "FOLDER", "of run and links: the folder for the nodes' stores, preferably one that all nodes share",
     false},
    {"gather", 0, NULL, "of run and resume, for nodes without a shared folder: send each node's store to rank 0 by MPI",
     false},
    AS_OPTIONS_PLAN,
    {"seed", 0, "N", "of run and links: as 'assay run --seed'", false},
    {"isolate", 0, NULL, "of run: as 'assay run --isolate'", false},
    {"resume", 0, NULL, "of links: continue the last unfinished links of the folder, on the same hosts", false},
    {"quiet", 'q', NULL, "of run, resume and links: no progress and no notes on stderr", false},
    {"output", 'o', "FILE", "of merge: the file for the sheets of all nodes, one per line", false},
    {"min-deviation", 0, "PERCENT", "ignore deviations up to this (default: 1%)", false},
    {"fdr", 0, "PERCENT", "false discovery rate: the expected share of false findings (default: 0.5%)", false},
    {"policy", 0, "POLICY", "of show: check each node against the bounds of this INI file, as 'assay check --policy'",
     false},
    {"all", 0, NULL,
     "also print median, extremes and scatter of each line, and the smallest deviation that would be a finding; with "
     "--policy also the bounds that are met",
     false},
    {"page", 0, "FILE", "write a web page: findings, and a map of the nodes by any line", false},
    {"junit", 0, "FILE", "write a JUnit report, one test case per node", false},
    {"prometheus", 0, "FILE", "write Prometheus text: the state of each node, and deviations; with --policy each bound",
     false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_END,
};
const struct as_command as_command_fleet = {
    .name = "fleet",
    .args = "run [SUITE|PROBE]... | resume FOLDER | links | show FILE... | merge FILE...",
    .summary = "measure many machines, and find the slow devices and nodes among them",
    .about =
        "run measures every node on which it is started, by mpirun, srun or by hand, one process per node, into "
        "FOLDER/HOST.db. All nodes measure at the same time; processes on one host take turns. Rank 0 prints progress "
        "and, at the end, the output of show. Without MPI or Slurm, a process measures its own host. resume continues "
        "each node where it stopped; start it the same way as run. assay reads its rank from the environment and is "
        "not linked with MPI. Nodes without a shared folder write to a local one: with --gather rank 0 gets a copy of "
        "each store by the launcher's MPI; otherwise copy the stores together and use show or merge.\n\n"
        "links measures messages between the nodes by the launcher's MPI, which is loaded at run time (Open MPI, or "
        "one "
        "with MPICH's ABI; ASSAY_MPI names another library): latency and bandwidth of all pairs, bisection and "
        "all-reduce, as probe node_link in rank 0's store. From 17 ranks on, a random sample of pairs is measured, 16 "
        "or fewer per rank, and pairs that share no node at once; --set pairs=alone or pairs=together chooses. "
        "Where each rank has a GPU, or the device of --device, messages are also sent from pinned memory, and from "
        "device memory if MPI is GPU-aware. --budget limits its time, and may cut a trial short; "
        "--resume continues a killed launch. While another run measures on one of its hosts, it waits.\n\n"
        "show and merge read FILEs: the store of a node, a sheet of 'assay export --format sheet', several sheets one "
        "after the other, as merge writes them, or a folder of stores. Devices of one model and API are compared line "
        "by line: within their node if it "
        "has four or more of them, otherwise with the devices of all nodes that have fewer; and nodes by the median of "
        "their devices. Outliers are listed with the 95% interval of their deviation. Over all comparisons the "
        "expected "
        "share of false findings is at most --fdr (Benjamini and Hochberg). If the devices form two clusters, both are "
        "reported and each device is compared within its own: where a tenth of the devices or more are slow by a "
        "similar amount, they are such a cluster and no outliers.\n\n"
        "With --policy, show checks each node's stored runs or sheet against the bounds of an INI file instead. A "
        "bound "
        "counts as not met only where two runs of the node agree. --json has a verdict per node (pass, fail, "
        "incomplete, "
        "unconfirmed or unknown), --junit a test case and --prometheus a ratio per bound; exit status 3 if a node does "
        "not meet a bound or has "
        "no number for "
        "it.\n\n"
        "A node whose file cannot be read, or that has no complete run, is listed as such and never as slow. Exit "
        "status of rank 0, of show, and without ranks: 3 if a device or node is slower than the others, 4 if a node "
        "has no data, 1 if none has. Other ranks exit with 0 once their state is written, since mpirun ends all "
        "ranks when one fails.",
    .example = "mpirun -N 1 --bind-to none assay fleet run quick --folder /shared/fleet\n"
               "srun -N 32 --ntasks-per-node=1 --cpu-bind=none assay fleet run quick --folder /shared/fleet\n"
               "mpirun -N 1 assay fleet links --folder /shared/fleet --budget 10m\n"
               "assay fleet show /shared/fleet --all\nassay fleet merge node*.db -o fleet.json",
    .options = options,
    .min_args = 1,
    .max_args = -1,
    .run = run_fleet,
};
