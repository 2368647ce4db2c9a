/* Relays that talk by a scripted MPI under a scripted clock: what comes of nodes that wait, stall, or say nonsense.
 */
#include "base/text.h"
#include "fleet/fleet_relay.h"
#include "scripted_clock.h"
#include "store/store.h"
#include "unit_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANKS = 3, MESSAGES_MAX = 16, REQUESTS_MAX = 4096 };

/* ---- MPI: what other ranks have sent, and what is to be received ---- */

struct message {
    char data[256];
    size_t n;
};
static struct inbox {
    struct message v[MESSAGES_MAX];
    size_t n, at;
} inbox[RANKS];
static struct request {
    char *to; /* NULL: it is done */
    size_t n;
    int from;
} requests[REQUESTS_MAX];
static size_t requests_n;
static struct as_relay_head last_sent[RANKS];
/* The store that rank 2 sends when it is asked; rank 1 stalls and sends its own only once rank 2's is on the way. */
static char *store;
static size_t store_n;
static bool rank_1_stalls, is_wanted[RANKS];

static void post(int from, const void *data, size_t n)
{
    struct inbox *in = &inbox[from];
    assert_true(in->n < MESSAGES_MAX && n <= sizeof in->v->data);
    memcpy(in->v[in->n].data, data, n);
    in->v[in->n++].n = n;
}

static void post_head(int from, enum as_relay_kind kind, int flag, const char *payload)
{
    const struct as_relay_head head = {.kind = kind, .flag = flag, .payload = strlen(payload)};
    post(from, &head, sizeof head);
    if (head.payload)
        post(from, payload, head.payload);
}

bool as_mpi_has_message(const struct as_mpi *m, int from)
{
    (void)m;
    return inbox[from].at < inbox[from].n;
}

void as_mpi_start_send(const struct as_mpi *m, const void *data, int n, int to, struct as_mpi_requests *r)
{
    (void)m;
    (void)r;
    if (n == sizeof *last_sent) {
        memcpy(&last_sent[to], data, sizeof *last_sent);
        is_wanted[to] |= last_sent[to].kind == AS_RELAY_WANT;
    }
}

void as_mpi_start_recv(const struct as_mpi *m, void *data, int n, int from, struct as_mpi_requests *r)
{
    (void)m;
    assert_true(requests_n < REQUESTS_MAX);
    requests[requests_n] = (struct request){.to = data, .n = (size_t)n, .from = from};
    r->v[r->n++] = requests_n++;
}

static bool request_arrives(struct request *r)
{
    struct inbox *in = &inbox[r->from];
    if (!r->to)
        return true;
    if (is_wanted[r->from] && r->n == store_n) {
        if (r->from == 1 && rank_1_stalls)
            return false;
        memcpy(r->to, store, store_n);
        for (size_t i = 0; i < requests_n; i++)
            if (r->from == 2 && requests[i].to && requests[i].from == 1)
                memset(requests[i].to, 'x', requests[i].n);
    } else if (in->at < in->n && in->v[in->at].n == r->n)
        memcpy(r->to, in->v[in->at++].data, r->n);
    else
        return false;
    r->to = NULL;
    return true;
}

bool as_mpi_is_done(const struct as_mpi *m, struct as_mpi_requests *r)
{
    (void)m;
    for (int i = 0; i < r->n; i++)
        if (!request_arrives(&requests[r->v[i]]))
            return false;
    r->n = 0;
    return true;
}

/* ---- what happens when ---- */

static char folder[64];
static const struct as_fleet_job job = {.size = RANKS, .id = "7"};
static struct as_relay relay;
static int to_relay;
static double began;
static const struct event {
    double at;
    void (*happens)(void);
} * next_event;

static void on_sleep(double seconds)
{
    (void)seconds;
    while (next_event->happens && as_now() - began >= next_event->at)
        (next_event++)->happens();
}

static void rank_0_ends(void)
{
    assert_int_equal(write(to_relay, "E", 1), 1);
}

static void parent_ends(void)
{
    close(to_relay);
}

static void post_state(int rank, const char *word, int flag)
{
    char text[160];
    snprintf(text, sizeof text, "{\"status_version\":1,\"launch\":\"7\",\"state\":\"%s\",\"request\":[],\"share\":0.5}",
             word);
    post_head(rank, AS_RELAY_STATE, flag, text);
}

