/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Recordings: what is written is read, cut off anywhere, spoiled anywhere. */
#include "timeline/recording.h"
#include "timeline/recording_bytes.h"
#include "timeline/sort.h"

#include "base/bytes.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

static uint64_t seed = 20261201;

static uint64_t below(uint64_t n)
{
    return cuzk_test_random(&seed) % n;
}

/* Any span that can be written; edges are as likely as the rest. */
static cuzk_timespan any_span(void)
{
    static const uint64_t edges[] = {0, 1, 127, 128, 16384, UINT32_MAX, INT64_MAX / 2};
    cuzk_timespan s = {.begin_ns = below(2) ? edges[below(7)] : below(UINT64_C(1) << 62),
                       .job = below(2) ? 0 : cuzk_test_random(&seed) >> below(64),
                       .value = below(2) ? 0 : cuzk_test_random(&seed) >> below(64),
                       .name = (uint16_t)below(CUZK_SPAN_NAMES),
                       .thread = (uint16_t)(below(4) ? below(3) : UINT16_MAX),
                       .unit = (int16_t)(below(2) ? -1 : (int64_t)below(INT16_MAX + 1)),
                       .device = (int8_t)(below(2) ? -1 : (int64_t)below(CUZK_RECORDING_DEVICES)),
                       .worker = (int8_t)(below(2) ? -1 : (int64_t)below(INT8_MAX + 1)),
                       .kind = (uint8_t)below(8),
                       .priority = (uint8_t)below(5),
                       .status = (uint8_t)(below(2) ? 0 : below(256)),
                       .text = (uint32_t)(below(2) ? 0 : cuzk_test_random(&seed))};
    s.end_ns = s.begin_ns + (below(2) ? edges[below(7)] : below(1000));
    return s;
}

/* The order that is promised, by another way. */
static int in_order(const void *a, const void *b)
{
    const cuzk_timespan *x = a;
    const cuzk_timespan *y = b;
    if (x->begin_ns != y->begin_ns) {
        return x->begin_ns < y->begin_ns ? -1 : 1;
    }
    if (x->end_ns != y->end_ns) {
        return x->end_ns > y->end_ns ? -1 : 1;
    }
    return (x->name > y->name) - (x->name < y->name);
}

static bool stands_in(const cuzk_timespan *span, const cuzk_timespan *spans, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (memcmp(span, &spans[i], sizeof *span) == 0) {
            return true;
        }
    }
    return false;
}

static void test_sort(void **state)
{
    (void)state;
    cuzk_error err = {0};
    for (size_t n = 0; n < 300; n = n < 10 ? n + 1 : 2 * n + 3) {
        for (int spread = 0; spread < 3; spread++) {
            cuzk_timespan *spans = calloc(n + 1, sizeof *spans);
            cuzk_timespan *before = calloc(n + 1, sizeof *before);
            assert_non_null(spans);
            assert_non_null(before);
            for (size_t i = 0; i < n; i++) {
                spans[i] = any_span();
                if (spread > 0) {
                    spans[i].begin_ns = spread == 1 ? below(4) : UINT64_MAX / 4 - below(3000);
                    spans[i].end_ns = spans[i].begin_ns + below(3);
                }
            }
            memcpy(before, spans, n * sizeof *spans);
            assert_int_equal(cuzk_spans_sort(spans, n, &err), CUZK_OK);
            for (size_t i = 0; i < n; i++) {
                assert_true(i == 0 || in_order(&spans[i - 1], &spans[i]) <= 0);
                assert_true(stands_in(&before[i], spans, n));
            }
            free(spans);
            free(before);
        }
    }
}

