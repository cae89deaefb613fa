/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sizes, turns, hostile clients, and the end: what is bounded, and that others do not notice. */
#include "base/clock.h"
#include "server/raw_http2.h"
#include "server/rpc_test.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { MB = 1 << 20 };

static setting s;
static raw hostile[4];

static void expect(const answer *a, grpc_status_code code, const char *part)
{
    if (a->code != code || strstr(a->text, part) == NULL) {
        fail_msg("status %d \"%s\", expected %d \"…%s…\"", a->code, a->text, code, part);
    }
}

static void sleep_ms(unsigned ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000l}, NULL);
}

typedef struct {
    uint64_t max_message, receive_ns, answer_ns;
    unsigned max_receives, max_connections, max_streams, max_calls;
} limits;

static void change(cuzk_rpc_options *options, void *user)
{
    const limits *l = user;
    options->max_message = l->max_message;
    options->receive_ns = l->receive_ns;
    options->answer_ns = l->answer_ns;
    options->max_receives = l->max_receives;
    options->max_connections = l->max_connections;
    options->max_streams = l->max_streams;
    options->max_calls = l->max_calls;
}

static void start(limits l)
{
    setting_start(&s, change, &l);
}

static void end(void)
{
    for (int i = 0; i < 4; i++) {
        raw_close(&hostile[i]);
    }
    setting_end(&s);
}

/* Read frames until a count is there or the connection is closed; false after 10 s. */
static bool read_until(raw *r, const uint64_t *count, uint64_t at_least)
{
    for (int i = 0; i < 1000 && *count < at_least && !r->is_closed; i++) {
        raw_read(r, 10);
    }
    return *count >= at_least || r->is_closed;
}

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        hostile[i].fd = -1;
    }
    return 0;
}

/* A small submission of a well-behaved client. Returned: its time in ms. */
static unsigned submit(unsigned deadline_ms)
{
    size_t n;
    answer a;
    uint8_t *request = make_submit(&n, "good", 4, "x", 1);
    uint64_t begin = cuzk_now_ns();
    client_call(s.client, &a, PROVING "SubmitProof", request, n, deadline_ms);
    expect(&a, GRPC_STATUS_OK, "");
    answer_clear(&a);
    free(request);
    return (unsigned)((cuzk_now_ns() - begin) / 1000000);
}

/* Wait until as many messages are being received, and as many wait. */
static void wait_for(unsigned receiving, unsigned waiting)
{
    cuzk_rpc_view view;
    for (int i = 0; i < 10000; i++) {
        cuzk_rpc_look(s.rpc, &view);
        if (view.receiving == receiving && view.waiting == waiting) {
            return;
        }
        sleep_ms(1);
    }
    fail_msg("%u receiving, %u waiting, expected %u and %u", view.receiving, view.waiting,
             receiving, waiting);
}

static void sizes(void **state)
{
    (void)state;
    start((limits){.max_message = 4 * MB});
    uint8_t *vanilla = malloc(4 * MB);
    memset(vanilla, 'v', 4 * MB);
    for (int over = 0; over < 2; over++) {
        size_t n, head;
        free(make_submit(&head, "", 1, vanilla, 4 * MB - 64));
        uint8_t *request = make_submit(&n, "", 1, vanilla, 4 * MB - (head - (4 * MB - 64)) + over);
        assert_int_equal(n, 4 * MB + over);
        answer a;
        client_call(s.client, &a, PROVING "SubmitProof", request, n, 0);
        if (over == 0) {
            expect(&a, GRPC_STATUS_OK, "");
        } else {
            expect(&a, GRPC_STATUS_RESOURCE_EXHAUSTED, "4194304");
        }
        answer_clear(&a);
        free(request);
    }
    double_view view;
    double_look(s.engine, &view);
    assert_int_equal(view.last_payload_bytes, 4 * MB);
    assert_int_equal(view.handed_over, 4 * MB);
    assert_int_equal(view.submitted, 1);
    free(vanilla);
    end();
}

static bool has_reserved(const double_view *view, unsigned mb)
{
    return view->reserved == (uint64_t)mb * MB;
}

static bool has_waiters(const double_view *view, unsigned n)
{
    return view->waiters == n;
}

static bool has_submitted(const double_view *view, unsigned n)
{
    return view->submitted == n;
}

