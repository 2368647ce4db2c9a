/* Messages of any size arrive unchanged; damaged ones count as a lost peer. */
#include "base/clock.h"
#include "tests/unit_test.h"
#include "worker/message.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

UNIT_TEST(test_trial_round_trip)
{
    double samples[3] = {1.5, -2e-300, 3e300};
    struct as_trial a = {.number = 4,
                         .n = 3,
                         .samples = samples,
                         .clock_hz = 3e9,
                         .clock_lo = NAN,
                         .limit = NAN,
                         .status = AS_CELL_OK,
                         .checksum = AS_GATE_FAIL,
                         .footprint = UINT64_C(1) << 40,
                         .claims_memory = 1,
                         .reps = 12345678901,
                         .sampling_s = 0.375,
                         .detail = (char[]){"{\"variant\":\"avx512\"}"}};
    strcpy(a.reason, "with \"quotes\" and \n lines");
    json_t *j = as_trial_to_json(&a);
    struct as_trial b;
    assert_int_equal(as_trial_from_json(j, &b, NULL), AS_OK);
    json_decref(j);
    assert_int_equal(b.number, 4);
    assert_int_equal(b.n, 3);
    assert_memory_equal(a.samples, b.samples, sizeof samples);
    assert_true(isnan(b.clock_lo) && isnan(b.limit) && b.clock_hz == 3e9);
    assert_string_equal(a.reason, b.reason);
    assert_string_equal(a.detail, b.detail);
    assert_true(b.sampling_s == a.sampling_s);
    assert_true(b.reps == a.reps && b.footprint == a.footprint && b.checksum == AS_GATE_FAIL);
    as_trial_finish(&b);
}

UNIT_TEST(test_readings_round_trip)
{
    struct as_trial a = {.code = AS_GATE_FAIL, .code_text = "0 fma.f64"}, b;
    as_readings_clear(&a.readings);
    for (int with = 0; with < 2; with++) {
        if (with) {
            strcpy(a.readings.sensor, "nvml");
            a.readings.throttle = AS_THROTTLE_THERMAL | AS_THROTTLE_OTHER;
            a.readings.users = 1.5; /* the others stay unknown */
            a.readings.pcie_width = 16;
        }
        json_t *j = as_trial_to_json(&a);
        assert_int_equal(as_trial_from_json(j, &b, NULL), AS_OK);
        json_decref(j);
        assert_int_equal(b.code, AS_GATE_FAIL);
        assert_string_equal(b.code_text, "0 fma.f64");
        assert_string_equal(b.readings.sensor, a.readings.sensor);
        assert_int_equal(b.readings.throttle, a.readings.throttle);
        assert_true(isnan(b.readings.power_w));
        assert_true(!with || (b.readings.users == 1.5 && b.readings.pcie_width == 16));
        as_trial_finish(&b);
    }
}

UNIT_TEST(test_invalid_utf8_is_replaced)
{
    struct as_trial a = {.reason = "\xff\xfe driver"}, b;
    json_t *j = as_trial_to_json(&a);
    assert_int_equal(as_trial_from_json(j, &b, NULL), AS_OK);
    assert_non_null(strstr(b.reason, " driver"));
    json_decref(j);
    as_trial_finish(&b);
}

/* Each of these members makes a good trial a damaged one. */
UNIT_TEST(test_damaged_trials)
{
    static const char *const bad[] = {"{\"status\":\"odd\"}",
                                      "{\"checksum\":-1}",
                                      "{\"samples\":[1,\"x\"]}",
                                      "{\"samples\":[null,2]}",
                                      "{\"samples\":[1]}",
                                      "{\"samples\":null}",
                                      "{\"code\":3}",
                                      "{\"detail\":\"[1]\"}",
                                      "{\"detail\":[1]}",
                                      "{\"weight\":[null,1]}",
                                      "{\"weight\":[-1,1]}",
                                      "{\"core_hz\":[0,1]}",
                                      "{\"n\":-1}",
                                      "{\"n\":3}",
                                      "{\"readings\":{}}",
                                      "{\"more\":1}"};
    double samples[] = {1, 2};
    const struct as_trial good = {.n = 2, .samples = samples};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct as_trial v;
        json_t *j = as_trial_to_json(&good), *change = json_loads(bad[i], 0, NULL);
        assert_int_equal(as_trial_from_json(j, &v, NULL), AS_OK);
        as_trial_finish(&v);
        assert_int_equal(json_object_update(j, change), 0);
        assert_int_equal(as_trial_from_json(j, &v, NULL), AS_FAILED);
        json_decref(change);
        json_decref(j);
    }
}