static cuzk_text sample(size_t n_spans, cuzk_timespan **spans)
{
    cuzk_text text = {0};
    cuzk_recording_put_start(&text, 1700000000000000000u, 12345);
    cuzk_recording_put_kind(&text, 2, "porep_c2");
    cuzk_recording_put_device(&text, 1, 2, "cuda:1");
    cuzk_recording_put_thread(&text, 0, "");
    cuzk_recording_put_thread(&text, 3, "worker");
    cuzk_recording_put_text(&text, 9, "job nine", 8);
    cuzk_recording_put_text(&text, 2, "", 0);
    *spans = calloc(n_spans + 1, sizeof **spans);
    assert_non_null(*spans);
    size_t half = n_spans / 2;
    for (size_t i = 0; i < n_spans; i++) {
        (*spans)[i] = any_span();
    }
    cuzk_recording_put_spans(&text, *spans, half);
    cuzk_recording_put_lost(&text, 5);
    cuzk_recording_put_spans(&text, *spans + half, n_spans - half);
    cuzk_recording_put_lost(&text, 6);
    assert_false(text.failed);
    return text;
}

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t n = 0; n < 2000; n = 4 * n + 1) {
        cuzk_timespan *spans;
        cuzk_text text = sample(n, &spans);
        cuzk_recording r;
        cuzk_error err = {0};
        assert_int_equal(cuzk_recording_read(&r, (uint8_t *)text.data, text.size, &err), CUZK_OK);
        assert_int_equal(r.n_spans, n);
        assert_int_equal(r.wall_ns, 1700000000000000000u);
        assert_int_equal(r.host_ns, 12345);
        assert_string_equal(r.kinds[2], "porep_c2");
        assert_string_equal(r.devices[1].id, "cuda:1");
        assert_int_equal(r.devices[1].n_workers, 2);
        assert_true(r.n_devices >= 2);
        assert_int_equal(r.n_threads, 4);
        assert_string_equal(r.threads[3], "worker");
        assert_null(r.threads[1]);
        assert_string_equal(cuzk_recording_text(&r, 9), "job nine");
        assert_string_equal(cuzk_recording_text(&r, 2), "");
        assert_null(cuzk_recording_text(&r, 0));
        assert_null(cuzk_recording_text(&r, 3));
        assert_int_equal(r.n_lost, 11);
        assert_int_equal(r.n_unknown + r.n_bytes_after, 0);
        uint64_t first = UINT64_MAX;
        uint64_t last = 0;
        for (size_t i = 0; i < n; i++) {
            assert_true(stands_in(&spans[i], r.spans, n));
            first = spans[i].begin_ns < first ? spans[i].begin_ns : first;
            last = spans[i].end_ns > last ? spans[i].end_ns : last;
        }
        assert_int_equal(r.begin_ns, n > 0 ? first : 0);
        assert_int_equal(r.end_ns, last);
        cuzk_recording_clear(&r);
        cuzk_text_clear(&text);
        free(spans);
    }
}

static void test_cut_off_anywhere(void **state)
{
    (void)state;
    cuzk_timespan *spans;
    cuzk_text text = sample(60, &spans);
    size_t last_n = 0;
    for (size_t size = 0; size <= text.size; size++) {
        cuzk_recording r;
        cuzk_error err = {0};
        cuzk_status status = cuzk_recording_read(&r, (uint8_t *)text.data, size, &err);
        assert_int_equal(status, size < CUZK_RECORDING_HEADER ? CUZK_E_FORMAT : CUZK_OK);
        assert_true(r.n_spans >= last_n && r.n_bytes_after < size + 1);
        last_n = r.n_spans;
        cuzk_recording_clear(&r);
    }
    assert_int_equal(last_n, 60);
    free(spans);
    cuzk_text_clear(&text);
}

static void test_spoiled_anywhere(void **state)
{
    (void)state;
    cuzk_timespan *spans;
    cuzk_text text = sample(10, &spans);
    for (size_t at = 0; at < text.size; at++) {
        cuzk_recording r;
        cuzk_error err = {0};
        text.data[at] ^= 0x10;
        cuzk_status status = cuzk_recording_read(&r, (uint8_t *)text.data, text.size, &err);
        if (at < 12) { /* magic, version */
            assert_true(status == CUZK_E_FORMAT || status == CUZK_E_UNSUPPORTED);
        } else if (at >= CUZK_RECORDING_HEADER) { /* the piece and what follows are not read */
            assert_true(r.n_bytes_after > 0 || status == CUZK_OK);
        }
        assert_true((status == CUZK_OK) == (err.text[0] == 0));
        cuzk_recording_clear(&r);
        text.data[at] ^= 0x10;
    }
    free(spans);
    cuzk_text_clear(&text);
}

/* A piece whose sum is right. */
static void put_piece(cuzk_text *text, uint32_t type, const void *payload, size_t n)
{
    uint8_t header[CUZK_PIECE_HEADER];
    cuzk_store_u32_le(header, type);
    cuzk_store_u32_le(header + 4, (uint32_t)n);
    cuzk_store_u32_le(header + 8, (uint32_t)crc32(0, payload, (uInt)n));
    cuzk_text_put_bytes(text, (char *)header, sizeof header);
    cuzk_text_put_bytes(text, payload, n);
}

