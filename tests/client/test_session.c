/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the commands say: sizes and times for people, ends of jobs, numbers of options, and what a
 * failed call means. */
#include "client/session.h"

#include "base/size_text.h"
#include "client/channel.h"
#include "client_test.h"
#include "random.h"

#include <math.h>

/* ---- sizes and times ------------------------------------------------------------------------- */

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 bytes"},
        {1, "1 bytes"},
        {1023, "1023 bytes"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {(1 << 20) - 1, "1.0 MiB"}, /* not 1024.0 KiB */
        {1 << 20, "1.0 MiB"},
        {UINT64_C(47) << 30, "47.0 GiB"},
        {UINT64_C(1) << 40, "1.0 TiB"},
        {UINT64_C(1) << 50, "1.0 PiB"},
        {(UINT64_C(1) << 60) - 1, "1.0 EiB"},
        {UINT64_MAX, "16.0 EiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(cuzk_size_of(cases[i].bytes).text, cases[i].text);
    }
}

/* Read back, a size is the number of bytes to half of its last digit, and its number is from 1.0 to
 * 1023.9. */
static void test_sizes_read_back(void **state)
{
    (void)state;
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    uint64_t seed = 11;
    for (int round = 0; round < 20000; round++) {
        uint64_t bytes = cuzk_test_random(&seed) >> round % 64;
        bytes = round % 5 == 0 ? (UINT64_C(1) << round % 64) - 1 : bytes;
        char unit[8];
        double number, scale = 1;
        size_t k = 0;
        assert_int_equal(sscanf(cuzk_size_of(bytes).text, "%lf %7s", &number, unit), 2);
        for (; strcmp(unit, units[k]) != 0; k++) {
            assert_true(k + 1 < sizeof units / sizeof *units);
            scale *= 1024;
        }
        double off = number - (double)bytes / scale;
        assert_true(k == 0 ? off == 0 : off < 0.0501 && off > -0.0501);
        assert_true(number < 1024 && (k == 0 || number >= 1));
    }
}