/* Packets, or a stream, as on systems without packets. */
static int kind_of(void **state)
{
    return *(const int *)*state;
}

static void test_large_message(void **state)
{
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, kind_of(state), 0, fd), 0);
    if (fork() == 0) {
        json_t *j = json_array();
        for (int i = 0; i < 200000; i++)
            json_array_append_new(j, json_integer(i));
        _exit(as_message_send(fd[1], j, NULL) != AS_OK);
    }
    json_t *got = NULL;
    assert_int_equal(as_message_receive(fd[0], as_now() + 600, NULL, &got), AS_RECEIVED);
    assert_int_equal(json_array_size(got), 200000);
    json_decref(got);
    close(fd[0]);
    close(fd[1]);
}

static void test_silence_and_noise(void **state)
{
    int fd[2];
    volatile sig_atomic_t stop = 0;
    json_t *got = NULL;
    assert_int_equal(socketpair(AF_UNIX, kind_of(state), 0, fd), 0);
    assert_int_equal(as_message_receive(fd[0], as_now() + 0.05, &stop, &got), AS_NO_ANSWER);
    stop = 1;
    assert_int_equal(as_message_receive(fd[0], as_now() + 600, &stop, &got), AS_STOPPED);
    const bool stream = kind_of(state) == SOCK_STREAM;
    assert_int_equal(stream ? send(fd[1], "\x09\0\0\0enot json", 13, 0) : send(fd[1], "enot json", 9, 0),
                     stream ? 13 : 9);
    assert_int_equal(as_message_receive(fd[0], as_now() + 600, NULL, &got), AS_PEER_GONE);
    close(fd[1]);
    assert_int_equal(as_message_receive(fd[0], as_now() + 600, NULL, &got), AS_PEER_GONE);
    assert_null(got);
    json_t *j = json_object();
    assert_int_equal(as_message_send(fd[0], j, NULL), AS_IO);
    json_decref(j);
    close(fd[0]);
}

/* Replaces the C library's: fails as often as requested, and leaves in the buffer what a failed call may. */
static int interruptions;
ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    if (interruptions > 0 && size > 0) {
        interruptions--;
        memcpy(buffer, "e", 1);
        errno = EINTR;
        return -1;
    }
    return recvfrom(fd, buffer, size, flags, NULL, NULL);
}

static void test_interrupted_receive(void **state)
{
    int fd[2];
    json_t *got = NULL, *order = json_pack("{s:i}", "x", 7);
    assert_int_equal(socketpair(AF_UNIX, kind_of(state), 0, fd), 0);
    assert_int_equal(as_message_send(fd[1], order, NULL), AS_OK);
    interruptions = 2;
    assert_int_equal(as_message_receive(fd[0], as_now() + 20, NULL, &got), AS_RECEIVED);
    assert_true(json_equal(got, order));
    assert_int_equal(interruptions, 0);
    json_decref(got);
    json_decref(order);
    close(fd[0]);
    close(fd[1]);
}

