/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sums of scalar multiples and of selected bases on the device against the CPU's, bit for bit. */
#include "backend/cuda/point_summer_impl.h"
#include "device_test.h"
#include "field/bls12_381_consts.h"
#include "field/bn254_consts.h"
#include "field/halves_consts.h"
#include "msm/msm.h"

static const cuzk_curve *curve;
static cuzk_point_summer summer;

static void open_summer(cuzk_curve_id id)
{
    cuzk_error error = {0};
    curve = cuzk_curve_get(id);
    must(cuzk_point_summer_open(&summer, device.api, curve, &error), &error);
    must(cuzk_point_adder_fit(&summer.adder, (unsigned)device.n_sms, &error), &error);
}

/* What the endomorphism multiplies by. */
static cuzk_fr lambda(void)
{
    static const uint64_t words[][4] = {
        [CUZK_CURVE_BN254] = CUZK_BN254_LAMBDA, [CUZK_CURVE_BLS12_381] = CUZK_BLS12_381_LAMBDA};
    cuzk_fr l;
    curve->fr_batch_from_canonical(&l, words[curve->id], 1);
    return l;
}

/* n packed bases: small multiples of the generator, so that many are equal, opposite ones, and
 * infinity; and those times lambda, which are the others' images. */
static char *draw_bases(const cuzk_group *g, size_t n)
{
    enum { DIFFERENT = 37, IMAGES = 12 };
    char different[DIFFERENT * sizeof(cuzk_affine)], *bases = malloc(n * g->affine_bytes + 1);
    cuzk_affine generator;
    cuzk_jac p, image;
    cuzk_fr l = lambda();
    g->generator(&generator);
    g->set_infinity(&p);
    for (size_t i = 0; i < DIFFERENT; i++) {
        if (i < DIFFERENT - IMAGES) {
            g->to_affine(different + i * g->affine_bytes, &p);
            g->add_affine(&p, &p, &generator);
        } else {
            g->from_affine(&image, different + (i - IMAGES) * g->affine_bytes);
            g->mul(&image, &image, &l);
            g->to_affine(different + i * g->affine_bytes, &image);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const char *from = different + cuda_test_random() % DIFFERENT * g->affine_bytes;
        if (cuda_test_random() % 4 == 0) {
            g->affine_neg(bases + i * g->affine_bytes, from);
        } else {
            memcpy(bases + i * g->affine_bytes, from, g->affine_bytes);
        }
    }
    return bases;
}

typedef enum { MIXED, ZEROS, ONES, LARGEST, EDGES, SCALAR_KINDS } scalar_kind;

/* A scalar where halves begin to differ: a + b·lambda with small a and b, of which the halves are a
 * and b; its half, which is half way between two such; the shortest vectors' multiples and what is
 * half way between; powers of two about the length of a half. Less or more than that by one. */
static void draw_edge(uint64_t k[4])
{
    static const uint64_t vectors[][2][2] = {
        [CUZK_CURVE_BN254] = {CUZK_BN254_GLV_A2, CUZK_BN254_GLV_B1},
        [CUZK_CURVE_BLS12_381] = {CUZK_BLS12_381_GLV_A2, CUZK_BLS12_381_GLV_B1}};
    cuzk_fr a, b, l = lambda();
    uint64_t words[4] = {0};
    curve->fr_from_u64(&a, cuda_test_random() % 4);
    curve->fr_from_u64(&b, cuda_test_random() % 4);
    curve->fr_mul(&b, &b, &l);
    switch (cuda_test_random() % 4) {
    case 0: /* a vector's multiple */
        memcpy(words, vectors[curve->id][cuda_test_random() % 2], 16);
        curve->fr_batch_from_canonical(&b, words, 1);
        curve->fr_mul(&a, &a, &b);
        curve->fr_from_u64(&b, 0);
        break;
    case 1:
        words[1] = UINT64_C(1) << (61 + cuda_test_random() % 3);
        words[2] = cuda_test_random() % 2;
        curve->fr_batch_from_canonical(&a, words, 1);
        break;
    default:
        break;
    }
    curve->fr_add(&a, &a, &b);
    if (cuda_test_random() % 2 == 0) {
        curve->fr_from_u64(&b, 2);
        curve->fr_inv(&b, &b);
        curve->fr_mul(&a, &a, &b);
    }
    switch (cuda_test_random() % 4) {
    case 0:
        curve->fr_neg(&a, &a);
        break;
    case 1:
        curve->fr_add(&a, &a, &curve->fr_one);
        break;
    case 2:
        curve->fr_sub(&a, &a, &curve->fr_one);
        break;
    default:
        break;
    }
    curve->fr_batch_to_canonical(k, &a, 1);
}

static uint64_t *draw_scalars(size_t n, scalar_kind kind)
{
    uint64_t *scalars = calloc(n + 1, 32);
    for (size_t i = 0; i < n; i++) {
        uint64_t *k = scalars + 4 * i, what = cuda_test_random() % 8;
        if (kind == EDGES) {
            draw_edge(k);
        } else if (kind == ONES || (kind == MIXED && what == 0)) {
            k[0] = 1;
        } else if (kind == LARGEST || (kind == MIXED && what == 1)) {
            memcpy(k, curve->r, 32);
            k[0] -= 1;
        } else if (kind == MIXED && what > 2) { /* what 2: zero */
            for (int j = 0; j < (what == 3 ? 1 : 4); j++) {
                k[j] = cuda_test_random();
            }
            k[3] >>= 3;
        }
    }
    return scalars;
}

static void check_equal(const cuzk_group *g, const cuzk_jac *expected, const cuzk_jac *found,
                        const char *what, size_t n)
{
    cuzk_affine e, f;
    g->to_affine(&e, expected);
    g->to_affine(&f, found);
    if (memcmp(&e, &f, g->affine_bytes) != 0) {
        fail_msg("%s G%d: %s, n = %zu: the sum differs from the host's", curve->name, g->id + 1,
                 what, n);
    }
}

/* Whether scalars are halved, and then where the images are. */
typedef enum { WHOLE, IN_WORKSPACE, READY, BEFORE, HALVINGS } halving;

/* Room for images on both sides of the bases; those that are asked for are there. */
static CUdeviceptr put_bases(cuzk_point_sum_params *params, const char *bases, uint32_t n,
                             halving how)
{
    cuzk_error error = {0};
    size_t n_bytes = n * curve->g[params->group].affine_bytes;
    CUdeviceptr all = device_bytes(NULL, 3 * n_bytes);
    params->halves = how == WHOLE ? CUZK_HALVES_NEVER : CUZK_HALVES_ALWAYS;
    params->bases = all + n_bytes;
    if (n_bytes != 0) {
        DRIVER(cuMemcpyHtoD, (params->bases, bases, n_bytes));
    }
    if (how == READY || how == BEFORE) {
        params->images = how == READY ? params->bases + n_bytes : all;
        must(cuzk_point_images(&summer, params->group, params->bases, 0, n, params->images, NULL,
                               &error),
             &error);
    }
    return all;
}

static void check_halving(cuzk_group_id id, uint32_t n, scalar_kind kind, unsigned bits,
                          unsigned together, bool with_index, halving how)
{
    cuzk_error error = {0};
    const cuzk_group *g = &curve->g[id];
    uint32_t n_bases = with_index ? 3 * n + 5 : n;
    char *bases = draw_bases(g, n_bases);
    uint64_t *scalars = draw_scalars(n, kind);
    uint32_t *index = malloc(4 * (size_t)n + 4);
    for (uint32_t i = 0; i < n; i++) { /* ascending, as the CPU wants it */
        index[i] = 3 * i + (uint32_t)(cuda_test_random() % 3);
    }
    cuzk_point_sum_params params = {
        .group = id, .n = n, .window_bits = bits, .windows_together = together};
    CUdeviceptr d[4] = {put_bases(&params, bases, n_bases, how),
                        device_bytes(scalars, 32 * (size_t)n), device_bytes(index, 4 * (size_t)n)};
    params.scalars = d[1];
    params.index = with_index ? d[2] : 0;
    d[3] = device_bytes(NULL, cuzk_point_sum_bytes(&summer, &params));
    cuzk_jac found;
    must(cuzk_point_sum(&summer, &found, &params, d[3], NULL, &error), &error);

    cuzk_msm_query query = {.group = id, .bases = bases};
    cuzk_msm_params host = {.scalars = scalars,
                            .base_index = with_index ? index : NULL,
                            .n = n,
                            .queries = &query,
                            .n_queries = 1};
    size_t ws_bytes = cuzk_msm_workspace_bytes(curve, &host, device_test_pool());
    void *ws = aligned_alloc(64, (ws_bytes + 127) & ~(size_t)63);
    must(cuzk_msm(curve, &host, ws, ws_bytes, device_test_pool(), &error), &error);
    check_equal(g, &query.sum, &found, "multiples", n);
    free_all(d, 4);
    free(ws);
    free(bases);
    free(scalars);
    free(index);
}

static void check_sum(cuzk_group_id id, uint32_t n, scalar_kind kind, unsigned bits,
                      unsigned together, bool with_index)
{
    static unsigned number; /* every way in turn; where that is quick, all of them */
    for (unsigned i = 0; i < (device_test_is_small() ? 1 : HALVINGS); i++) {
        check_halving(id, n, kind, bits, together, with_index, (halving)(number++ % HALVINGS));
    }
}

static void check_bits(cuzk_group_id id, uint32_t n, unsigned percent)
{
    cuzk_error error = {0};
    const cuzk_group *g = &curve->g[id];
    size_t n_words = (n + 63) / 64;
    char *bases = draw_bases(g, n);
    uint64_t *words = calloc(n_words + 1, 8);
    uint32_t n_ones = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t bit = cuda_test_random() % 100 < percent;
        words[i / 64] |= bit << i % 64;
        n_ones += (uint32_t)bit;
    }
    CUdeviceptr d[3] = {device_bytes(bases, n * g->affine_bytes), device_bytes(words, 8 * n_words),
                        device_bytes(NULL, cuzk_point_sum_bits_bytes(&summer, id, n, n_ones))};
    cuzk_jac found;
    cuzk_point_bits_params params = {
        .group = id, .bases = d[0], .bits = d[1], .selection = {.n_vars = n}, .n_ones = n_ones};
    must(cuzk_point_sum_bits(&summer, &found, &params, d[2], NULL, &error), &error);
    if (n_ones > 0) {
        cuzk_jac unused;
        params.n_ones--;
        assert_int_equal(cuzk_point_sum_bits(&summer, &unused, &params, d[2], NULL, &error),
                         CUZK_E_ARGUMENT);
        error = (cuzk_error){0};
    }
    cuzk_msm_query query = {.group = id, .bases = bases};
    size_t ws_bytes = cuzk_bit_sum_workspace_bytes(curve, n, 1, device_test_pool());
    void *ws = aligned_alloc(64, (ws_bytes + 127) & ~(size_t)63);
    cuzk_bit_sum_params on_host = {.bitmap = words, .n = n, .queries = &query, .n_queries = 1};
    must(cuzk_bit_sum(curve, &on_host, ws, ws_bytes, device_test_pool(), &error), &error);
    check_equal(g, &query.sum, &found, "bits", n);
    free_all(d, 3);
    free(ws);
    free(bases);
    free(words);
}