static void memory_is_in_the_engine_s_books(void **state)
{
    (void)state;
    start((limits){.max_message = 2 * MB, .max_receives = 3});
    assert_true(double_wait(s.engine, has_reserved, 6));
    /* payloads take their place along and another one is reserved; the engine frees with the job */
    double_hold(s.engine, true, false);
    uint8_t *vanilla = calloc(1, 3 * MB / 2);
    size_t n;
    uint8_t *request = make_submit(&n, "", 1, vanilla, 3 * MB / 2);
    call *calls[5];
    for (int i = 0; i < 5; i++) {
        calls[i] = client_start(s.client, PROVING "SubmitProof", request, n, 0);
    }
    assert_true(double_wait(s.engine, has_reserved, 6 + 10));
    double_hold(s.engine, false, false);
    for (int i = 0; i < 5; i++) {
        answer a;
        call_wait(calls[i], &a);
        expect(&a, GRPC_STATUS_OK, "");
        answer_clear(&a);
    }
    free(vanilla);
    free(request);
    assert_true(double_wait(s.engine, has_reserved, 6));
    client_close(s.client);
    cuzk_rpc_destroy(s.rpc);
    assert_true(double_wait(s.engine, has_reserved, 0));
    double_destroy(s.engine);
    grpc_shutdown();
}

static void uploads_wait_for_memory(void **state)
{
    (void)state;
    setting t = {0};
    grpc_init();
    t.engine = double_create();
    double_memory(t.engine, 4 * MB, 4 * MB);
    cuzk_rpc_options options;
    setting_options(&t, &options);
    options.max_message = 2 * MB;
    cuzk_error err = {0};
    assert_int_equal(cuzk_rpc_create(&t.rpc, &options, &err), CUZK_OK);
    t.client = client_open(cuzk_rpc_address(t.rpc, 0), NULL);
    assert_true(double_wait(t.engine, has_reserved, 4));
    double_hold(t.engine, true, false);
    uint8_t *vanilla = calloc(1, 3 * MB / 2);
    size_t n;
    uint8_t *request = make_submit(&n, "", 1, vanilla, 3 * MB / 2);
    call *calls[6];
    for (int i = 0; i < 6; i++) {
        calls[i] = client_start(t.client, PROVING "SubmitProof", request, n, 0);
    }
    /* two places: two payloads are in, the others wait, and status answers */
    assert_true(double_wait(t.engine, has_submitted, 2));
    sleep_ms(50);
    double_view view;
    double_look(t.engine, &view);
    assert_int_equal(view.submitted, 2);
    assert_int_equal(view.reserved, 4 * MB);
    answer a;
    client_call(t.client, &a, PROVING "GetStatus", "", 0, 1000);
    expect(&a, GRPC_STATUS_OK, "");
    answer_clear(&a);
    double_hold(t.engine, false, false);
    for (int i = 0; i < 6; i++) {
        call_wait(calls[i], &a);
        expect(&a, GRPC_STATUS_OK, "");
        answer_clear(&a);
    }
    free(vanilla);
    free(request);
    setting_end(&t);
}

static void a_small_budget_lowers_the_limit(void **state)
{
    (void)state;
    cuzk_engine *engine = double_create();
    double_memory(engine, 3 * MB, 3 * MB);
    setting t = {.engine = engine};
    cuzk_rpc_options options;
    setting_options(&t, &options);
    cuzk_rpc *rpc;
    cuzk_error err = {0};
    assert_int_equal(cuzk_rpc_create(&rpc, &options, &err), CUZK_OK);
    client *c = client_open(cuzk_rpc_address(rpc, 0), NULL);
    uint8_t *vanilla = calloc(1, 3 * MB);
    size_t n;
    uint8_t *request = make_submit(&n, "", 1, vanilla, 3 * MB);
    answer a;
    client_call(c, &a, PROVING "SubmitProof", request, n, 0);
    expect(&a, GRPC_STATUS_RESOURCE_EXHAUSTED, "3145728");
    free(request);
    free(vanilla);
    client_close(c);
    cuzk_rpc_destroy(rpc);
    double_memory(engine, 0, 0);
    assert_int_equal(cuzk_rpc_create(&rpc, &options, &err), CUZK_E_MEMORY);
    assert_non_null(strstr(err.text, "no room for any message"));
    double_destroy(engine);
}

/* A call whose message has begun and does not go on. */
static void begin_slow(raw *r, uint32_t stream, const char *path)
{
    assert_true(raw_call(r, stream, path));
    assert_true(raw_message_head(r, stream, 1000));
}

