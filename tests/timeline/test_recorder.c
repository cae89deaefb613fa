/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rings of threads: everything arrives once and in order, what is overwritten is counted, threads
 * that end leave their rings to others. */
#include "timeline/recorder.h"

#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WRITERS = 4, EACH = 200000 };

/* What a sink has seen. */
typedef struct {
    uint64_t n_spans, n_lost, n_texts, n_threads;
    uint64_t next[UINT16_MAX + 1]; /* by thread: the least value that may come */
    bool is_known[UINT16_MAX + 1];
    uint32_t last_text;
    char text[64];
    char thread[64];
} seen;

static void on_spans(void *user, const cuzk_timespan *spans, size_t n)
{
    seen *s = user;
    for (size_t i = 0; i < n; i++) {
        const cuzk_timespan *span = &spans[i];
        assert_true(s->is_known[span->thread]);
        /* each field is made from the value: a torn span would show */
        assert_int_equal(span->begin_ns, span->value * 3);
        assert_int_equal(span->end_ns, span->value * 3 + 1);
        assert_int_equal(span->job, ~span->value);
        assert_int_equal(span->text, (uint32_t)span->value ^ 7);
        assert_int_equal(span->unit, (int16_t)(span->value & 0x7fff));
        assert_true(span->value >= s->next[span->thread]);
        s->next[span->thread] = span->value + 1;
    }
    s->n_spans += n;
}

static void on_text(void *user, uint32_t number, const char *text, size_t n_bytes)
{
    seen *s = user;
    assert_int_equal(number, s->last_text + 1);
    s->last_text = number;
    s->n_texts++;
    memset(s->text, 0, sizeof s->text);
    memcpy(s->text, text, n_bytes < sizeof s->text ? n_bytes : sizeof s->text - 1);
}

static void on_thread(void *user, uint16_t index, const char *name)
{
    seen *s = user;
    assert_false(s->is_known[index]);
    s->is_known[index] = true;
    s->n_threads++;
    strncpy(s->thread, name, sizeof s->thread - 1);
}

static void on_lost(void *user, uint64_t n_spans)
{
    ((seen *)user)->n_lost += n_spans;
}

static seen all; /* over the whole program: numbers of threads and texts go on */
static const cuzk_recorder_sink sink = {on_spans, on_text, on_thread, on_lost, &all};

static void put(uint64_t value)
{
    cuzk_recorder_put(&(cuzk_timespan){.begin_ns = value * 3,
                                       .end_ns = value * 3 + 1,
                                       .job = ~value,
                                       .value = value,
                                       .name = CUZK_SPAN_WITNESS,
                                       .unit = (int16_t)(value & 0x7fff),
                                       .text = (uint32_t)value ^ 7});
}

static void *write_some(void *n)
{
    for (uint64_t i = 0; i < *(uint64_t *)n; i++) {
        put(i);
    }
    return NULL;
}

static void run_threads(size_t n_threads, uint64_t n_spans, bool take_meanwhile)
{
    pthread_t threads[WRITERS];
    for (size_t i = 0; i < n_threads; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_some, &n_spans), 0);
    }
    for (int i = 0; take_meanwhile && i < 50; i++) {
        cuzk_recorder_take(&sink);
    }
    for (size_t i = 0; i < n_threads; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    cuzk_recorder_take(&sink);
}

static void test_nothing_before_the_start(void **state)
{
    (void)state;
    put(0);
    assert_int_equal(cuzk_recorder_text("early"), 0);
    cuzk_recorder_take(&sink);
    assert_int_equal(all.n_spans + all.n_lost + all.n_texts, 0);
    assert_int_equal(cuzk_recorder_bytes(), 0);
    cuzk_error err = {0};
    assert_int_equal(cuzk_recorder_start(&err), CUZK_OK);
    assert_true(cuzk_recorder_is_on());
}

static void test_everything_arrives(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < CUZK_RECORDER_RING; n = 3 * n + 1) {
        uint64_t before = all.n_spans;
        run_threads(1, n, false);
        assert_int_equal(all.n_spans - before, n);
        assert_int_equal(all.n_lost, 0);
    }
}

static void test_what_is_overwritten_is_counted(void **state)
{
    (void)state;
    /* one less than the ring holds can be had: the slot being written is never read */
    for (uint64_t n = CUZK_RECORDER_RING - 1; n < CUZK_RECORDER_RING + 3; n++) {
        uint64_t spans = all.n_spans;
        uint64_t lost = all.n_lost;
        run_threads(1, n, false);
        assert_int_equal(all.n_spans - spans, CUZK_RECORDER_RING - 1);
        assert_int_equal(all.n_lost - lost, n - (CUZK_RECORDER_RING - 1));
    }
}

static void test_writers_and_a_reader_at_once(void **state)
{
    (void)state;
    uint64_t spans = all.n_spans;
    uint64_t lost = all.n_lost;
    run_threads(WRITERS, EACH, true);
    assert_int_equal(all.n_spans - spans + all.n_lost - lost, (uint64_t)WRITERS * EACH);
    assert_true(all.n_spans > spans);
}

static void test_rings_serve_again(void **state)
{
    (void)state;
    uint64_t bytes = cuzk_recorder_bytes();
    for (int i = 0; i < 100; i++) {
        run_threads(2, 5, false);
    }
    assert_int_equal(cuzk_recorder_bytes(), bytes);
}

