/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Gadgets against the reference: rows, types, densities and values. */
#include "gadget/num.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static cuzk_num alloc_number(cuzk_cs *cs, uint64_t v)
{
    uint8_t value[32];
    support_number(value, v);
    return cuzk_cs_alloc_num(cs, value);
}

static void describe_insert(cuzk_cs *cs, uint64_t x, const void *ctx)
{
    unsigned size = *(const unsigned *)ctx;
    cuzk_num element = alloc_number(cs, 100 * x), siblings[CUZK_INSERT_MAX], out[CUZK_INSERT_MAX];
    cuzk_bit bits[3];
    for (unsigned i = 0; i + 1 < size; i++) {
        siblings[i] = alloc_number(cs, x + i);
    }
    unsigned n_bits = (unsigned)__builtin_ctz(size);
    cuzk_alloc_bits(cs, x % size, n_bits, bits);
    cuzk_num_insert(cs, out, &element, siblings, bits, size);
}

static void test_insert(void **state)
{
    (void)state;
    support_expect_gadget("insert2", describe_insert, &(unsigned){2});
    support_expect_gadget("insert4", describe_insert, &(unsigned){4});
    support_expect_gadget("insert8", describe_insert, &(unsigned){8});
}

static void describe_to_bits(cuzk_cs *cs, uint64_t x, const void *ctx)
{
    (void)ctx;
    uint8_t value[32];
    support_number(value, x == 1 ? 123456789 : x - 1);
    if (x != 1) { /* r - (x - 1) */
        cuzk_fr v;
        memcpy(&v, value, sizeof v);
        cs->curve->fr_neg(&v, &v);
        memcpy(value, &v, sizeof v);
    }
    cuzk_num n = cuzk_cs_alloc_num(cs, value);
    cuzk_word words[CUZK_SHA256_WORDS];
    cuzk_num_to_words(cs, &n, words);
}

static void test_to_bits(void **state)
{
    (void)state;
    support_expect_gadget("to_bits_le", describe_to_bits, NULL);
}

/* 64 message bytes i + X - 1, bits allocated in the order of the message */
static void describe_sha256(cuzk_cs *cs, uint64_t x, const void *ctx)
{
    (void)ctx;
    cuzk_word message[16], digest[CUZK_SHA256_WORDS];
    for (unsigned w = 0; w < 16; w++) {
        message[w].value = message[w].fixed = message[w].negated = 0;
        for (unsigned i = 32; i-- > 0;) {
            uint8_t byte = (uint8_t)(4 * w + (31 - i) / 8 + x - 1);
            uint32_t bit = byte >> (i % 8) & 1;
            message[w].var[i] = cuzk_alloc_bits(cs, bit, 1, NULL);
            message[w].value |= cuzk_cs_is_shape(cs) ? 0 : bit << i;
        }
    }
    cuzk_sha256_circuit(cs, digest, message, 16);
}

static void describe_sha256_node(cuzk_cs *cs, uint64_t x, const void *ctx)
{
    (void)ctx;
    cuzk_num a = alloc_number(cs, x), b = alloc_number(cs, x + 1);
    (void)cuzk_sha256_node(cs, &a, &b);
}

static void test_sha256(void **state)
{
    (void)state;
    support_expect_gadget("sha256_512", describe_sha256, NULL);
    support_expect_gadget("sha256_hash2", describe_sha256_node, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_insert),
        cmocka_unit_test(test_to_bits),
        cmocka_unit_test(test_sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
