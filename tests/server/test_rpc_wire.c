/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Protobuf's wire form as the server reads and writes it itself, against protobuf-c; and every
 * beginning of a message, every kind of text. */
#include "server/rpc_wire.h"

#include "base/utf8.h"

#include "cuzk/v1/circom.pb-c.h"
#include "cuzk/v1/proving.pb-c.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A message as bytes in memory of exactly its size. */
struct packed {
    uint8_t *data;
    size_t size;
};

static struct packed pack(const ProtobufCMessage *message)
{
    struct packed p = {NULL, protobuf_c_message_get_packed_size(message)};
    p.data = malloc(p.size + 1);
    assert_non_null(p.data);
    assert_int_equal(protobuf_c_message_pack(message, p.data), p.size);
    return p;
}

static cuzk_wire wire_of(const void *data, size_t size)
{
    return (cuzk_wire){data, (const uint8_t *)data + size};
}

/* ---- numbers ---- */

static void test_varints(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 5000; round++) {
        uint64_t value = cuzk_test_random(&seed) >> round % 64, found = 1;
        value = round < 64    ? UINT64_C(1) << round
                : round < 128 ? (UINT64_C(1) << round % 64) - 1
                              : value;
        uint8_t bytes[12];
        size_t n = 0;
        for (uint64_t rest = value;; rest >>= 7) {
            bytes[n++] = (uint8_t)(rest & 127) | (rest > 127 ? 128 : 0);
            if (rest <= 127) {
                break;
            }
        }
        cuzk_wire wire = wire_of(bytes, n);
        assert_true(cuzk_wire_varint(&wire, &found));
        assert_true(found == value && wire.at == bytes + n);
        for (size_t cut = 0; cut < n; cut++) { /* and where it does not end */
            wire = wire_of(bytes, cut);
            assert_false(cuzk_wire_varint(&wire, &found));
            assert_ptr_equal(wire.at, bytes);
        }
    }
    uint8_t longest[11] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0};
    uint64_t value;
    cuzk_wire wire = wire_of(longest, 11);
    assert_true(cuzk_wire_varint(&wire, &value)); /* ten bytes: bits above 64 are dropped */
    assert_true(value == UINT64_MAX && wire.at == longest + 10);
    longest[9] = 0xff; /* eleven */
    wire = wire_of(longest, 11);
    assert_false(cuzk_wire_varint(&wire, &value));
    const uint8_t padded[] = {0x81, 0x80, 0x80, 0x00}; /* longer than it must be */
    wire = wire_of(padded, 4);
    assert_true(cuzk_wire_varint(&wire, &value));
    assert_int_equal(value, 1);
}

/* ---- fields ---- */

static void test_fields(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[16];
        size_t n;
        cuzk_wire_next next;
        uint32_t number;
        unsigned type;
        uint64_t value;
        size_t size;
    } cases[] = {
        {{0}, 0, CUZK_WIRE_END, 0, 0, 0, 0},
        {{0x08, 0x05}, 2, CUZK_WIRE_FIELD, 1, 0, 5, 0},
        {{0x11, 1, 2, 3, 4, 5, 6, 7, 8}, 9, CUZK_WIRE_FIELD, 2, 1, UINT64_C(0x0807060504030201), 0},
        {{0x1d, 1, 2, 3, 4}, 5, CUZK_WIRE_FIELD, 3, 5, 0x04030201, 0},
        {{0x22, 0x02, 'a', 'b'}, 4, CUZK_WIRE_FIELD, 4, 2, 0, 2},
        {{0x22, 0x00}, 2, CUZK_WIRE_FIELD, 4, 2, 0, 0},
        {{0xf8, 0xff, 0xff, 0xff, 0x0f, 0x01}, 6, CUZK_WIRE_FIELD, 0x1fffffff, 0, 1, 0},
        {{0x00, 0x01}, 2, CUZK_WIRE_BROKEN, 0, 0, 0, 0},                         /* number 0 */
        {{0x80, 0x80, 0x80, 0x80, 0x10, 0x01}, 6, CUZK_WIRE_BROKEN, 0, 0, 0, 0}, /* 2^29 */
        {{0x0b}, 1, CUZK_WIRE_BROKEN, 0, 0, 0, 0},                               /* a group */
        {{0x0c}, 1, CUZK_WIRE_BROKEN, 0, 0, 0, 0},
        {{0x0e, 0}, 2, CUZK_WIRE_BROKEN, 0, 0, 0, 0}, /* no such types */
        {{0x0f, 0}, 2, CUZK_WIRE_BROKEN, 0, 0, 0, 0},
        {{0x08}, 1, CUZK_WIRE_BROKEN, 0, 0, 0, 0},
        {{0x11, 1, 2, 3, 4, 5, 6, 7}, 8, CUZK_WIRE_BROKEN, 0, 0, 0, 0},
        {{0x1d, 1, 2, 3}, 4, CUZK_WIRE_BROKEN, 0, 0, 0, 0},
        {{0x22, 0x03, 'a', 'b'}, 4, CUZK_WIRE_BROKEN, 0, 0, 0, 0},
        {{0x22, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
         11,
         CUZK_WIRE_BROKEN,
         0,
         0,
         0,
         0}, /* a length that would wrap around */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t *copy = malloc(cases[i].n + 1);
        memcpy(copy, cases[i].bytes, cases[i].n);
        cuzk_wire wire = wire_of(copy, cases[i].n);
        cuzk_wire_field field;
        assert_int_equal(cuzk_wire_read(&wire, &field), cases[i].next);
        if (cases[i].next == CUZK_WIRE_FIELD) {
            assert_int_equal(field.number, cases[i].number);
            assert_int_equal(field.type, cases[i].type);
            assert_true(field.value == cases[i].value);
            assert_int_equal(field.size, cases[i].size);
            assert_ptr_equal(wire.at, wire.end);
        } else {
            assert_ptr_equal(wire.at, copy); /* stays */
        }
        free(copy);
    }
}