static void test_times(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {
        {-1, "0.0 s"},
        {0, "0.0 s"},
        {0.04, "0.0 s"},
        {12.34, "12.3 s"},
        {59.94, "59.9 s"},
        {59.96, "1 min 0 s"}, /* not 60.0 s */
        {60, "1 min 0 s"},
        {61.9, "1 min 1 s"},
        {3599.9, "59 min 59 s"},
        {3600, "1 h 0 min"},
        {86399, "23 h 59 min"},
        {86400, "1 d 0 h"},
        {86400 * 6 + 7200 + 59, "6 d 2 h"},
        {86400.0 * 36500, "36500 d 0 h"},
        {1e300, "11574074074 d 1 h"}, /* as much as anybody may tell */
        {(double)INFINITY, "11574074074 d 1 h"},
        {-(double)INFINITY, "0.0 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(cuzk_session_time_of(cases[i].seconds).text, cases[i].text);
    }
}

/* ---- numbers of options ---------------------------------------------------------------------- */

static cuzk_cli_args args_of(const char *command)
{
    cuzk_cli_args args = {.command = cuzk_cli_find_command(command)};
    assert_non_null(args.command);
    return args;
}

struct seconds_case {
    const char *text;
    uint64_t ns; /* 0: refused */
    bool taken;
};

static void read_seconds(void *user)
{
    struct seconds_case *c = user;
    cuzk_cli_args args = args_of("status");
    c->ns = 0;
    c->taken = cuzk_session_seconds(&args, &c->ns, "--timeout", c->text);
}

static void test_seconds(void **state)
{
    (void)state;
    static const struct seconds_case cases[] = {
        {"1", 1000000000, true},   {"0.001", 1000000, true},
        {"2.5", 2500000000, true}, {"31622400", UINT64_C(31622400000000000), true},
        {"0", 0, false},           {"0.0009", 0, false},
        {"-1", 0, false},          {"", 0, false},
        {"x", 0, false},           {"1s", 0, false},
        {"1 ", 0, false},          {"1,5", 0, false},
        {"31622401", 0, false},    {"inf", 0, false},
        {"nan", 0, false},         {"1e400", 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seconds_case c = cases[i];
        char *said = captured(STDERR_FILENO, read_seconds, &c), wanted[120];
        assert_int_equal(c.taken, cases[i].taken);
        assert_int_equal(c.ns, cases[i].ns); /* left alone where it is refused */
        snprintf(wanted, sizeof wanted,
                 "--timeout: \"%s\" is not a number of seconds from 0.001 to 31622400", c.text);
        if (c.taken) {
            assert_string_equal(said, "");
        } else {
            assert_holds(said, wanted);
        }
        free(said);
    }
}

/* ---- ends of jobs ---------------------------------------------------------------------------- */

static void test_ends(void **state)
{
    (void)state;
    uint8_t byte = 1;
    static const struct {
        unsigned status;
        bool has_proof;
        const char *reason, *text;
        cuzk_status result;
    } cases[] = {
        {1, true, "", "", CUZK_OK},
        {1, false, "", "job j: the daemon calls it completed and sends no proof", CUZK_E_INTERNAL},
        {0, true, "", "job j: unknown: ", CUZK_E_INVALID_PROOF},
        {2, true, "partition 3: no", "job j: failed: partition 3: no", CUZK_E_INVALID_PROOF},
        {3, true, "", "job j: cancelled", CUZK_E_CANCELLED},
        {3, true, "by an operator", "job j: cancelled: by an operator", CUZK_E_CANCELLED},
        {4, true, "", "job j: not done in time; it goes on: cuzk await asks again",
         CUZK_E_DEADLINE},
        {99, true, "later", "job j: unknown: later", CUZK_E_INVALID_PROOF},
        {0x80000000u, true, "", "job j: unknown: ", CUZK_E_INVALID_PROOF},
    };
    static const char *const names[] = {"unknown", "completed", "failed", "cancelled", "timeout"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_cli_args args = args_of("await");
        cuzk_session session = {.args = &args};
        Cuzk__V1__AwaitProofResponse answer;
        cuzk__v1__await_proof_response__init(&answer);
        answer.job_id = (char *)"j";
        answer.status = (Cuzk__V1__AwaitProofResponse__Status)cases[i].status;
        answer.error_message = (char *)cases[i].reason;
        answer.proof = (ProtobufCBinaryData){cases[i].has_proof, &byte};
        assert_int_equal(cuzk_session_completed(&session, &answer), cases[i].result == CUZK_OK);
        assert_int_equal(args.err.status, cases[i].result);
        assert_string_equal(args.err.text, cases[i].text);
        assert_string_equal(cuzk_session_status_name(answer.status),
                            cases[i].status < 5 ? names[cases[i].status] : "unknown");
        if (cases[i].result != CUZK_OK) { /* never a usage error */
            assert_int_equal(cuzk_status_exit_code(args.err.status), CUZK_EXIT_FAILED);
        }
    }
}

/* What a daemon says may be long; the message begins with the job all the same, and ends in time.
 */
static void test_long_words(void **state)
{
    (void)state;
    cuzk_cli_args args = args_of("await");
    cuzk_session session = {.args = &args};
    Cuzk__V1__AwaitProofResponse answer;
    char *words = malloc(100001);
    memset(words, 'w', 100000);
    words[100000] = '\0';
    cuzk__v1__await_proof_response__init(&answer);
    for (unsigned status = 0; status < 5; status++) {
        answer.status = (Cuzk__V1__AwaitProofResponse__Status)status;
        answer.job_id = (char *)"j";
        answer.error_message = words;
        assert_false(cuzk_session_completed(&session, &answer));
        assert_int_equal(strncmp(args.err.text, "job j: ", 7), 0);
        answer.job_id = words;
        assert_false(cuzk_session_completed(&session, &answer));
        assert_in_range(strlen(args.err.text), 100, CUZK_ERROR_TEXT_MAX - 1);
    }
    free(words);
}

/* ---- what a failed call means ---------------------------------------------------------------- */

static cuzk_client *open_client(const char *address)
{
    cuzk_client *client = NULL;
    cuzk_client_options options = {.address = address};
    cuzk_error err;
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_client_open(&client, &options, &err), CUZK_OK);
    return client;
}

static void test_codes(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *name;
        cuzk_status status;
    } codes[] = {
        {1, "CANCELLED", CUZK_E_CANCELLED},        {2, "UNKNOWN", CUZK_E_INTERNAL},
        {3, "INVALID_ARGUMENT", CUZK_E_FORMAT},    {5, "NOT_FOUND", CUZK_E_NOT_FOUND},
        {6, "ALREADY_EXISTS", CUZK_E_MISMATCH},    {7, "PERMISSION_DENIED", CUZK_E_UNAVAILABLE},
        {8, "RESOURCE_EXHAUSTED", CUZK_E_MEMORY},  {9, "FAILED_PRECONDITION", CUZK_E_FILE},
        {10, "ABORTED", CUZK_E_INTERNAL},          {11, "OUT_OF_RANGE", CUZK_E_FORMAT},
        {12, "UNIMPLEMENTED", CUZK_E_UNSUPPORTED}, {13, "INTERNAL", CUZK_E_INTERNAL},
        {15, "DATA_LOSS", CUZK_E_INTERNAL},        {16, "UNAUTHENTICATED", CUZK_E_UNAVAILABLE},
    };
    cuzk_client *client = open_client("prover.invalid:9820");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        cuzk_error err;
        char wanted[200];
        err.status = CUZK_E_DEVICE; /* of an earlier call: not kept */
        snprintf(err.text, sizeof err.text, "stale");
        assert_int_equal(cuzk_client_explain(&err, client, CUZK_METHOD_SUBMIT,
                                             (grpc_status_code)codes[i].code, "its words"),
                         CUZK_REACH_DAEMON);
        assert_int_equal(err.status, codes[i].status);
        assert_int_equal(cuzk_status_exit_code(err.status), CUZK_EXIT_FAILED);
        snprintf(wanted, sizeof wanted, "the daemon at prover.invalid:9820: %s: its words",
                 codes[i].name);
        assert_string_equal(err.text, wanted);
        assert_int_equal(cuzk_client_explain(&err, client, CUZK_METHOD_SUBMIT,
                                             (grpc_status_code)codes[i].code, ""),
                         CUZK_REACH_DAEMON);
        assert_holds(err.text, "without a reason");
    }
    cuzk_error err;
    cuzk_error_clear(&err);
    assert_int_equal(
        cuzk_client_explain(&err, client, CUZK_METHOD_AWAIT, (grpc_status_code)99, "odd"),
        CUZK_REACH_DAEMON);
    assert_int_equal(err.status, CUZK_E_INTERNAL);
    assert_holds(err.text, "the daemon at prover.invalid:9820: status 99: odd");
    /* the two that depend on the connection, which does not stand here */
    assert_false(cuzk_client_explain(&err, client, CUZK_METHOD_AWAIT, GRPC_STATUS_DEADLINE_EXCEEDED,
                                     "Deadline Exceeded"));
    assert_int_equal(err.status, CUZK_E_DEADLINE);
    assert_string_equal(err.text, "AwaitProof to prover.invalid:9820: no answer in time; there is "
                                  "no connection yet");
    assert_int_equal(
        cuzk_client_explain(&err, client, CUZK_METHOD_CANCEL, GRPC_STATUS_UNAVAILABLE, "gone"),
        CUZK_REACH_LOST);
    assert_int_equal(err.status, CUZK_E_UNAVAILABLE);
    assert_string_equal(err.text,
                        "CancelProof to prover.invalid:9820: the connection was lost: gone");
    cuzk_client_close(client);
}

