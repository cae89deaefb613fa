/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is asked for is enough, and what cannot be is refused: workspaces of exactly the size that
 * was told, with guards around them, and arguments out of range. Emulated: device memory is the
 * host's, so that guards can be looked at. */
#include "backend/cuda/point_summer.h"
#include "backend/cuda/transformer.h"
#include "device_test.h"

/* ---- guarded memory ---- */

enum { GUARD = 4096 };

typedef struct {
    unsigned char *all;
    size_t n_bytes;
    CUdeviceptr at;
} guarded;

static guarded guard(size_t n_bytes)
{
    guarded g = {aligned_alloc(256, (2 * GUARD + n_bytes + 255) / 256 * 256), n_bytes, 0};
    assert_non_null(g.all);
    memset(g.all, 0xe7, 2 * GUARD + n_bytes);
    g.at = (CUdeviceptr)(uintptr_t)(g.all + GUARD);
    return g;
}

/* Whether nobody wrote beside it; frees it. */
static void unguard(guarded *g, const char *what, uint32_t n)
{
    for (size_t i = 0; i < GUARD; i++) {
        if (g->all[GUARD - 1 - i] != 0xe7 || g->all[GUARD + g->n_bytes + i] != 0xe7) {
            fail_msg("%s, n = %u: written %zu bytes beside %zu bytes of workspace", what, n, i + 1,
                     g->n_bytes);
        }
    }
    free(g->all);
}

/* n bases, small multiples of the generator. */
static unsigned char *draw_bases(const cuzk_group *g, uint32_t n)
{
    unsigned char *bases = malloc(n * g->affine_bytes + 1);
    cuzk_affine generator;
    cuzk_jac p;
    g->generator(&generator);
    g->set_infinity(&p);
    for (uint32_t i = 0; i < n; i++) {
        if (i % 5 != 4) { /* some equal ones */
            g->add_affine(&p, &p, &generator);
        }
        g->to_affine(bases + i * g->affine_bytes, &p);
    }
    return bases;
}

static void expect_generator_times(const cuzk_curve *curve, cuzk_group_id id, const cuzk_fr *k,
                                   const cuzk_jac *found, uint32_t n)
{
    const cuzk_group *g = &curve->g[id];
    cuzk_affine generator;
    cuzk_jac expected;
    g->generator(&generator);
    g->from_affine(&expected, &generator);
    g->mul(&expected, &expected, k);
    if (!g->eq(&expected, found)) {
        fail_msg("%s, G%d, n = %u: another sum", curve->name, id + 1, n);
    }
}

/* The base number i is this multiple of the generator. */
static uint64_t base_log(uint32_t i)
{
    return i + 1 - (i + 1) / 5;
}

/* ---- sums in exactly the memory that is told ---- */

static void check_sum(const cuzk_point_summer *s, cuzk_group_id id, uint32_t n, unsigned bits,
                      unsigned together)
{
    cuzk_error error = {0};
    const cuzk_curve *curve = s->curve;
    const cuzk_group *g = &curve->g[id];
    unsigned char *bases = draw_bases(g, n);
    uint64_t(*scalars)[4] = calloc(n + 1, 32);
    cuzk_fr log = {{0}}, k, factor;
    for (uint32_t i = 0; i < n; i++) {
        for (int w = 0; w < 4; w++) {
            scalars[i][w] = cuda_test_random() >> (w == 3 ? 4 : 0);
        }
        curve->fr_batch_from_canonical(&k, scalars[i], 1);
        curve->fr_from_u64(&factor, base_log(i));
        curve->fr_mul(&k, &k, &factor);
        curve->fr_add(&log, &log, &k);
    }
    cuzk_point_sum_params params = {.group = id,
                                    .bases = device_bytes(bases, n * g->affine_bytes),
                                    .scalars = device_bytes(scalars, 32 * (size_t)n),
                                    .n = n,
                                    .window_bits = bits,
                                    .windows_together = together,
                                    .halves = (cuzk_halves)(n % 3)};
    guarded workspace = guard(cuzk_point_sum_bytes(s, &params));
    cuzk_jac found;
    must(cuzk_point_sum(s, &found, &params, workspace.at, NULL, &error), &error);
    unguard(&workspace, "a sum of multiples", n);
    expect_generator_times(curve, id, &log, &found, n);
    free_all((const CUdeviceptr[]){params.bases, params.scalars}, 2);
    free(bases);
    free(scalars);
}