static void slow_uploads_leave_room(void **state)
{
    (void)state;
    start((limits){.max_message = MB, .max_receives = 4});
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    for (uint32_t i = 0; i < 10; i++) {
        begin_slow(&hostile[0], 2 * i + 1, "/cuzk.v1.ProvingEngine/Prove");
    }
    /* one connection does not get the last quarter of the places */
    wait_for(3, 7);
    assert_true(submit(15000) < 12000);
    end();
}

static void slow_uploads_are_given_up(void **state)
{
    (void)state;
    start((limits){.max_message = MB, .max_receives = 1, .receive_ns = 100000000});
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    begin_slow(&hostile[0], 1, "/cuzk.v1.ProvingEngine/Prove");
    wait_for(1, 0);
    raw_read(&hostile[0], 250);
    assert_int_equal(hostile[0].n_headers, 0); /* nobody waits */
    assert_true(submit(15000) < 12000);
    assert_true(read_until(&hostile[0], &hostile[0].n_headers, 1));
    wait_for(0, 0);
    end();
}

static void many_slow_uploads_lose_their_turn(void **state)
{
    (void)state;
    start((limits){.max_message = MB, .max_receives = 1}); /* 20 s for each, were it alone */
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    for (uint32_t i = 0; i < 40; i++) {
        begin_slow(&hostile[0], 2 * i + 1, "/cuzk.v1.ProvingEngine/Prove");
    }
    wait_for(1, 39);
    assert_true(submit(15000) < 12000);
    end();
}

/* One that came in the middle of hundreds of silent calls, older and newer ones: they are of two
 * connections, and each loses a turn only until one of its calls was given up. */
static void silent_connections_stand_behind(void **state)
{
    (void)state;
    enum { EACH = 300 };
    start((limits){.max_message = MB, .max_receives = 1, .receive_ns = 500000000});
    for (int i = 0; i < 2; i++) {
        raw_open(&hostile[i], cuzk_rpc_address(s.rpc, 0));
    }
    size_t n;
    uint8_t *request = make_submit(&n, "middle", 4, "x", 1);
    for (uint32_t i = 0; i < EACH; i++) {
        begin_slow(&hostile[0], 2 * i + 1, "/cuzk.v1.ProvingEngine/Prove");
    }
    cuzk_rpc_view view;
    do {
        cuzk_rpc_look(s.rpc, &view);
    } while (view.receiving + view.waiting < EACH - 3);
    call *middle = client_start(s.client, PROVING "SubmitProof", request, n, 20000);
    for (uint32_t i = 0; i < EACH; i++) {
        begin_slow(&hostile[1], 2 * i + 1, "/cuzk.v1.ProvingEngine/Prove");
    }
    answer a;
    call_wait(middle, &a); /* 300 turns of half a second, were the others served in their turn */
    expect(&a, GRPC_STATUS_OK, "");
    answer_clear(&a);
    free(request);
    end();
}

static void what_keeps_coming_is_not_given_up(void **state)
{
    (void)state;
    start((limits){.max_message = 16 * MB, .max_receives = 1});
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    assert_true(raw_call(&hostile[0], 1, "/cuzk.v1.ProvingEngine/SubmitProof"));
    assert_true(raw_message_head(&hostile[0], 1, 15 * MB));
    wait_for(1, 0);
    raw_open(&hostile[1], cuzk_rpc_address(s.rpc, 0));
    for (uint32_t i = 0; i < 30; i++) {
        begin_slow(&hostile[1], 2 * i + 1, "/cuzk.v1.ProvingEngine/Prove");
    }
    wait_for(1, 30);
    /* a message that has stopped is given up after a second */
    for (int i = 0; i < 90; i++) {
        raw_zeros(&hostile[0], 1, MB / 8, 100);
        raw_read(&hostile[0], 20);
    }
    assert_int_equal(hostile[0].n_headers, 0);
    assert_int_equal(hostile[1].n_headers, 0);
    wait_for(1, 30);
    assert_true(submit(15000) < 12000);
    assert_true(read_until(&hostile[0], &hostile[0].n_headers, 1));
    end();
}

static void slow_small_messages_are_given_up(void **state)
{
    (void)state;
    start((limits){.max_message = MB});
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    for (uint32_t i = 0; i < 70; i++) {
        begin_slow(&hostile[0], 2 * i + 1, "/cuzk.v1.ProvingEngine/GetStatus");
    }
    answer a;
    client_call(s.client, &a, PROVING "GetStatus", "", 0, 10000);
    expect(&a, GRPC_STATUS_OK, "");
    answer_clear(&a);
    end();
}