/* ---- submissions ---- */

static void make_submit(Cuzk__V1__SubmitProofRequest *r, char *id, ProtobufCBinaryData *parts)
{
    static uint8_t data[300];
    cuzk__v1__submit_proof_request__init(r);
    r->request_id = id;
    r->proof_kind = CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION;
    r->sector_size = UINT64_C(1) << 35;
    r->registered_proof = 13;
    r->priority = CUZK__V1__PRIORITY__HIGH;
    parts[0] = (ProtobufCBinaryData){300, data};
    parts[1] = (ProtobufCBinaryData){0, data};
    r->n_vanilla_proofs = 2;
    r->vanilla_proofs = parts;
    r->miner_id = UINT64_MAX;
    r->randomness = (ProtobufCBinaryData){32, data};
}

/* Whole, what was packed is read; cut anywhere it is the fields up to there, or a failure that says
 * where. */
static void test_submissions(void **state)
{
    (void)state;
    char id[] = "a job \xc3\xbc";
    ProtobufCBinaryData parts[2];
    Cuzk__V1__SubmitProofRequest submit;
    make_submit(&submit, id, parts);
    struct packed p = pack(&submit.base);
    unsigned n_whole = 0;
    for (size_t n = 0; n <= p.size; n++) {
        cuzk_wire_submission s;
        cuzk_error err = {0};
        uint8_t *copy = malloc(n + 1);
        memcpy(copy, p.data, n);
        cuzk_status status = cuzk_wire_read_submission(&s, copy, n, false, &err);
        free(copy);
        if (status == CUZK_OK) {
            n_whole++;
            assert_true(s.request_id[0] == '\0' || strcmp(s.request_id, id) == 0);
        } else {
            assert_int_equal(status, CUZK_E_FORMAT);
            assert_non_null(strstr(err.text, "a broken field at byte "));
        }
        if (n == p.size) {
            assert_string_equal(s.request_id, id);
            assert_int_equal(s.proof_kind, 3);
            assert_int_equal(s.priority, 3);
        }
    }
    assert_int_equal(n_whole, 10); /* at the end of each of nine fields, and nothing */
    free(p.data);
    Cuzk__V1__ProveWitnessRequest witness;
    cuzk__v1__prove_witness_request__init(&witness);
    witness.request_id = id;
    witness.circuit = (char *)"mul";
    witness.priority = CUZK__V1__PRIORITY__LOW;
    p = pack(&witness.base);
    cuzk_wire_submission s;
    cuzk_error err = {0};
    assert_int_equal(cuzk_wire_read_submission(&s, p.data, p.size, true, &err), CUZK_OK);
    assert_string_equal(s.request_id, id);
    assert_int_equal(s.priority, 1);
    assert_int_equal(s.proof_kind, 0); /* field 2 is the circuit there */
    free(p.data);
}

/* The last one of a field counts, as everywhere in protobuf. */
static void test_fields_twice(void **state)
{
    (void)state;
    static const uint8_t twice[] = {0x0a, 1,   'a', 0x28, 1, 0x10, 2, 0x0a,
                                    2,    'b', 'c', 0x28, 4, 0x10, 1};
    cuzk_wire_submission s;
    cuzk_error err = {0};
    assert_int_equal(cuzk_wire_read_submission(&s, twice, sizeof twice, false, &err), CUZK_OK);
    assert_string_equal(s.request_id, "bc");
    assert_int_equal(s.priority, 4);
    assert_int_equal(s.proof_kind, 1);
}