static void post_offer(int rank)
{
    struct as_relay_head offer = {.kind = AS_RELAY_OFFER, .flag = 1};
    char path[128];
    snprintf(path, sizeof path, "%s/sent.db", folder);
    assert_int_equal(as_relay_hash_file(&relay, path, &offer.size, &offer.hash, NULL), AS_OK);
    post_state(rank, "complete", AS_RELAY_LAST);
    post(rank, &offer, sizeof offer);
}

static void rank_1_offers(void)
{
    post_offer(1);
}

static void rank_2_offers(void)
{
    post_offer(2);
}

static void read_store(void)
{
    struct as_store *made = NULL;
    struct as_buf bytes = AS_BUF_INIT;
    char path[128];
    snprintf(path, sizeof path, "%s/sent.db", folder);
    assert_int_equal(as_store_open(path, AS_STORE_WRITE, &made, NULL), AS_OK);
    as_store_close(made);
    assert_int_equal(as_buf_read_file(&bytes, path, AS_RELAY_PIECE, NULL), AS_OK);
    store_n = bytes.len;
    store = as_buf_take(&bytes);
}

static int begin(void **state)
{
    int ends[2];
    (void)state;
    strcpy(folder, "/tmp/assay-relay-XXXXXX");
    if (!mkdtemp(folder) || pipe(ends) || as_fleet_folder_make(folder, NULL))
        return 1;
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    to_relay = ends[1];
    relay = (struct as_relay){
        .folder = folder, .name = "n0", .request = "[]", .job = &job, .mpi = {.size = RANKS}, .in = ends[0], .out = -1};
    relay.piece = malloc(AS_RELAY_PIECE);
    memset(inbox, 0, sizeof inbox);
    memset(last_sent, 0, sizeof last_sent);
    memset(is_wanted, 0, sizeof is_wanted);
    requests_n = 0;
    rank_1_stalls = false;
    for (int rank = 1; rank < RANKS; rank++) {
        char hello[40];
        snprintf(hello, sizeof hello, "{\"name\":\"n%d\",\"request\":\"\"}", rank);
        post_head(rank, AS_RELAY_HELLO, 0, hello);
        post_head(rank, AS_RELAY_SEEN, 0, "");
        post_state(rank, "measuring", 0);
    }
    clock_script(0);
    began = as_now();
    clock_on_sleep = on_sleep;
    read_store();
    return 0;
}

static int end(void **state)
{
    char command[128];
    (void)state;
    clock_on_sleep = NULL;
    close(relay.in);
    free(relay.piece);
    free(store);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command); /* NOLINT(cert-env33-c) */
}

static bool has_store(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s.db", folder, name);
    return access(path, F_OK) == 0;
}

static void state_is(const char *name, enum as_fleet_state state, bool locked, const char *why)
{
    struct as_fleet_status s;
    assert_int_equal(as_fleet_status_read(folder, name, &s, NULL), AS_OK);
    assert_int_equal(s.state, state);
    assert_int_equal(s.locked, locked);
    assert_non_null(strstr(s.why, why));
    as_fleet_status_finish(&s);
}

static void leads(const struct event *events)
{
    next_event = events;
    assert_int_equal(as_relay_lead(&relay), AS_RELAY_ARRIVED);
    for (int rank = 1; rank < RANKS; rank++)
        assert_int_equal(last_sent[rank].kind, AS_RELAY_END);
}

static struct as_fleet_watch watch;

/* Rank 0 still waits for both, whose processes live for all that it knows. */
static void nobody_has_died(void)
{
    struct as_buf out = AS_BUF_INIT;
    size_t pending = 0;
    watch.printed_at = as_now();
    assert_int_equal(as_fleet_watch_look(&watch, &pending, &out, NULL), AS_OK);
    assert_string_equal(as_buf_get(&out), "");
    assert_int_equal(pending, 2);
    state_is("n1", AS_FLEET_MEASURED, false, "");
    assert_false(has_store("n1"));
    as_buf_finish(&out);
}

static void begin_watch(void)
{
    watch = (struct as_fleet_watch){.folder = folder, .job = &job, .own = "n0", .began = as_now()};
    nobody_has_died();
}