static void endless_messages_are_stopped(void **state)
{
    (void)state;
    start((limits){.max_message = MB});
    static const char *const paths[] = {"/cuzk.v1.ProvingEngine/SubmitProof",
                                        "/cuzk.v1.ProvingEngine/GetStatus"};
    for (int i = 0; i < 2; i++) {
        raw_open(&hostile[i], cuzk_rpc_address(s.rpc, 0));
        assert_true(raw_call(&hostile[i], 1, paths[i]));
        assert_true(raw_message_head(&hostile[i], 1, 2000u * MB));
        size_t sent = 0;
        for (int k = 0; k < 1000 && hostile[i].n_headers == 0; k++) {
            sent += raw_zeros(&hostile[i], 1, MB, 100);
        }
        /* with room for a busy machine between two looks */
        assert_true(sent < (size_t)900 * MB);
        assert_int_equal(hostile[i].n_headers, 1);
        assert_true(submit(15000) < 12000);
    }
    end();
}

static void many_streams(void **state)
{
    (void)state;
    start((limits){.max_message = MB, .max_streams = 500, .receive_ns = UINT64_MAX / 4});
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    for (uint32_t i = 0; i < 500; i++) {
        begin_slow(&hostile[0], 2 * i + 1, "/cuzk.v1.ProvingEngine/Prove");
    }
    wait_for(12, 488);
    /* one more is refused, without harm to the others */
    raw_call(&hostile[0], 1001, "/cuzk.v1.ProvingEngine/Prove");
    assert_true(read_until(&hostile[0], &hostile[0].n_reset, 1));
    assert_true(submit(15000) < 12000);
    raw_close(&hostile[0]);
    wait_for(0, 0);
    cuzk_rpc_view view;
    for (int i = 0; i < 1000; i++) {
        cuzk_rpc_look(s.rpc, &view);
        if (view.calls == 0) {
            break;
        }
        sleep_ms(1);
    }
    assert_int_equal(view.calls, 0);
    end();
}

static void answers_that_are_not_read(void **state)
{
    (void)state;
    start((limits){.max_message = MB, .answer_ns = 100000000});
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    raw_frame(&hostile[0], 4, 0, 0, "\0\4\0\0\0\0", 6); /* windows of 0: nothing may be sent */
    for (uint32_t i = 0; i < 50; i++) {
        raw_call(&hostile[0], 2 * i + 1, "/cuzk.v1.ProvingEngine/GetStatus");
        raw_frame(&hostile[0], 0, 1, 2 * i + 1, "\0\0\0\0\0", 5);
    }
    cuzk_rpc_view view;
    bool had_unread = false;
    for (int i = 0; i < 10000; i++) {
        cuzk_rpc_look(s.rpc, &view);
        had_unread |= view.bytes_unread > 0;
        if (had_unread && view.calls == 0 && view.bytes_unread == 0 && view.calls_total >= 50) {
            break;
        }
        sleep_ms(1);
    }
    assert_true(had_unread);
    assert_int_equal(view.calls, 0);
    assert_int_equal(view.bytes_unread, 0);
    raw_read(&hostile[0], 20);
    assert_int_equal(hostile[0].n_data, 0);
    assert_true(submit(15000) < 12000);
    end();
}

static void calls_of_all_connections(void **state)
{
    (void)state;
    start((limits){.max_message = MB, .max_calls = 20});
    double_hold(s.engine, false, true);
    size_t n;
    uint8_t *request = make_prove(&n, "p", 1, "x", 1);
    call *calls[20];
    for (int i = 0; i < 20; i++) {
        calls[i] = client_start(s.client, PROVING "Prove", request, n, 0);
    }
    cuzk_rpc_view view;
    for (int i = 0; i < 1000; i++) {
        cuzk_rpc_look(s.rpc, &view);
        if (view.calls == 20) {
            break;
        }
        sleep_ms(1);
    }
    answer a;
    client_call(s.client, &a, PROVING "GetStatus", "", 0, 0);
    expect(&a, GRPC_STATUS_RESOURCE_EXHAUSTED, "20 calls are open already");
    double_hold(s.engine, false, false);
    for (int i = 0; i < 20; i++) {
        call_wait(calls[i], &a);
        expect(&a, GRPC_STATUS_OK, "");
        answer_clear(&a);
    }
    free(request);
    end();
}