static void *write_named(void *unused)
{
    (void)unused;
    put(1);
    return NULL;
}

static void test_texts(void **state)
{
    (void)state;
    uint32_t first = cuzk_recorder_text("porep-7");
    assert_int_equal(first, all.last_text + 1);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_named, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    cuzk_recorder_take(&sink);
    assert_string_equal(all.text, "porep-7");
    assert_true(all.thread[0] != 0);
    /* the table is full: 0, and room again when it was taken */
    for (int i = 0; i < CUZK_RECORDER_TEXTS; i++) {
        assert_true(cuzk_recorder_text("x") != 0);
    }
    assert_int_equal(cuzk_recorder_text("x"), 0);
    uint64_t n = all.n_texts;
    cuzk_recorder_take(&sink);
    assert_int_equal(all.n_texts - n, CUZK_RECORDER_TEXTS);
    char *large = malloc(5000);
    assert_non_null(large);
    memset(large, 'a', 4999);
    large[4999] = 0;
    for (int i = 0; i < CUZK_RECORDER_TEXT_BYTES / 1024; i++) {
        assert_true(cuzk_recorder_text(large) != 0); /* cut at 1,024 */
    }
    assert_int_equal(cuzk_recorder_text("y"), 0);
    free(large);
    cuzk_recorder_take(&sink);
}

/* What a thread works on is its own, and stands in the spans of the layers below. */
static void on_inner(void *user, const cuzk_timespan *spans, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(spans[i].job, 77);
        assert_int_equal(spans[i].unit, 3);
        assert_int_equal(spans[i].device, 1);
        assert_int_equal(spans[i].name, CUZK_SPAN_KERNEL_ROWS);
        assert_int_equal(spans[i].begin_ns, 5);
        assert_int_equal(spans[i].end_ns, 9);
        assert_int_equal(spans[i].value, 4);
    }
    *(size_t *)user += n;
}

static void no_text(void *user, uint32_t number, const char *text, size_t n_bytes)
{
    (void)user, (void)number, (void)text, (void)n_bytes;
}

static void no_thread(void *user, uint16_t index, const char *name)
{
    (void)user, (void)index, (void)name;
}

static void no_lost(void *user, uint64_t n_spans)
{
    (void)user, (void)n_spans;
}

static void *put_inner(void *unused)
{
    (void)unused;
    cuzk_recorder_put_inner(CUZK_SPAN_KERNEL_ROWS, 5, 9, 4); /* of nothing: is left out */
    cuzk_recorder_work_on(&(cuzk_timespan){.job = 77, .unit = 3, .device = 1, .value = 12});
    cuzk_recorder_put_inner(CUZK_SPAN_KERNEL_ROWS, 5, 9, 4);
    cuzk_recorder_put_inner(CUZK_SPAN_KERNEL_ROWS, 5, 9, 4);
    return NULL;
}

static void test_inner_spans(void **state)
{
    (void)state;
    size_t n = 0;
    const cuzk_recorder_sink inner = {on_inner, no_text, no_thread, no_lost, &n};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, put_inner, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    cuzk_recorder_put_inner(CUZK_SPAN_KERNEL_ROWS, 5, 9, 4); /* this thread works on nothing */
    cuzk_recorder_take(&inner);
    assert_int_equal(n, 2);
}

/* Who takes is woken by a ring that is half full, and by who asks; else it sleeps its period. What
 * does not wake it would take WAITS periods here. */
static void test_wait(void **state)
{
    (void)state;
    enum { WAITS = 20 };
    const uint64_t period_ns = CUZK_RECORDER_PERIOD_MS * 1000000ull;
    cuzk_recorder_take(&sink);
    uint64_t begin_ns = cuzk_now_ns();
    for (int i = 0; i < WAITS; i++) {
        uint64_t n = CUZK_RECORDER_RING / 2;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, write_some, &n), 0);
        cuzk_recorder_wait();
        assert_int_equal(pthread_join(thread, NULL), 0);
        cuzk_recorder_take(&sink);
    }
    assert_true(cuzk_now_ns() - begin_ns < WAITS * period_ns);
    begin_ns = cuzk_now_ns();
    for (int i = 0; i < WAITS; i++) {
        cuzk_recorder_wake();
        cuzk_recorder_wake(); /* one wait answers all */
        cuzk_recorder_wait();
    }
    assert_true(cuzk_now_ns() - begin_ns < WAITS * period_ns);
    begin_ns = cuzk_now_ns();
    put(1);
    cuzk_recorder_wait();
    assert_true(cuzk_now_ns() - begin_ns >= period_ns);
    cuzk_recorder_take(&sink);
}

static void test_stop(void **state)
{
    (void)state;
    cuzk_recorder_stop();
    uint64_t spans = all.n_spans;
    run_threads(1, 10, false);
    put(1);
    cuzk_recorder_take(&sink);
    assert_int_equal(all.n_spans, spans);
    assert_int_equal(cuzk_recorder_text("late"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_before_the_start),
        cmocka_unit_test(test_everything_arrives),
        cmocka_unit_test(test_what_is_overwritten_is_counted),
        cmocka_unit_test(test_writers_and_a_reader_at_once),
        cmocka_unit_test(test_rings_serve_again),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_inner_spans),
        cmocka_unit_test(test_wait),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