/* Rank 0 measures for half an hour longer than the others, which say nothing while they wait. */
UNIT_TEST(test_rank_0_is_the_last)
{
    leads((const struct event[]){{10, rank_1_offers},
                                 {10, rank_2_offers},
                                 {15, begin_watch},
                                 {1000, nobody_has_died},
                                 {1900, nobody_has_died},
                                 {2000, rank_0_ends},
                                 {2100, parent_ends},
                                 {0, NULL}});
    assert_true(has_store("n1") && has_store("n2"));
    state_is("n1", AS_FLEET_COMPLETE, false, "");
    assert_int_equal(last_sent[1].flag, AS_RELAY_ARRIVED);
    as_fleet_watch_finish(&watch);
}

/* A node that stalls while it sends, and wakes while another's store comes. */
UNIT_TEST(test_a_node_stalls)
{
    rank_1_stalls = true;
    leads((const struct event[]){
        {1, rank_1_offers}, {1, rank_2_offers}, {20, rank_0_ends}, {200, parent_ends}, {0, NULL}});
    assert_true(has_store("n2") && !has_store("n1"));
    state_is("n2", AS_FLEET_COMPLETE, false, "");
    state_is("n1", AS_FLEET_FAILED, false, "measured, but not gathered: the node's process ended during the transfer");
    assert_int_equal(last_sent[1].flag, AS_RELAY_NOT_TAKEN);
    assert_int_equal(last_sent[2].flag, AS_RELAY_ARRIVED);
}

static void rank_1_sends_nonsense(void)
{
    const struct as_relay_head head = {.kind = AS_RELAY_STATE, .payload = UINT64_MAX};
    post(1, &head, sizeof head);
}

/* Rank 0 need not wait for a node that it does not listen to any more. */
UNIT_TEST(test_nonsense)
{
    leads((const struct event[]){{5, rank_1_sends_nonsense}, {20, parent_ends}, {0, NULL}});
    state_is("n1", AS_FLEET_MEASURING, true, "");
    state_is("n2", AS_FLEET_MEASURING, false, "");
    assert_int_equal(last_sent[1].flag, AS_RELAY_GIVEN_UP);
    assert_int_equal(last_sent[2].flag, AS_RELAY_TOO_EARLY);
}

UNIT_TEST(test_silence)
{
    leads((const struct event[]){{400, parent_ends}, {0, NULL}});
    state_is("n1", AS_FLEET_MEASURING, true, "");
    assert_int_equal(last_sent[1].flag, AS_RELAY_GIVEN_UP);
}

/* Where rank 0 cannot write a store, the node is told so. */
static void store_cannot_be_written(void)
{
    char path[128];
    post_offer(1);
    snprintf(path, sizeof path, "%s/status/.n1.part", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/n1.db", folder);
    assert_int_equal(mkdir(path, 0777), 0);
}

UNIT_TEST(test_not_written)
{
    leads((const struct event[]){{1, store_cannot_be_written}, {20, rank_0_ends}, {200, parent_ends}, {0, NULL}});
    state_is("n1", AS_FLEET_FAILED, false, "measured, but not gathered: ");
    assert_int_equal(last_sent[1].flag, AS_RELAY_NOT_TAKEN);
}

static void rank_0_says_the_end(void)
{
    post_head(0, AS_RELAY_END, AS_RELAY_NOT_TAKEN, "");
}

UNIT_TEST(test_follower_is_told)
{
    relay.name = "n1";
    relay.mpi.rank = 1;
    next_event = (const struct event[]){{5, rank_0_says_the_end}, {0, NULL}};
    post_head(0, AS_RELAY_WELCOME, 0, "{\"request\":\"[]\",\"file\":\".seen\"}");
    assert_int_equal(as_relay_follow(&relay), AS_RELAY_NOT_TAKEN);
    close(to_relay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rank_0_is_the_last, begin, end),
        cmocka_unit_test_setup_teardown(test_a_node_stalls, begin, end),
        cmocka_unit_test_setup_teardown(test_nonsense, begin, end),
        cmocka_unit_test_setup_teardown(test_silence, begin, end),
        cmocka_unit_test_setup_teardown(test_not_written, begin, end),
        cmocka_unit_test_setup_teardown(test_follower_is_told, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