static void wait_for_calls(unsigned n)
{
    cuzk_rpc_view view;
    for (int i = 0; i < 10000; i++) {
        cuzk_rpc_look(s.rpc, &view);
        if (view.calls == n) {
            return;
        }
        sleep_ms(1);
    }
    fail_msg("%u calls, expected %u", view.calls, n);
}

/* Until a call is served and gone, others with RESOURCE_EXHAUSTED: a place is free then. */
static void wait_for_place(unsigned max_calls)
{
    uint64_t begin = cuzk_now_ns();
    bool is_served = false;
    while (!is_served && cuzk_now_ns() - begin < 20000000000u) {
        answer a;
        client_call(s.client, &a, PROVING "GetStatus", "", 0, 15000);
        is_served = a.code == GRPC_STATUS_OK;
        if (!is_served) {
            expect(&a, GRPC_STATUS_RESOURCE_EXHAUSTED, "calls are open already");
            sleep_ms(10);
        }
        answer_clear(&a);
    }
    assert_true(is_served);
    cuzk_rpc_view view;
    do {
        cuzk_rpc_look(s.rpc, &view);
        sleep_ms(1);
    } while (view.calls >= max_calls && cuzk_now_ns() - begin < 30000000000u);
    assert_true(view.calls < max_calls);
}

static void silent_calls_make_place(void **state)
{
    (void)state;
    enum { CALLS = 100, SILENT = CALLS - 2 };
    start((limits){.max_message = MB, .max_calls = CALLS});
    double_hold(s.engine, false, true);
    size_t n;
    answer a;
    uint8_t *request = make_prove(&n, "p", 1, "x", 1);
    call *calls[CALLS];
    for (unsigned i = 0; i < 2; i++) {
        calls[i] = client_start(s.client, PROVING "Prove", request, n, 0);
        wait_for_calls(i + 1);
    }
    assert_true(double_wait(s.engine, has_waiters, 2));
    /* more than can be received at once, so that some are in line */
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    for (uint32_t i = 0; i < SILENT; i++) {
        assert_true(raw_call(&hostile[0], 2 * i + 1, "/cuzk.v1.ProvingEngine/AwaitProof"));
    }
    wait_for_calls(CALLS);
    /* calls whose requests are there take the place of all silent ones, but not of one another */
    for (unsigned i = 2; i < CALLS; i++) {
        wait_for_place(CALLS);
        calls[i] = client_start(s.client, PROVING "Prove", request, n, 0);
        assert_true(double_wait(s.engine, has_waiters, i + 1));
    }
    assert_true(read_until(&hostile[0], &hostile[0].n_headers, SILENT));
    assert_int_equal(hostile[0].n_headers, SILENT);
    wait_for_calls(CALLS);
    client_call(s.client, &a, PROVING "GetStatus", "", 0, 0);
    expect(&a, GRPC_STATUS_RESOURCE_EXHAUSTED, "100 calls are open already");
    answer_clear(&a);
    double_hold(s.engine, false, false);
    for (unsigned i = 0; i < CALLS; i++) {
        call_wait(calls[i], &a);
        expect(&a, GRPC_STATUS_OK, "");
        answer_clear(&a);
    }
    free(request);
    end();
}

static void connections(void **state)
{
    (void)state;
    start((limits){.max_connections = 3});
    submit(0);
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    raw_open(&hostile[1], cuzk_rpc_address(s.rpc, 0));
    raw_connect(&hostile[2], cuzk_rpc_address(s.rpc, 0));
    assert_true(read_until(&hostile[2], &hostile[2].n_frames, 1000));
    assert_true(hostile[2].is_closed);
    raw_read(&hostile[1], 1);
    assert_false(hostile[1].is_closed);
    submit(0);
    raw_close(&hostile[1]);
    cuzk_rpc_view view;
    do {
        sleep_ms(20);
        cuzk_rpc_look(s.rpc, &view);
    } while (view.connections > 2);
    raw_open(&hostile[3], cuzk_rpc_address(s.rpc, 0));
    raw_read(&hostile[3], 20);
    assert_false(hostile[3].is_closed);
    cuzk_rpc_look(s.rpc, &view);
    assert_int_equal(view.connections_total, 4);
    assert_int_equal(view.connections_refused, 1);
    end();
}

static char socket_address[96];