static void test_wrong_pieces(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        const char *payload;
        size_t n;
        const char *word; /* of the error; NULL: is read */
    } cases[] = {
        {CUZK_PIECE_SPANS, "", 0, "as many spans"},
        {CUZK_PIECE_SPANS, "\x01\x00\x00\x00\x00", 5, "as many spans"},
        {CUZK_PIECE_SPANS, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, "as many spans"},
        {CUZK_PIECE_SPANS, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, "as many spans"},
        {CUZK_PIECE_SPANS, "\x01\x00\x00\x00\x02\x05", 6, NULL},
        {CUZK_PIECE_SPANS, "\x01\x00\x00\x00\x02\x05\x00", 7, "behind its last span"},
        {CUZK_PIECE_SPANS, "\x01\x40\x00\x00\x02\x05", 6, "span 0 of 1"}, /* unknown flag */
        {CUZK_PIECE_SPANS, "\x01\x00\x00\x00\x01\x05", 6, "span 0 of 1"}, /* before 0 */
        {CUZK_PIECE_SPANS, "\x01\x00\x00\x00\x02\x80", 6, "span 0 of 1"}, /* cut off */
        {CUZK_PIECE_SPANS, "\x01\x02\x00\x00\x02\x05\x80\x80\x02", 9, "span 0 of 1"}, /* unit */
        {CUZK_PIECE_SPANS, "\x01\x04\x00\x00\x02\x05\x40\xff", 8, "span 0 of 1"}, /* device 64 */
        {CUZK_PIECE_SPANS, "\x01\x04\x00\x00\x02\x05\x00\xfe", 8, "span 0 of 1"}, /* worker -2 */
        {CUZK_PIECE_SPANS, "\x01\x00\x7f\x00\x02\x05", 6, NULL}, /* a name of later versions */
        {CUZK_PIECE_THREAD, "\x80\x80\x04", 3, "65535"},
        {CUZK_PIECE_THREAD, "", 0, "65535"},
        {CUZK_PIECE_TEXT, "\x00x", 2, "1 to 4294967295"},
        {CUZK_PIECE_TEXT, "\xff\xff\xff\xff\x1fx", 6, "1 to 4294967295"},
        {CUZK_PIECE_KIND, "\x08x", 2, "above 7"},
        {CUZK_PIECE_KIND, "\x01x\x00y", 4, "NUL"},
        {CUZK_PIECE_DEVICE, "\x40\x01x", 3, "above 63"},
        {CUZK_PIECE_DEVICE, "\x00\xff\xff\x01x", 5, "above 255"},
        {CUZK_PIECE_DEVICE, "\x00", 1, "NUL"},
        {CUZK_PIECE_LOST, "", 0, "cut off"},
        {CUZK_PIECE_MACHINE, "", 0, "cut off"},
        {CUZK_PIECE_MACHINE, "\x05\x01\x02\x03\x04", 5, "threads is cut off"},
        {CUZK_PIECE_MACHINE, "\x05\x01\x02\x03\x80\x80\x04\x01", 8, "above 65535"},
        {CUZK_PIECE_MACHINE, "\x05\x01\x02\x03\x04\x05\x06", 7, NULL}, /* of later versions */
        {CUZK_PIECE_NAMES, "abc", 3, "no end"},
        {99, "whatever", 8, NULL},
        {99, "", 0, NULL},
        {99, "\xff\xff", 2, NULL}, /* whatever it begins with */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_text text = {0};
        cuzk_recording_put_start(&text, 0, 0);
        put_piece(&text, cases[i].type, cases[i].payload, cases[i].n);
        cuzk_recording r;
        cuzk_error err = {0};
        cuzk_status status = cuzk_recording_read(&r, (uint8_t *)text.data, text.size, &err);
        if (cases[i].word == NULL) {
            assert_int_equal(status, CUZK_OK);
        } else {
            assert_int_equal(status, CUZK_E_FORMAT);
            assert_non_null(strstr(err.text, cases[i].word));
            assert_null(r.spans);
        }
        cuzk_recording_clear(&r);
        cuzk_text_clear(&text);
    }
}

static void test_machine(void **state)
{
    (void)state;
    const cuzk_recording_machine machine = {.work_bytes = UINT64_MAX,
                                            .critical_bytes = 12345678901,
                                            .n_witness = 65535,
                                            .n_finishers = 2,
                                            .n_verifiers = 3,
                                            .witness_ahead = 0};
    cuzk_text text = {0};
    cuzk_recording_put_start(&text, 0, 0);
    cuzk_recording_put_machine(&text, &machine);
    cuzk_recording r;
    assert_int_equal(cuzk_recording_read(&r, (uint8_t *)text.data, text.size, NULL), CUZK_OK);
    assert_memory_equal(&r.machine, &machine, sizeof machine);
    cuzk_recording_clear(&r);
    cuzk_text_clear(&text);
}