static void check_bits(const cuzk_point_summer *s, cuzk_group_id id, uint32_t n, unsigned one_in)
{
    cuzk_error error = {0};
    const cuzk_group *g = &s->curve->g[id];
    unsigned char *bases = draw_bases(g, n);
    size_t n_words = (n + 63) / 64;
    uint64_t *words = calloc(n_words + 1, 8), log = 0;
    uint32_t n_ones = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (cuda_test_random() % one_in == 0) {
            words[i / 64] |= UINT64_C(1) << i % 64;
            log += base_log(i);
            n_ones++;
        }
    }
    cuzk_point_bits_params params = {.group = id,
                                     .bases = device_bytes(bases, n * g->affine_bytes),
                                     .bits = device_bytes(words, 8 * n_words),
                                     .selection = {.n_vars = n},
                                     .n_ones = n_ones};
    guarded workspace = guard(cuzk_point_sum_bits_bytes(s, id, n, n_ones));
    cuzk_jac found;
    cuzk_fr k;
    must(cuzk_point_sum_bits(s, &found, &params, workspace.at, NULL, &error), &error);
    unguard(&workspace, "a sum of bits", n);
    s->curve->fr_from_u64(&k, log);
    expect_generator_times(s->curve, id, &k, &found, n);
    free_all((const CUdeviceptr[]){params.bases, params.bits}, 2);
    free(bases);
    free(words);
}

static void test_workspaces(void **state)
{
    (void)state;
    for (int id = CUZK_CURVE_BN254; id <= CUZK_CURVE_BLS12_381; id++) {
        cuzk_point_summer s;
        cuzk_error error = {0};
        must(cuzk_point_summer_open(&s, device.api, cuzk_curve_get((cuzk_curve_id)id), &error),
             &error);
        check_sum(&s, CUZK_G1, 1, 4, 0);
        check_sum(&s, CUZK_G1, 33, 0, 0);
        check_sum(&s, CUZK_G2, 9, 7, 2);
        if (id == CUZK_CURVE_BN254) { /* more buckets than the last step of the reduction takes */
            check_sum(&s, CUZK_G1, 5, 11, 1);
        }
        check_bits(&s, CUZK_G1, 129, 1);
        check_bits(&s, CUZK_G1, 64, 64);
        check_bits(&s, CUZK_G2, 65, 2);
        cuzk_point_summer_close(&s);
    }
}

/* Values that are listed: each selected variable of is_value with its place, in guarded memory. */
static void test_selected_values(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 63, 64, 65, 200};
    cuzk_point_summer s;
    cuzk_error error = {0};
    must(cuzk_point_summer_open(&s, device.api, cuzk_curve_get(CUZK_CURVE_BN254), &error), &error);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        uint32_t n = sizes[k], first = n / 7, rank = 0, n_wanted = 0, n_bits = 0;
        uint64_t is_value[4] = {0}, bits[4] = {0};
        uint32_t ranks[5] = {0}, wanted_index[200], wanted_which[200];
        for (uint32_t i = 0; i < n; i++) {
            if (i % 64 == 0) {
                ranks[i / 64] = rank;
            }
            if (cuda_test_random() % 3 == 0) {
                is_value[i / 64] |= UINT64_C(1) << i % 64;
                if (i >= first) {
                    wanted_index[n_wanted] = i - first;
                    wanted_which[n_wanted++] = rank;
                }
                rank++;
            } else if (cuda_test_random() % 2 == 0) {
                bits[i / 64] |= UINT64_C(1) << i % 64;
                n_bits += i >= first;
            }
        }
        CUdeviceptr of_bits = device_bytes(bits, sizeof bits);
        guarded counts = guard(8);
        CUdeviceptr bitmap = device_bytes(is_value, sizeof is_value);
        CUdeviceptr of_words = device_bytes(ranks, sizeof ranks);
        guarded index = guard(4 * (size_t)rank), which = guard(4 * (size_t)rank);
        guarded workspace = guard(cuzk_select_values_bytes(n));
        cuzk_selection selection = {.n_vars = n, .first = first};
        memset((void *)(uintptr_t)counts.at, 0, 8);
        must(cuzk_select_count(&s, &selection, of_bits, bitmap, counts.at, NULL, &error), &error);
        assert_int_equal(((const uint32_t *)(uintptr_t)counts.at)[0], n_bits);
        assert_int_equal(((const uint32_t *)(uintptr_t)counts.at)[1], n_wanted);
        must(cuzk_select_values(&s, &selection, bitmap, of_words, index.at, which.at, workspace.at,
                                NULL, &error),
             &error);
        assert_memory_equal((const void *)(uintptr_t)index.at, wanted_index, 4 * n_wanted);
        assert_memory_equal((const void *)(uintptr_t)which.at, wanted_which, 4 * n_wanted);
        unguard(&workspace, "selected values", n);
        unguard(&index, "bases of selected values", n);
        unguard(&which, "numbers of selected values", n);
        unguard(&counts, "counts of selected variables", n);
        free_all((const CUdeviceptr[]){bitmap, of_words, of_bits}, 3);
    }
    cuzk_point_summer_close(&s);
}