static void check_group(cuzk_group_id id)
{
    static const uint32_t sizes[] = {0, 1, 2, 31, 65};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        check_sum(id, sizes[i], MIXED, 0, 0, i % 2 == 0);
        check_bits(id, sizes[i], 50);
    }
    for (int kind = ZEROS; kind < SCALAR_KINDS; kind++) {
        check_sum(id, 40, (scalar_kind)kind, 5, 0, false);
    }
    check_halving(id, 150, EDGES, 0, 0, true, IN_WORKSPACE);
    check_halving(id, 33, EDGES, 11, 0, false, READY);
    check_bits(id, 300, 0);
    check_bits(id, 300, 100);
    /* windows in groups, the last of them short or alone */
    check_sum(id, 50, MIXED, 4, 0, false);
    check_sum(id, 60, MIXED, 7, 1, true);
    check_sum(id, 70, MIXED, 8, 5, false);
    check_sum(id, 80, MIXED, 6, 40, false);
}

static void check_curve(cuzk_curve_id id)
{
    open_summer(id);
    check_group(CUZK_G1);
    check_group(CUZK_G2);
    if (!device_test_is_small()) {
        check_sum(CUZK_G1, 1000003, MIXED, 0, 0, true);
        check_sum(CUZK_G2, 200003, MIXED, 0, 0, false);
        check_bits(CUZK_G1, 3000001, 50);
        check_bits(CUZK_G2, 500001, 90);
        check_sum(CUZK_G1, 1 << 22, MIXED, 20, 0, false);
        check_sum(CUZK_G1, 1 << 20, LARGEST, 16, 3, false);
    } else { /* several tiles of the sort and of the scan */
        check_sum(CUZK_G1, 700, MIXED, 8, 0, false);
    }
    cuzk_point_summer_close(&summer);
}