static void test_no_connection(void **state)
{
    (void)state;
    static const struct {
        const char *address, *grpc, *text;
    } cases[] = {
        {"h.invalid:1",
         "failed to connect to all addresses; last error: UNKNOWN: ipv4:1.2.3.4:1: Failed to "
         "connect to remote host: Connection refused",
         "connecting to h.invalid:1: ipv4:1.2.3.4:1: Failed to connect to remote host: Connection "
         "refused; is the daemon running (cuzk serve)?"},
        {"h.invalid:1", "DNS resolution failed for h.invalid:1: nothing",
         "connecting to h.invalid:1: DNS resolution failed for h.invalid:1: nothing"},
        {"h.invalid:1", "empty address list: x", "connecting to h.invalid:1: empty address list"},
        {"h.invalid:1",
         "connections to all backends failing; last error: UNAVAILABLE: a; last error: UNKNOWN: b",
         "connecting to h.invalid:1: b"},
        {"h.invalid:1",
         "failed to connect to all addresses; last error: Trying to connect an "
         "http1.x server",
         "this is not gRPC, perhaps the daemon's HTTP port"},
        {"https://h.invalid:1", "failed to connect to all addresses; last error: SSL handshake",
         "connecting to https://h.invalid:1: SSL handshake (TLS: does the daemon use it"},
        {"unix:///nowhere/at-all/cuzk.sock", "failed to connect to all addresses",
         "connecting to unix:///nowhere/at-all/cuzk.sock: there is no such socket; is the daemon "
         "running (cuzk serve)?"},
        {"unix:/dev/null/x", "failed to connect to all addresses", ": Not a directory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_client *client = open_client(cases[i].address);
        cuzk_error err;
        assert_int_equal(cuzk_client_explain(&err, client, CUZK_METHOD_STATUS,
                                             GRPC_STATUS_UNAVAILABLE, cases[i].grpc),
                         CUZK_REACH_NONE);
        assert_int_equal(err.status, CUZK_E_UNAVAILABLE);
        assert_holds(err.text, cases[i].text);
        cuzk_client_close(client);
    }
    char path[160] = "unix:/tmp/";
    memset(path + strlen(path), 'p', 120);
    cuzk_client *client = open_client(path);
    cuzk_error err;
    assert_int_equal(cuzk_client_explain(&err, client, CUZK_METHOD_STATUS, GRPC_STATUS_UNAVAILABLE,
                                         "failed to connect to all addresses"),
                     CUZK_REACH_NONE);
    assert_holds(err.text, "the path is too long for a socket");
    cuzk_client_close(client);
}

/* ---- whether a lost daemon is looked for again ------------------------------------------------
 */

static void test_again(void **state)
{
    (void)state;
    static const struct {
        cuzk_client_reach reach;
        bool was_connected;
        unsigned n_tries;
        uint64_t timeout_ns, spent_ns;
        bool again;
    } cases[] = {
        {CUZK_REACH_DAEMON, true, 0, 0, 0, false}, /* its word holds */
        {CUZK_REACH_LOST, false, 0, 0, 0, false},  /* nobody was ever there */
        {CUZK_REACH_NONE, false, 0, 0, 0, false},
        {CUZK_REACH_LOST, true, 120, 0, 0, false},                 /* a minute is over */
        {CUZK_REACH_LOST, true, 0, 1000000000, 1000000000, false}, /* --timeout is */
        {CUZK_REACH_LEAVING, true, 119, 0, UINT64_C(3600000000000), true},
        {CUZK_REACH_NONE, true, 0, UINT64_C(100000000000), 2000000000, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_cli_args args = args_of("await");
        cuzk_session session = {.args = &args,
                                .timeout_ns = cases[i].timeout_ns,
                                .was_connected = cases[i].was_connected};
        uint64_t begin_ns = cuzk_cli_now_ns();
        cuzk_session_search search = {.begin_ns = begin_ns - cases[i].spent_ns,
                                      .n_tries = cases[i].n_tries};
        uint64_t limit_ns = 77;
        assert_int_equal(cuzk_session_again(&session, &search, &limit_ns, cases[i].reach),
                         cases[i].again);
        if (!cases[i].again) {
            assert_int_equal(search.n_tries, cases[i].n_tries);
            continue;
        }
        assert_int_equal(search.n_tries, cases[i].n_tries + 1);
        uint64_t waited_ns = cuzk_cli_now_ns() - begin_ns;
        assert_true(waited_ns >= 490000000);
        if (cases[i].timeout_ns == 0) {
            assert_int_equal(limit_ns, 0);
        } else { /* what is left of it */
            uint64_t left = cases[i].timeout_ns - cases[i].spent_ns;
            assert_in_range(limit_ns, left - waited_ns, left - 490000000);
        }
    }
}

static void test_method_names(void **state)
{
    (void)state;
    static const char *const names[CUZK_METHOD_COUNT] = {
        "SubmitProof",  "AwaitProof",  "Prove",       "CancelProof",     "GetStatus",
        "GetMetrics",   "PreloadSRS",  "EvictSRS",    "RegisterCircuit", "ListCircuits",
        "ProveWitness", "ListDevices", "DrainDevice", "AddDevice"};
    for (int i = 0; i < CUZK_METHOD_COUNT; i++) {
        assert_string_equal(cuzk_client_method_name((cuzk_client_method)i), names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes), cmocka_unit_test(test_sizes_read_back),
        cmocka_unit_test(test_times), cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_ends),  cmocka_unit_test(test_long_words),
        cmocka_unit_test(test_codes), cmocka_unit_test(test_no_connection),
        cmocka_unit_test(test_again), cmocka_unit_test(test_method_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