/* A transform and its table stay in the memory that is told for them, whole or short. */
static void test_transform_memory(void **state)
{
    (void)state;
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    for (unsigned lg = 0; lg <= 7; lg++) {
        for (unsigned lg_factors = lg < 3 ? lg : 3; lg_factors <= lg; lg_factors += 2) {
            cuzk_error error = {0};
            cuzk_transformer t;
            guarded factors = guard(cuzk_transformer_bytes(lg, lg_factors));
            guarded values = guard((size_t)32 << lg);
            memset((void *)(uintptr_t)values.at, 0, (size_t)32 << lg);
            memcpy((void *)(uintptr_t)values.at, curve->fr_one.l, 32);
            must(cuzk_transformer_open(&t, device.api, curve, 7, lg, lg_factors, factors.at, NULL,
                                       &error),
                 &error);
            must(cuzk_transform_forward(&t, CUZK_TRANSFORM_PLAIN, lg, values.at, NULL, &error),
                 &error);
            for (size_t i = 0; i < (size_t)1 << lg; i++) { /* of the constant 1 */
                assert_memory_equal((const void *)(uintptr_t)(values.at + 32 * i), curve->fr_one.l,
                                    32);
            }
            cuzk_transformer_close(&t);
            unguard(&values, "values of a transform", lg);
            unguard(&factors, "factors of a transform", lg_factors);
        }
    }
}

/* ---- what is refused ---- */

static void test_transforms_refused(void **state)
{
    (void)state;
    cuzk_error error = {0};
    cuzk_transformer t;
    const cuzk_curve *bls = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    cuzk_curve few_roots = *cuzk_curve_get(CUZK_CURVE_BN254);
    few_roots.two_adicity = 3;
    assert_int_equal(cuzk_transformer_open(&t, device.api, bls, 7, 29, 29, 0, NULL, &error),
                     CUZK_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "2^29 points on bls12"));
    assert_non_null(strstr(error.text, "the largest are 2^28"));
    error = (cuzk_error){0};
    assert_int_equal(cuzk_transformer_open(&t, device.api, &few_roots, 5, 4, 4, 0, NULL, &error),
                     CUZK_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "the largest are 2^3"));
    static const unsigned tables[] = {0, 2, 9, 28};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        error = (cuzk_error){0};
        assert_int_equal(
            cuzk_transformer_open(&t, device.api, bls, 7, 8, tables[i], 0, NULL, &error),
            CUZK_E_ARGUMENT);
        assert_true(error.text[0] != '\0');
    }
    CUdeviceptr factors = device_bytes(NULL, cuzk_transformer_bytes(3, 3));
    error = (cuzk_error){0};
    must(cuzk_transformer_open(&t, device.api, &few_roots, 5, 3, 3, factors, NULL, &error), &error);
    assert_int_equal(cuzk_transform_forward(&t, CUZK_TRANSFORM_PLAIN, 4, 0, NULL, &error),
                     CUZK_E_ARGUMENT);
    assert_non_null(strstr(error.text, "2^4 values"));
    error = (cuzk_error){0};
    assert_int_equal(cuzk_transform_inverse(&t, CUZK_TRANSFORM_SHIFTED, 3, 0, NULL, NULL, &error),
                     CUZK_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "needs a root of unity of order 2^4"));
    cuzk_transformer_close(&t);
    free_all(&factors, 1);
}

static void test_sums_refused(void **state)
{
    (void)state;
    static const struct {
        cuzk_point_sum_params params;
        const char *text;
    } cases[] = {
        {{.n = 1, .window_bits = 3}, "windows of 3 bits, not 4 to 24"},
        {{.n = 1, .window_bits = 25}, "windows of 25 bits, not 4 to 24"},
        {{.n = 1u << 28}, "268435456 scalars, at most 2^28 - 1"},
        {{.n = UINT32_MAX}, "4294967295 scalars"},
        {{.n = 1u << 27, .window_bits = 4, .windows_together = 64, .halves = CUZK_HALVES_NEVER},
         "64 windows of 134217728 scalars"},
        {{.n = 1u << 27, .window_bits = 4, .windows_together = 64},
         "32 windows of 268435456 halves"},
        {{.n = 1, .bases = 4096, .images = 4096 + 16, .halves = CUZK_HALVES_ALWAYS},
         "not a whole number of coordinates"},
    };
    cuzk_point_summer s;
    cuzk_error error = {0};
    cuzk_jac sum;
    must(cuzk_point_summer_open(&s, device.api, cuzk_curve_get(CUZK_CURVE_BN254), &error), &error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error = (cuzk_error){0};
        assert_int_equal(cuzk_point_sum(&s, &sum, &cases[i].params, 0, NULL, &error),
                         CUZK_E_ARGUMENT);
        if (strstr(error.text, cases[i].text) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", cases[i].text, error.text);
        }
    }
    /* nothing to add is no call of the driver */
    cuzk_point_sum_params none = {.group = CUZK_G2};
    error = (cuzk_error){0};
    must(cuzk_point_sum(&s, &sum, &none, 0, NULL, &error), &error);
    assert_true(s.curve->g[CUZK_G2].is_infinity(&sum));
    cuzk_point_summer_close(&s);
}

int main(void)
{
    device_test_open();
    cuda_test_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workspaces),       cmocka_unit_test(test_selected_values),
        cmocka_unit_test(test_transform_memory), cmocka_unit_test(test_transforms_refused),
        cmocka_unit_test(test_sums_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