static void test_texts_are_plain(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"job \"7\" <&>", "job \"7\" <&>"},
        {"a\nb\tc\x1b[2J\x7f", "a?b?c?[2J?"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xc3", "?"},
        {"\x80\xff", "??"},
        {"\xc2\x9b", "??"},                            /* a control character of eight bits */
        {"\xe2\x80\xae|\xe2\x81\xa6", "???|???"},      /* right to left */
        {"\xc0\xaf|\xe0\x80\xaf", "??|???"},           /* longer than need be */
        {"\xed\xa0\x80|\xf4\x90\x80\x80", "???|????"}, /* surrogate, beyond the last */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_text text = {0};
        cuzk_recording_put_start(&text, 0, 0);
        cuzk_recording_put_text(&text, 1, cases[i].in, strlen(cases[i].in));
        cuzk_recording_put_kind(&text, 1, cases[i].in);
        cuzk_recording_put_device(&text, 1, 1, cases[i].in);
        cuzk_recording_put_thread(&text, 1, cases[i].in);
        cuzk_recording r;
        cuzk_error err = {0};
        assert_int_equal(cuzk_recording_read(&r, (uint8_t *)text.data, text.size, &err), CUZK_OK);
        assert_string_equal(cuzk_recording_text(&r, 1), cases[i].out);
        assert_string_equal(r.kinds[1], cases[i].out);
        assert_string_equal(r.devices[1].id, cases[i].out);
        assert_string_equal(r.threads[1], cases[i].out);
        cuzk_recording_clear(&r);
        cuzk_text_clear(&text);
    }
}

/* What a power loss leaves: the end of the file is zeros. */
static void test_zeros_behind(void **state)
{
    (void)state;
    cuzk_timespan *spans;
    cuzk_text text = sample(20, &spans);
    static const char zeros[100];
    size_t size = text.size;
    cuzk_text_put_bytes(&text, zeros, sizeof zeros);
    cuzk_recording r;
    cuzk_error err = {0};
    assert_int_equal(cuzk_recording_read(&r, (uint8_t *)text.data, text.size, &err), CUZK_OK);
    assert_int_equal(r.n_spans, 20);
    assert_int_equal(r.n_bytes_after, text.size - size);
    cuzk_recording_clear(&r);
    cuzk_text_clear(&text);
    free(spans);
}

static void test_names_of_a_later_version(void **state)
{
    (void)state;
    cuzk_text text = {0};
    cuzk_recording_put_start(&text, 0, 0);
    text.size = CUZK_RECORDING_HEADER; /* another catalogue: other numbers, one unknown name */
    put_piece(&text, CUZK_PIECE_NAMES, "verify\0teleport\0lane", 21);
    cuzk_timespan spans[3] = {{.name = 0, .unit = -1, .device = -1, .worker = -1},
                              {.name = 1, .unit = -1, .device = -1, .worker = -1},
                              {.name = 2, .unit = -1, .device = -1, .worker = -1}};
    cuzk_recording_put_spans(&text, spans, 3);
    cuzk_recording r;
    cuzk_error err = {0};
    assert_int_equal(cuzk_recording_read(&r, (uint8_t *)text.data, text.size, &err), CUZK_OK);
    assert_int_equal(r.n_spans, 2);
    assert_int_equal(r.n_unknown, 1);
    assert_int_equal(r.spans[0].name, CUZK_SPAN_LANE); /* the lower number first */
    assert_int_equal(r.spans[1].name, CUZK_SPAN_VERIFY);
    cuzk_recording_clear(&r);
    cuzk_text_clear(&text);
}

static void test_files(void **state)
{
    (void)state;
    char path[] = "/tmp/cuzk-recording-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    cuzk_timespan *spans;
    cuzk_text text = sample(500, &spans);
    cuzk_error err = {0};
    cuzk_recording r;
    for (int is_packed = 0; is_packed < 2; is_packed++) {
        gzFile file = gzopen(path, is_packed ? "wb9" : "wbT");
        assert_non_null(file);
        assert_int_equal(gzwrite(file, text.data, (unsigned)text.size), (int)text.size);
        assert_int_equal(gzclose(file), Z_OK);
        assert_int_equal(cuzk_recording_open(&r, path, text.size, &err), CUZK_OK);
        assert_int_equal(r.n_spans, 500);
        cuzk_recording_clear(&r);
        assert_int_equal(cuzk_recording_open(&r, path, text.size - 1, &err), CUZK_E_FORMAT);
        assert_non_null(strstr(err.text, path));
        memset(&err, 0, sizeof err);
    }
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes to it: it is not waited for */
    assert_int_equal(cuzk_recording_open(&r, path, 1000, &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "not a regular file"));
    memset(&err, 0, sizeof err);
    unlink(path);
    assert_int_equal(cuzk_recording_open(&r, path, 1000, &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "No such file"));
    free(spans);
    cuzk_text_clear(&text);
}