static void test_ids(void **state)
{
    (void)state;
    char id[CUZK_REQUEST_ID_MAX + 2];
    for (size_t n = CUZK_REQUEST_ID_MAX - 1; n <= CUZK_REQUEST_ID_MAX + 1; n++) {
        Cuzk__V1__ProveWitnessRequest witness;
        cuzk__v1__prove_witness_request__init(&witness);
        memset(id, 'i', n);
        id[n] = '\0';
        witness.request_id = id;
        struct packed p = pack(&witness.base);
        cuzk_wire_submission s;
        cuzk_error err = {0};
        cuzk_status status = cuzk_wire_read_submission(&s, p.data, p.size, true, &err);
        if (n <= CUZK_REQUEST_ID_MAX) {
            assert_int_equal(status, CUZK_OK);
            assert_string_equal(s.request_id, id);
        } else {
            assert_int_equal(status, CUZK_E_ARGUMENT);
            assert_non_null(strstr(err.text, "request_id: 959 bytes, at most 958 are taken"));
        }
        free(p.data);
    }
    static const struct {
        uint8_t bytes[8];
        size_t n;
        const char *text;
    } bad[] = {
        {{0x0a, 3, 'a', 0, 'b'}, 5, "request_id: a NUL at byte 1"},
        {{0x0a, 2, 'a', 0xff}, 4, "request_id: not UTF-8 at byte 1"},
        {{0x0a, 1, 0xc3}, 3, "request_id: not UTF-8 at byte 0"},
        {{0x08, 7}, 2, "request_id: wire type 0, expected a string"},
        {{0x0d, 1, 2, 3, 4}, 5, "request_id: wire type 5, expected a string"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cuzk_wire_submission s;
        cuzk_error err = {0};
        assert_int_equal(cuzk_wire_read_submission(&s, bad[i].bytes, bad[i].n, false, &err),
                         CUZK_E_ARGUMENT);
        assert_string_equal(err.text, bad[i].text);
    }
}

/* ---- Prove ---- */

static void test_unwrap(void **state)
{
    (void)state;
    char id[] = "x";
    ProtobufCBinaryData parts[2];
    Cuzk__V1__SubmitProofRequest submit;
    Cuzk__V1__ProveRequest prove;
    make_submit(&submit, id, parts);
    cuzk__v1__prove_request__init(&prove);
    prove.submit = &submit;
    struct packed inner = pack(&submit.base), outer = pack(&prove.base);
    for (size_t n = 0; n <= outer.size; n++) {
        size_t size = n;
        cuzk_error err = {0};
        uint8_t *copy = malloc(n + 1);
        memcpy(copy, outer.data, n);
        cuzk_status status = cuzk_wire_unwrap_prove(copy, &size, &err);
        assert_int_equal(status, n == 0            ? CUZK_E_ARGUMENT
                                 : n == outer.size ? CUZK_OK
                                                   : CUZK_E_FORMAT);
        if (status == CUZK_OK) {
            assert_int_equal(size, inner.size);
            assert_memory_equal(copy, inner.data, size);
        }
        free(copy);
    }
    /* several of them, with fields between that nobody knows, are one after the other */
    uint8_t many[] = {0x10, 9,   0x0a, 2, 'a',  'b', 0x1a, 3,    'x',
                      'y',  'z', 0x0a, 0, 0x0a, 1,   'c',  0x10, 1};
    size_t size = sizeof many;
    cuzk_error err = {0};
    assert_int_equal(cuzk_wire_unwrap_prove(many, &size, &err), CUZK_OK);
    assert_int_equal(size, 3);
    assert_memory_equal(many, "abc", 3);
    uint8_t none[] = {0x12, 1, 'a', 0x08, 1}; /* another field; a number where a message belongs */
    size = sizeof none;
    assert_int_equal(cuzk_wire_unwrap_prove(none, &size, &err), CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "Prove without `submit`"));
    free(inner.data);
    free(outer.data);
}

/* ---- writing ---- */