/* Bytes after a message in the stream belong to the next one. */
UNIT_TEST(test_packets_in_a_stream)
{
    static const char two[] = "\x03\0\0\0m[1\x03\0\0\0e,2]";
    static const char three[] = "\x03\0\0\0m[1\x04\0\0\0e,2]\x03\0\0\0e[]";
    int fd[2];
    json_t *got = NULL;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    assert_int_equal(send(fd[1], three, sizeof three - 1, 0), sizeof three - 1);
    assert_int_equal(as_message_receive(fd[0], as_now() + 600, NULL, &got), AS_RECEIVED);
    assert_int_equal(json_array_size(got), 2);
    json_decref(got);
    assert_int_equal(as_message_receive(fd[0], as_now() + 600, NULL, &got), AS_RECEIVED);
    assert_int_equal(json_array_size(got), 0);
    json_decref(got);
    assert_int_equal(send(fd[1], two, sizeof two - 1, 0), sizeof two - 1); /* its last byte belongs to no packet */
    assert_int_equal(as_message_receive(fd[0], as_now() + 600, NULL, &got), AS_PEER_GONE);
    close(fd[0]);
    close(fd[1]);
}

UNIT_TEST(test_pieces_one_by_one)
{
    static const char text[] = "\x03\0\0\0m[1\x04\0\0\0e,2]";
    int fd[2], status = 0;
    json_t *got = NULL;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    const pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < sizeof text - 1; i++)
            if (send(fd[1], text + i, 1, 0) != 1)
                _exit(1);
        _exit(0);
    }
    assert_int_equal(as_message_receive(fd[0], as_now() + 600, NULL, &got), AS_RECEIVED);
    assert_int_equal(json_array_size(got), 2);
    json_decref(got);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(fd[0]);
    close(fd[1]);
}

UNIT_TEST(test_lengths_that_cannot_be)
{
    static const char *const lengths[] = {"\0\0\0\0", "\xff\xff\xff\xff", "\1\200\0\0"};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int fd[2];
        json_t *got = NULL;
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
        assert_int_equal(send(fd[1], lengths[i], 4, 0), 4);
        assert_int_equal(as_message_receive(fd[0], as_now() + 600, NULL, &got), AS_PEER_GONE);
        assert_null(got);
        close(fd[0]);
        close(fd[1]);
    }
}

/* Messages that a child sent before it ended are received, even if another process still holds its end of the
 * socket. */
static void test_child_that_ended(void **state)
{
    int fd[2];
    json_t *got = NULL;
    assert_int_equal(socketpair(AF_UNIX, kind_of(state), 0, fd), 0);
    pid_t child = fork();
    if (child == 0) {
        json_t *j = json_array();
        _exit(as_message_send(fd[1], j, NULL) == AS_OK ? 7 : 1);
    }
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(as_message_receive_from(fd[0], child, as_now() + 60, NULL, &got), AS_RECEIVED);
    json_decref(got);
    assert_int_equal(as_message_receive_from(fd[0], child, as_now() + 60, NULL, &got), AS_PEER_GONE);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child); /* not reaped in the meantime */
    assert_int_equal(WEXITSTATUS(status), 7);
    close(fd[0]);
    close(fd[1]);
}

int main(void)
{
    static int packets = SOCK_SEQPACKET, stream = SOCK_STREAM;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readings_round_trip),
        cmocka_unit_test(test_trial_round_trip),
        cmocka_unit_test(test_invalid_utf8_is_replaced),
        cmocka_unit_test(test_damaged_trials),
        cmocka_unit_test_prestate(test_large_message, &packets),
        cmocka_unit_test_prestate(test_large_message, &stream),
        cmocka_unit_test_prestate(test_silence_and_noise, &packets),
        cmocka_unit_test_prestate(test_silence_and_noise, &stream),
        cmocka_unit_test_prestate(test_interrupted_receive, &packets),
        cmocka_unit_test_prestate(test_interrupted_receive, &stream),
        cmocka_unit_test_prestate(test_child_that_ended, &packets),
        cmocka_unit_test_prestate(test_child_that_ended, &stream),
        cmocka_unit_test(test_packets_in_a_stream),
        cmocka_unit_test(test_pieces_one_by_one),
        cmocka_unit_test(test_lengths_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