static void test_bn254(void **state)
{
    (void)state;
    check_curve(CUZK_CURVE_BN254);
}

static void test_bls12_381(void **state)
{
    (void)state;
    check_curve(CUZK_CURVE_BLS12_381);
}

static void test_refused(void **state)
{
    (void)state;
    cuzk_error error = {0};
    cuzk_jac sum;
    open_summer(CUZK_CURVE_BN254);
    cuzk_point_sum_params params = {.group = CUZK_G1, .n = 1, .window_bits = 25};
    assert_int_equal(cuzk_point_sum(&summer, &sum, &params, 0, NULL, &error), CUZK_E_ARGUMENT);
    params = (cuzk_point_sum_params){.group = CUZK_G1, .n = 1u << 28};
    error = (cuzk_error){0};
    assert_int_equal(cuzk_point_sum(&summer, &sum, &params, 0, NULL, &error), CUZK_E_ARGUMENT);
    cuzk_point_summer_close(&summer);
}

/* A workspace that is sized for n_max scalars is enough for fewer, which may have more windows
 * together. */
static void test_fewer(void **state)
{
    (void)state;
    enum { GUARD = 4096 };
    cuzk_error error = {0};
    open_summer(CUZK_CURVE_BN254);
    const cuzk_group *g = &curve->g[CUZK_G1];
    cuzk_point_sum_params params = {.group = CUZK_G1, .n_max = 90};
    char *bases = draw_bases(g, params.n_max);
    uint64_t *scalars = draw_scalars(params.n_max, MIXED);
    params.bases = device_bytes(bases, params.n_max * g->affine_bytes);
    params.scalars = device_bytes(scalars, 32 * (size_t)params.n_max);
    for (params.windows_together = 1; params.windows_together <= 4; params.windows_together += 3) {
        size_t n_bytes = cuzk_point_sum_bytes(&summer, &params);
        CUdeviceptr ws = device_bytes(NULL, n_bytes + GUARD);
        for (params.n = 0; params.n <= params.n_max; params.n += 15) {
            cuzk_jac found;
            must(cuzk_point_sum(&summer, &found, &params, ws, NULL, &error), &error);
            unsigned char *guard = host_bytes(ws + n_bytes, GUARD);
            for (int i = 0; i < GUARD; i++) {
                assert_int_equal(guard[i], 0xcc);
            }
            free(guard);
            cuzk_point_sum_params alone = params;
            alone.n_max = alone.windows_together = 0;
            CUdeviceptr other = device_bytes(NULL, cuzk_point_sum_bytes(&summer, &alone));
            cuzk_jac expected;
            must(cuzk_point_sum(&summer, &expected, &alone, other, NULL, &error), &error);
            check_equal(g, &expected, &found, "fewer", params.n);
            free_all(&other, 1);
        }
        free_all(&ws, 1);
    }
    params.n = params.n_max + 1;
    assert_int_equal(cuzk_point_sum(&summer, &(cuzk_jac){{0}}, &params, 0, NULL, &error),
                     CUZK_E_ARGUMENT);
    CUdeviceptr inputs[] = {params.bases, params.scalars};
    free_all(inputs, 2);
    free(bases);
    free(scalars);
    cuzk_point_summer_close(&summer);
}