static void listen_on_both(cuzk_rpc_options *options, void *user)
{
    static const char *both[] = {"127.0.0.1:0", socket_address};
    (void)user;
    options->listen = both;
    options->n_listen = 2;
    options->max_connections = 6; /* half of them for the socket */
}

/* Clients that read nothing: gRPC waits for ever to write to them what ends their calls. */
static void clients_that_do_not_read_do_not_hold_the_end(void **state)
{
    (void)state;
    char folder[64];
    folder_make(folder);
    snprintf(socket_address, sizeof socket_address, "unix://%s/s", folder);
    setting_start(&s, listen_on_both, NULL);
    for (int i = 0; i < 3; i++) {
        raw_open(&hostile[i], cuzk_rpc_address(s.rpc, 1));
        for (uint32_t k = 0; k < 1000; k++) {
            raw_call(&hostile[i], 2 * k + 1, "/cuzk.v1.ProvingEngine/AwaitProof");
        }
    }
    /* two rounds of them were given up, and the third one's end finds the sockets full */
    cuzk_rpc_view view;
    do {
        sleep_ms(10);
        cuzk_rpc_look(s.rpc, &view);
    } while (view.calls_failed < 2 * 64);
    setting_end(&s); /* waits for all calls */
    for (int i = 0; i < 3; i++) {
        raw_close(&hostile[i]);
    }
    rmdir(folder);
}

/* A crowd on TCP does not keep out who comes by the Unix socket. */
static void places_of_unix_sockets(void **state)
{
    (void)state;
    char folder[64];
    folder_make(folder);
    snprintf(socket_address, sizeof socket_address, "unix://%s/s", folder);
    setting_start(&s, listen_on_both, NULL);
    submit(0);
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    raw_open(&hostile[1], cuzk_rpc_address(s.rpc, 0));
    raw_connect(&hostile[2], cuzk_rpc_address(s.rpc, 0));
    assert_true(read_until(&hostile[2], &hostile[2].n_frames, 1000));
    assert_true(hostile[2].is_closed);
    client *tcp = s.client, *local[3];
    for (int i = 0; i < 3; i++) {
        local[i] = client_open(cuzk_rpc_address(s.rpc, 1), NULL);
        s.client = local[i];
        submit(10000);
    }
    /* now all places are taken */
    raw_connect(&hostile[3], cuzk_rpc_address(s.rpc, 1));
    assert_true(read_until(&hostile[3], &hostile[3].n_frames, 1000));
    assert_true(hostile[3].is_closed);
    s.client = tcp;
    submit(0);
    cuzk_rpc_view view;
    do { /* the one that was closed last is counted behind that */
        sleep_ms(5);
        cuzk_rpc_look(s.rpc, &view);
    } while (view.connections_total < 6 || view.connections_refused < 2);
    assert_int_equal(view.connections_total, 6);
    assert_int_equal(view.connections_refused, 2);
    /* a place that is free again is TCP's */
    raw_close(&hostile[1]);
    do {
        sleep_ms(20);
        cuzk_rpc_look(s.rpc, &view);
    } while (view.connections > 5);
    raw_open(&hostile[1], cuzk_rpc_address(s.rpc, 0));
    raw_read(&hostile[1], 20);
    assert_false(hostile[1].is_closed);
    for (int i = 0; i < 3; i++) {
        client_close(local[i]);
    }
    end();
    folder_remove(folder);
}

static void abuse_of_http2(void **state)
{
    (void)state;
    start((limits){.max_message = MB});
    const char *address = cuzk_rpc_address(s.rpc, 0);
    uint8_t noise[4096];
    unsigned seed = 1;
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof noise; i++) {
            seed = seed * 1103515245 + 12345;
            noise[i] = (uint8_t)(seed >> 16);
        }
        raw_connect(&hostile[0], address);
        assert_true(write(hostile[0].fd, noise, sizeof noise) > 0);
        raw_close(&hostile[0]);
        raw_open(&hostile[0], address); /* broken after a good beginning */
        raw_frame(&hostile[0], (uint8_t)(round % 10), noise[0], noise[1] & 7, noise, 1 + noise[2]);
        raw_read(&hostile[0], 1);
        raw_close(&hostile[0]);
    }
    /* calls that are reset as soon as they have begun */
    raw_open(&hostile[1], address);
    for (uint32_t i = 0; i < 2000; i++) {
        raw_call(&hostile[1], 2 * i + 1, "/cuzk.v1.ProvingEngine/Prove");
        raw_frame(&hostile[1], 3, 0, 2 * i + 1, "\0\0\0\10", 4);
    }
    /* pings without end, answers not read for a while */
    raw_open(&hostile[2], address);
    for (int i = 0; i < 1000 && !hostile[2].is_closed; i++) {
        raw_frame(&hostile[2], 6, 0, 0, "12345678", 8);
    }
    /* settings without end, answers not read */
    raw_open(&hostile[3], address);
    for (int i = 0; i < 2000; i++) {
        raw_frame(&hostile[3], 4, 0, 0, "\0\4\0\0\xff\xff", 6);
    }
    assert_true(submit(15000) < 12000);
    end();
}

