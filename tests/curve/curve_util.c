/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Helpers of the curve tests: see curve_util.h. */
#include "curve/curve_util.h"

#include "fixtures.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t test_random(uint64_t *state)
{
    return cuzk_test_random(state);
}

uint64_t test_seed(void)
{
    static bool printed;
    const char *text = getenv("CUZK_TEST_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 20240611;
    if (!printed) {
        printf("seed %llu (CUZK_TEST_SEED changes it)\n", (unsigned long long)seed);
        printed = true;
    }
    return seed;
}

void test_random_fr(const cuzk_curve *curve, cuzk_fr *out, uint64_t *state)
{
    uint8_t bytes[32];
    uint64_t choice = test_random(state) % 24;
    cuzk_fr small;
    switch (choice) {
    case 0: /* 0, 1, 2, 3 */
    case 1:
        curve->fr_from_u64(out, test_random(state) % 4);
        return;
    case 2: /* -1 … -16 */
    case 3:
        curve->fr_from_u64(&small, 1 + test_random(state) % 16);
        curve->fr_neg(out, &small);
        return;
    case 4: /* a power of two, or one below */
    case 5:
        curve->fr_from_u64(&small, 2);
        curve->fr_pow_u64(out, &small, test_random(state) % 253);
        curve->fr_from_u64(&small, choice - 4);
        curve->fr_sub(out, out, &small);
        return;
    default:
        do {
            for (int i = 0; i < 32; i++) {
                bytes[i] = (uint8_t)test_random(state);
            }
            bytes[31] &= 0x7f;
        } while (!curve->fr_from_canonical_le(out, bytes));
    }
}

void test_random_point(const cuzk_group *group, const cuzk_curve *curve, void *affine,
                       uint64_t *state)
{
    cuzk_fr k;
    cuzk_jac p;
    test_random_fr(curve, &k, state);
    group->generator(affine);
    group->from_affine(&p, affine);
    group->mul(&p, &p, &k);
    group->to_affine(affine, &p);
}

void vector_file_read(vector_file *out, const cuzk_curve *curve)
{
    char name[64];
    snprintf(name, sizeof(name), "curve/%s.txt", curve->name);
    cuzk_fixture fixture = cuzk_test_fixture(name);
    out->text = (char *)fixture.data; /* freed as the fixture would free it */
    out->n = 0;
    for (char *c = out->text; *c != '\0'; c++) {
        out->n += *c == '\n';
    }
    out->lines = calloc(out->n, sizeof(out->lines[0]));
    assert_non_null(out->lines);
    char *save_line = NULL, *line = strtok_r(out->text, "\n", &save_line);
    for (size_t i = 0; i < out->n; i++) {
        vector_line *l = &out->lines[i];
        char *save_word = NULL;
        for (char *w = strtok_r(line, " ", &save_word); w != NULL;
             w = strtok_r(NULL, " ", &save_word)) {
            assert_true(l->n < VECTOR_WORDS_MAX);
            l->word[l->n++] = w;
        }
        line = strtok_r(NULL, "\n", &save_line);
    }
}

void vector_file_free(vector_file *file)
{
    cuzk_fixture fixture = {(uint8_t *)file->text, 0};
    cuzk_test_fixture_free(&fixture);
    free(file->lines);
    memset(file, 0, sizeof(*file));
}

static unsigned hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *at = strchr(digits, c);
    assert_true(c != '\0' && at != NULL);
    return (unsigned)(at - digits);
}

void hex_to_le(uint8_t *out, size_t n_bytes, const char *text)
{
    size_t n = strlen(text);
    memset(out, 0, n_bytes);
    assert_true(n <= 2 * n_bytes);
    for (size_t i = 0; i < n; i++) {
        out[i / 2] |= (uint8_t)(hex_digit(text[n - 1 - i]) << (4 * (i % 2)));
    }
}

size_t hex_to_bytes(uint8_t *out, size_t max, const char *text)
{
    size_t n = strlen(text) / 2;
    assert_true(n <= max);
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
    }
    return n;
}

void hex_to_fr(const cuzk_curve *curve, cuzk_fr *out, const char *text)
{
    uint8_t bytes[32];
    hex_to_le(bytes, sizeof(bytes), text);
    assert_true(curve->fr_from_canonical_le(out, bytes));
}

int affine_words(const cuzk_group *group, const cuzk_curve *curve)
{
    return (int)(group->affine_bytes / curve->fp_bytes);
}

void hex_to_affine(const cuzk_group *group, const cuzk_curve *curve, void *affine,
                   char *const *words)
{
    for (int i = 0; i < affine_words(group, curve); i++) {
        uint8_t bytes[48];
        uint64_t limbs[6];
        hex_to_le(bytes, curve->fp_bytes, words[i]);
        assert_true(curve->fp_from_canonical_le(limbs, bytes));
        memcpy((uint8_t *)affine + (size_t)i * curve->fp_bytes, limbs, curve->fp_bytes);
    }
}

void assert_affine_equal(const cuzk_group *group, const void *a, const void *b, size_t line)
{
    if (memcmp(a, b, group->affine_bytes) != 0) {
        print_error("line %zu: points differ\n", line);
        for (size_t i = 0; i < group->affine_bytes; i++) {
            print_error("%02x%s", ((const uint8_t *)a)[i],
                        i + 1 == group->affine_bytes ? " found\n" : "");
        }
        for (size_t i = 0; i < group->affine_bytes; i++) {
            print_error("%02x%s", ((const uint8_t *)b)[i],
                        i + 1 == group->affine_bytes ? " expected\n" : "");
        }
        fail();
    }
}

bool test_path_supported(void)
{
    cuzk_error err = {0};
    if (cuzk_cpu_check(&err) != CUZK_OK) {
        printf("%s\n", err.text);
        return false;
    }
    return true;
}