static void test_writing(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int round = 0; round < 300; round++) {
        Cuzk__V1__AwaitProofResponse a;
        Cuzk__V1__ProveResponse response;
        cuzk__v1__await_proof_response__init(&a);
        cuzk__v1__prove_response__init(&response);
        uint8_t proof[200] = {1};
        a.job_id = (char *)(round % 3 == 0 ? "" : "a job");
        a.status = (Cuzk__V1__AwaitProofResponse__Status)(round % 5);
        a.proof = (ProtobufCBinaryData){cuzk_test_random(&seed) % 200 + 1, proof};
        a.total_ms = cuzk_test_random(&seed) >> round % 65 % 64;
        a.total_ms = round % 65 == 64 ? 0 : a.total_ms;
        response.result = &a;
        struct packed wanted = pack(&response.base);
        cuzk_text inner = {0}, out = {0};
        cuzk_wire_put_text(&inner, 1, round % 6 == 0 ? NULL : a.job_id);
        cuzk_wire_put_number(&inner, 2, (uint64_t)a.status);
        cuzk_wire_put_bytes(&inner, 3, a.proof.data, a.proof.len);
        cuzk_wire_put_number(&inner, 14, a.total_ms);
        cuzk_wire_put_message(&out, 1, &inner);
        assert_int_equal(inner.size, 0); /* cleared */
        assert_int_equal(out.size, wanted.size);
        assert_memory_equal(out.data, wanted.data, out.size);
        cuzk_text_clear(&out);
        free(wanted.data);
    }
    cuzk_text out = {0};
    cuzk_wire_put_bytes(&out, 3, NULL, 0); /* also when there are none */
    assert_int_equal(out.size, 2);
    cuzk_text_clear(&out);
    cuzk_text failed = {.failed = true};
    cuzk_wire_put_message(&out, 1, &failed);
    assert_true(out.failed); /* what was lost inside is not hidden */
    cuzk_text_clear(&out);
}

/* ---- UTF-8 ---- */

/* The bytes of a code point by its definition; 0: it is none. */
static size_t encode(uint8_t out[4], uint32_t c)
{
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        return 0;
    }
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6) {
        out[i] = (uint8_t)(0x80 | (c & 63));
    }
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (uint8_t)(lead[n] | c);
    return n;
}

/* Every code point is a character of its length and of no fewer bytes. */
static void test_every_character(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) {
        uint8_t bytes[4] = {0};
        size_t n = encode(bytes, c);
        if (n == 0) { /* a surrogate, written as if it were one */
            bytes[0] = 0xed;
            bytes[1] = (uint8_t)(0x80 | (c >> 6 & 63));
            bytes[2] = (uint8_t)(0x80 | (c & 63));
            assert_int_equal(cuzk_utf8_length(bytes, 3), 0);
            continue;
        }
        if (cuzk_utf8_length(bytes, n) != n || (n > 1 && cuzk_utf8_length(bytes, n - 1) != 0)) {
            fail_msg("U+%04X: found %zu bytes, expected %zu", c, cuzk_utf8_length(bytes, n), n);
        }
    }
}

/* Every three bytes that are taken are what some code point encodes to: nothing else is. */
static void test_nothing_else(void **state)
{
    (void)state;
    static const uint8_t fourth[] = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff};
    for (uint32_t k = 0x80; k < 0x100; k++) {
        for (uint32_t l = 0; l < 0x100; l += k < 0xe0 ? 1 : 3) {
            for (uint32_t m = l % 16; m < 0x100; m += 16) {
                for (size_t i = 0; i < sizeof fourth; i++) {
                    uint8_t bytes[4] = {(uint8_t)k, (uint8_t)l, (uint8_t)m, fourth[i]}, again[4];
                    size_t n = cuzk_utf8_length(bytes, 4);
                    if (n == 0) {
                        continue;
                    }
                    uint32_t c = n == 2 ? k & 31 : n == 3 ? k & 15 : k & 7;
                    for (size_t j = 1; j < n; j++) {
                        c = c << 6 | (bytes[j] & 63);
                    }
                    assert_int_equal(encode(again, c), n);
                    assert_memory_equal(again, bytes, n);
                }
            }
        }
    }
}

static void test_mending(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"\xc3\xbc\xe2\x82\xac\xf0\x9f\x90\x88", "\xc3\xbc\xe2\x82\xac\xf0\x9f\x90\x88"},
        {"a\xff"
         "b",
         "a?b"},
        {"a\xc3", "a?"},
        {"\xe2\x82", "??"},
        {"\xc0\x80", "??"},
        {"\xed\xa0\x80x", "???x"},
        {"\xf4\x90\x80\x80", "????"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", cases[i].before);
        cuzk_utf8_mend(text);
        assert_string_equal(text, cases[i].after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_varints),      cmocka_unit_test(test_fields),
        cmocka_unit_test(test_submissions),  cmocka_unit_test(test_fields_twice),
        cmocka_unit_test(test_ids),          cmocka_unit_test(test_unwrap),
        cmocka_unit_test(test_writing),      cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_nothing_else), cmocka_unit_test(test_mending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