static void a_compressed_message_is_refused(void **state)
{
    (void)state;
    start((limits){.max_message = MB});
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    raw_call_with(&hostile[0], 1, "/cuzk.v1.ProvingEngine/GetStatus", "grpc-encoding", "gzip");
    raw_frame(&hostile[0], 0, 1, 1, "\1\0\0\0\1x", 6); /* the flag says compressed; END_STREAM */
    for (int i = 0; i < 1000 && hostile[0].n_headers + hostile[0].n_reset == 0; i++) {
        raw_read(&hostile[0], 10);
    }
    assert_true(hostile[0].n_headers + hostile[0].n_reset > 0);
    assert_int_equal(hostile[0].n_data, 0);
    assert_true(submit(15000) < 12000);
    end();
}

/* ---- the end ---- */

static void draining_lets_calls_finish(void **state)
{
    (void)state;
    start((limits){.max_message = MB});
    double_hold(s.engine, false, true);
    size_t n;
    uint8_t *request = make_prove(&n, "p", 1, "x", 1);
    call *k = client_start(s.client, PROVING "Prove", request, n, 0);
    assert_true(double_wait(s.engine, has_waiters, 1));
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    raw_read(&hostile[0], 10);
    cuzk_rpc_stop(s.rpc);
    read_until(&hostile[0], &hostile[0].n_data, UINT64_MAX);
    assert_true(hostile[0].is_closed); /* an idle connection is ended */
    answer late;
    client_call(s.client, &late, PROVING "GetStatus", "", 0, 0);
    expect(&late, GRPC_STATUS_UNAVAILABLE, "shutting down"); /* the other one is not */
    answer_clear(&late);
    raw_connect(&hostile[1], cuzk_rpc_address(s.rpc, 0));
    assert_int_equal(hostile[1].fd, -1);
    double_hold(s.engine, false, false);
    assert_true(cuzk_rpc_drain(s.rpc, cuzk_now_ns() + 5000000000u));
    answer a;
    call_wait(k, &a);
    expect(&a, GRPC_STATUS_OK, "");
    answer_clear(&a);
    client_call(s.client, &a, PROVING "Prove", request, n, 2000);
    assert_int_equal(a.code, GRPC_STATUS_UNAVAILABLE);
    free(request);
    end();
}

/* A client that calls without a pause, until a call of it is refused. */
typedef struct {
    client *client;
    pthread_t thread;
    atomic_uint n_calls;
    answer last;
} caller;

static void *call_on(void *argument)
{
    caller *c = argument;
    do {
        answer_clear(&c->last);
        client_call(c->client, &c->last, PROVING "GetStatus", "", 0, 0);
        atomic_fetch_add(&c->n_calls, 1);
    } while (c->last.code == GRPC_STATUS_OK);
    return NULL;
}

/* Whatever the moment at which a call meets the end: UNAVAILABLE, which clients repeat. */
static void calls_that_cross_the_end(void **state)
{
    enum { ROUNDS = 20, CALLERS = 4 };
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        start((limits){.max_message = MB});
        caller callers[CALLERS] = {{0}};
        for (int i = 0; i < CALLERS; i++) {
            callers[i].client = client_open(cuzk_rpc_address(s.rpc, 0), NULL);
            assert_int_equal(pthread_create(&callers[i].thread, NULL, call_on, &callers[i]), 0);
        }
        for (int i = 0; i < CALLERS; i++) {
            while (atomic_load(&callers[i].n_calls) < 3) {
                sleep_ms(1);
            }
        }
        cuzk_rpc_drain(s.rpc, cuzk_now_ns() + 5000000000u);
        for (int i = 0; i < CALLERS; i++) {
            pthread_join(callers[i].thread, NULL);
            expect(&callers[i].last, GRPC_STATUS_UNAVAILABLE, "");
            answer_clear(&callers[i].last);
            client_close(callers[i].client);
        }
        end();
    }
}