/* n images at a place that is a multiple of 16 only, of the first bases or of those that an index
 * names: lambda times each. */
static void check_images(const cuzk_group *g, uint32_t n, bool has_index)
{
    enum { N_BASES = 300, GUARD = 64 };
    cuzk_error error = {0};
    uint32_t index[N_BASES];
    char *bases = draw_bases(g, N_BASES);
    memset(bases, 0, g->affine_bytes); /* infinity is its own image */
    for (uint32_t i = 0; i < N_BASES; i++) {
        index[i] = has_index ? (uint32_t)(cuda_test_random() % N_BASES) : i;
    }
    CUdeviceptr from = device_bytes(bases, N_BASES * g->affine_bytes),
                at = device_bytes(index, sizeof index),
                out = device_bytes(NULL, n * g->affine_bytes + 16 + GUARD);
    must(cuzk_point_images(&summer, g->id, from, has_index ? at : 0, n, out + 16, NULL, &error),
         &error);
    unsigned char *found = host_bytes(out, n * g->affine_bytes + 16 + GUARD);
    cuzk_fr l = lambda();
    for (uint32_t i = 0; i < n; i++) {
        cuzk_affine expected;
        cuzk_jac p;
        g->from_affine(&p, bases + index[i] * g->affine_bytes);
        g->mul(&p, &p, &l);
        g->to_affine(&expected, &p);
        if (memcmp(found + 16 + i * g->affine_bytes, &expected, g->affine_bytes) != 0) {
            fail_msg("%s: image %u of %u is another one", curve->name, i, n);
        }
    }
    for (int i = 0; i < 16 + GUARD; i++) {
        assert_int_equal(found[i < 16 ? (size_t)i : n * g->affine_bytes + (size_t)i], 0xcc);
    }
    const CUdeviceptr all[] = {from, at, out};
    free_all(all, 3);
    free(found);
    free(bases);
}