static void test_catalogue(void **state)
{
    (void)state;
    for (size_t i = 0; i < CUZK_SPAN_NAMES; i++) {
        const cuzk_span_about *about = cuzk_span_about_of((cuzk_span_name)i);
        assert_int_equal(cuzk_span_find(about->name, strlen(about->name)), i);
        assert_true(about->begins[0] != 0);
        assert_true(about->is_instant == (about->ends[0] == 0));
        assert_true(about->clock == CUZK_CLOCK_HOST || about->track == CUZK_TRACK_DEVICE);
        assert_int_equal(cuzk_span_is_kernel((uint16_t)i), strncmp(about->name, "kernel.", 7) == 0);
    }
    assert_int_equal(cuzk_span_find("lan", 3), CUZK_SPAN_NAMES);
    assert_int_equal(cuzk_span_find("", 0), CUZK_SPAN_NAMES);
}

/* A file that goes on in another one, the first with bytes behind its last whole piece. */
static void test_parts(void **state)
{
    (void)state;
    enum { EACH = 50 };
    cuzk_timespan spans[2 * EACH];
    cuzk_text texts[2] = {{0}, {0}};
    cuzk_recording r;
    cuzk_error err = {0};
    for (int i = 0; i < 2 * EACH; i++) {
        spans[i] = any_span();
        spans[i].text = (uint32_t)(1 + i / EACH);
    }
    for (int f = 0; f < 2; f++) {
        cuzk_recording_put_start(&texts[f], 1000, 100 + (uint64_t)f);
        cuzk_recording_set_run(&texts[f], 7);
        cuzk_recording_put_thread(&texts[f], 0, "main"); /* of both, as each file begins */
        cuzk_recording_put_text(&texts[f], (uint32_t)(1 + f), f == 0 ? "one" : "two", 3);
        cuzk_recording_put_spans(&texts[f], spans + f * EACH, EACH);
    }
    cuzk_text_put(&texts[0], "cut off");
    cuzk_recording_part parts[2];
    for (int f = 0; f < 2; f++) {
        parts[f] = (cuzk_recording_part){(const uint8_t *)texts[f].data, texts[f].size};
    }
    assert_int_equal(cuzk_recording_read_parts(&r, parts, 2, &err), CUZK_OK);
    assert_int_equal(r.n_spans, 2 * EACH);
    assert_int_equal(r.n_bytes_after, 7);
    assert_int_equal(r.host_ns, 100);
    assert_string_equal(cuzk_recording_text(&r, 1), "one");
    assert_string_equal(cuzk_recording_text(&r, 2), "two");
    qsort(spans, 2 * EACH, sizeof *spans, in_order);
    for (int i = 0; i < 2 * EACH; i++) {
        assert_int_equal(r.spans[i].begin_ns, spans[i].begin_ns);
        assert_int_equal(r.spans[i].end_ns, spans[i].end_ns);
    }
    cuzk_recording_clear(&r);
    const cuzk_recording_part turned[2] = {parts[1], parts[0]};
    assert_int_equal(cuzk_recording_read_parts(&r, turned, 2, &err), CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "in their order"));
    for (uint32_t run = 0; run < 9; run += 8) {
        memset(&err, 0, sizeof err);
        cuzk_recording_set_run(&texts[0], run);
        assert_int_equal(cuzk_recording_read_parts(&r, parts, 2, &err), CUZK_E_ARGUMENT);
        assert_non_null(strstr(err.text, "not of one run"));
    }
    cuzk_recording_set_run(&texts[1], 0); /* nor do two that say nothing */
    cuzk_recording_set_run(&texts[0], 0);
    memset(&err, 0, sizeof err);
    assert_int_equal(cuzk_recording_read_parts(&r, parts, 2, &err), CUZK_E_ARGUMENT);
    memset(&err, 0, sizeof err);
    parts[1].n_bytes = 31;
    assert_int_equal(cuzk_recording_read_parts(&r, parts, 2, &err), CUZK_E_FORMAT);
    cuzk_text_clear(&texts[0]);
    cuzk_text_clear(&texts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_cut_off_anywhere),
        cmocka_unit_test(test_spoiled_anywhere),
        cmocka_unit_test(test_wrong_pieces),
        cmocka_unit_test(test_names_of_a_later_version),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_catalogue),
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_texts_are_plain),
        cmocka_unit_test(test_zeros_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