static void draining_has_an_end(void **state)
{
    (void)state;
    start((limits){.max_message = MB, .max_receives = 1});
    double_hold(s.engine, false, true);
    size_t n;
    uint8_t *request = make_prove(&n, "p", 1, "x", 1), *wait = make_await(&n, "p", 0);
    size_t n_wait = n;
    free(make_prove(&n, "p", 1, "x", 1));
    call *calls[4];
    calls[0] = client_start(s.client, PROVING "Prove", request, n, 0);
    assert_true(double_wait(s.engine, has_waiters, 1));
    calls[1] = client_start(s.client, PROVING "AwaitProof", wait, n_wait, 0);
    assert_true(double_wait(s.engine, has_waiters, 2));
    /* one that is not accepted yet, and one whose message waits behind a slow one */
    double_hold(s.engine, true, true);
    calls[2] = client_start(s.client, PROVING "Prove", request, n, 0);
    assert_true(double_wait(s.engine, has_submitted, 2));
    raw_open(&hostile[0], cuzk_rpc_address(s.rpc, 0));
    begin_slow(&hostile[0], 1, "/cuzk.v1.ProvingEngine/Prove");
    wait_for(1, 0);
    calls[3] = client_start(s.client, PROVING "Prove", request, n, 0);
    wait_for(1, 1);
    uint64_t begin = cuzk_now_ns();
    assert_false(cuzk_rpc_drain(s.rpc, begin + 200000000));
    assert_true(cuzk_now_ns() - begin < 4000000000u);
    for (int i = 0; i < 4; i++) {
        answer a;
        call_wait(calls[i], &a);
        expect(&a, GRPC_STATUS_UNAVAILABLE, "the server is shutting down; the job stays");
    }
    double_view view;
    double_look(s.engine, &view);
    assert_int_equal(view.waiters, 0);
    assert_int_equal(view.left, 3);
    free(request);
    free(wait);
    /* the engine may answer what it still holds after the server is gone */
    client_close(s.client);
    cuzk_rpc_destroy(s.rpc);
    raw_close(&hostile[0]);
    double_hold(s.engine, false, false);
    double_destroy(s.engine);
    grpc_shutdown();
}

static void a_load_under_way_is_waited_for(void **state)
{
    (void)state;
    start((limits){.max_message = MB});
    double_hold_preload(s.engine, true);
    call *k = client_start(s.client, PROVING "PreloadSRS", "\x0a\x01x", 3, 0);
    cuzk_rpc_view view;
    do {
        sleep_ms(1);
        cuzk_rpc_look(s.rpc, &view);
    } while (view.blocking == 0);
    assert_false(cuzk_rpc_drain(s.rpc, cuzk_now_ns()));
    answer a;
    call_wait(k, &a);
    expect(&a, GRPC_STATUS_UNAVAILABLE, "shutting down");
    cuzk_rpc_look(s.rpc, &view);
    assert_int_equal(view.blocking, 1);
    double_hold_preload(s.engine, false);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, set_up)
        TEST(sizes),
        TEST(memory_is_in_the_engine_s_books),
        TEST(uploads_wait_for_memory),
        TEST(a_small_budget_lowers_the_limit),
        TEST(slow_uploads_leave_room),
        TEST(slow_uploads_are_given_up),
        TEST(many_slow_uploads_lose_their_turn),
        TEST(what_keeps_coming_is_not_given_up),
        TEST(slow_small_messages_are_given_up),
        TEST(endless_messages_are_stopped),
        TEST(many_streams),
        TEST(answers_that_are_not_read),
        TEST(calls_of_all_connections),
        TEST(silent_calls_make_place),
        TEST(silent_connections_stand_behind),
        TEST(connections),
        TEST(places_of_unix_sockets),
        TEST(clients_that_do_not_read_do_not_hold_the_end),
        TEST(abuse_of_http2),
        TEST(a_compressed_message_is_refused),
        TEST(draining_lets_calls_finish),
        TEST(calls_that_cross_the_end),
        TEST(draining_has_an_end),
        TEST(a_load_under_way_is_waited_for),
#undef TEST
    };
    return cmocka_run_group_tests_name("rpc limits", tests, NULL, NULL);
}