static void test_images(void **state)
{
    static const uint32_t sizes[] = {1, 31, 32, 33, 127, 128, 129, 290};
    (void)state;
    for (int id = CUZK_CURVE_BN254; id <= CUZK_CURVE_BLS12_381; id++) {
        open_summer((cuzk_curve_id)id);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (int k = 0; k < 4; k++) {
                check_images(&curve->g[k % 2], sizes[i], k >= 2);
            }
        }
        cuzk_point_summer_close(&summer);
    }
}

/* Prefix sums of n words that lie anywhere, with nothing else written. */
static void check_scan(uint32_t n)
{
    cuzk_error error = {0};
    uint32_t *a = malloc(4 * ((size_t)n + 3)), sum = 0;
    for (uint32_t i = 0; i < n + 3; i++) {
        a[i] = (uint32_t)cuda_test_random();
    }
    CUdeviceptr at = device_bytes(a, 4 * ((size_t)n + 3)),
                sums = device_bytes(NULL, 4 * ((size_t)n / CUZK_SCAN_TILE + 1));
    must(cuzk_sum_scan(&summer, cuzk_device_address(at + 4), cuzk_device_address(sums), n, NULL,
                       &error),
         &error);
    uint32_t *found = host_bytes(at, 4 * ((size_t)n + 3));
    assert_int_equal(found[0], a[0]);
    assert_memory_equal(found + n + 1, a + n + 1, 8);
    for (uint32_t i = 0; i < n; i++) {
        if (found[i + 1] != sum) {
            fail_msg("scan of %u: word %u is %u, expected %u", n, i, found[i + 1], sum);
        }
        sum += a[i + 1];
    }
    free_all((const CUdeviceptr[]){at, sums}, 2);
    free(found);
    free(a);
}

/* One tile, a few, and more than are added up by their blocks. */
static void test_scan(void **state)
{
    static const uint32_t sizes[] = {1,
                                     32,
                                     33,
                                     CUZK_SCAN_TILE - 1,
                                     CUZK_SCAN_TILE,
                                     CUZK_SCAN_TILE + 1,
                                     300 * CUZK_SCAN_TILE + 77,
                                     CUZK_SCAN_FEW * CUZK_SCAN_TILE + 5};
    (void)state;
    open_summer(CUZK_CURVE_BN254);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_scan(sizes[i]);
    }
    cuzk_point_summer_close(&summer);
}

int main(void)
{
    device_test_open();
    cuda_test_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bn254),  cmocka_unit_test(test_bls12_381),
        cmocka_unit_test(test_images), cmocka_unit_test(test_scan),
        cmocka_unit_test(test_fewer),  cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
