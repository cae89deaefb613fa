/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Field operations and batched point additions on the device against the host, bit for bit. */
#include "backend/cuda/field_check.h"
#include "backend/cuda/image.h"
#include "backend/cuda/point_adder.h"
#include "device_test.h"

static void check_field(const shared_ops *f, CUmodule module, uint32_t n)
{
    cuzk_error error = {0};
    const size_t out_bytes = f->bytes * CUZK_FIELD_CHECK_RESULTS;
    char *a = malloc(n * f->bytes), *b = malloc(n * f->bytes), *found = malloc(n * out_bytes);
    for (uint32_t i = 0; i < n; i++) {
        f->draw(a + i * f->bytes, cuda_test_random);
        f->draw(b + i * f->bytes, cuda_test_random);
    }
    CUfunction kernel;
    CUdeviceptr d[3] = {device_bytes(NULL, n * out_bytes), device_bytes(a, n * f->bytes),
                        device_bytes(b, n * f->bytes)};
    void *params[] = {&d[0], &d[1], &d[2], &n};
    DRIVER(cuModuleGetFunction, (&kernel, module, f->kernel));
    DRIVER(cuLaunchKernel, (kernel, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    DRIVER(cuCtxSynchronize, ());
    DRIVER(cuMemcpyDtoH, (found, d[0], n * out_bytes));
    for (uint32_t i = 0; i < n; i++) {
        uint64_t expected[12 * CUZK_FIELD_CHECK_RESULTS];
        f->check(expected, a + i * f->bytes, b + i * f->bytes);
        for (int r = 0; r < CUZK_FIELD_CHECK_RESULTS; r++) {
            if (memcmp((char *)expected + r * f->bytes, found + i * out_bytes + r * f->bytes,
                       f->bytes) != 0) {
                fail_msg("%s: result %d of pair %u differs from the host's", f->name, r, i);
            }
        }
    }
    free_all(d, 3);
    free(a);
    free(b);
    free(found);
}

static void test_fields(void **state)
{
    (void)state;
    cuzk_error error = {0};
    for (int curve = 0; curve < 2; curve++) {
        CUmodule module;
        DRIVER(cuModuleLoadData, (&module, curve == 0 ? CUZK_IMAGE(field_check, bn254)
                                                      : CUZK_IMAGE(field_check, bls12_381)));
        for (int field = 0; field < SHARED_OPS_FIELDS; field++) {
            check_field(&shared_ops_of(curve)[field], module, device_test_is_small() ? 211 : 20011);
        }
        DRIVER(cuModuleUnload, (module));
    }
}

static void check_loose(const loose_ops *ops, CUmodule module, uint32_t n)
{
    cuzk_error error = {0};
    const size_t bytes = ops->bytes, out_bytes = bytes * (size_t)ops->n_results;
    char *a = malloc(n * bytes), *b = malloc(n * bytes);
    char *expected = malloc(out_bytes), *host = malloc(out_bytes);
    for (uint32_t i = 0; i < n; i++) {
        ops->draw(a + i * bytes, cuda_test_random);
        ops->draw(b + i * bytes, cuda_test_random);
    }
    CUfunction kernel;
    CUdeviceptr d[3] = {device_bytes(NULL, n * out_bytes), device_bytes(a, n * bytes),
                        device_bytes(b, n * bytes)};
    void *params[] = {&d[0], &d[1], &d[2], &n};
    DRIVER(cuModuleGetFunction, (&kernel, module, ops->kernel));
    DRIVER(cuLaunchKernel, (kernel, n / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    char *found = host_bytes(d[0], n * out_bytes);
    for (uint32_t i = 0; i < n; i++) {
        ops->expect(expected, a + i * bytes, b + i * bytes);
        if (ops->host != NULL) {
            ops->host(host, a + i * bytes, b + i * bytes);
            assert_memory_equal(host, expected, out_bytes);
        }
        for (int r = 0; r < ops->n_results; r++) {
            if (memcmp(expected + (size_t)r * bytes, found + i * out_bytes + (size_t)r * bytes,
                       bytes) != 0) {
                fail_msg("%s: result %d of pair %u differs", ops->name, r, i);
            }
        }
    }
    free_all(d, 3);
    free(a);
    free(b);
    free(expected);
    free(host);
    free(found);
}

/* Factors and loose values against products of reduced ones. */
static void test_loose(void **state)
{
    (void)state;
    cuzk_error error = {0};
    for (int curve = 0; curve < 2; curve++) {
        CUmodule module;
        DRIVER(cuModuleLoadData, (&module, curve == 0 ? CUZK_IMAGE(field_check, bn254)
                                                      : CUZK_IMAGE(field_check, bls12_381)));
        for (int i = 0; i < LOOSE_OPS; i++) {
            check_loose(&loose_ops_of(curve)[i], module, 1024);
        }
        DRIVER(cuModuleUnload, (module));
    }
}

enum { N_BASES = 200 };

/* Packed bases: few random points, infinity now and then, and on bls12_381 in G1 the finite point
 * (0, 2), whose x looks like that of infinity. Few, so that pairs are often equal or opposite. */
static char *draw_bases(const cuzk_curve *curve, const cuzk_group *g)
{
    char *bases = malloc(N_BASES * g->affine_bytes);
    cuzk_affine generator;
    g->generator(&generator);
    for (int i = 0; i < N_BASES; i++) {
        cuzk_fr k;
        cuzk_jac p, q;
        curve->fr_from_u64(&k, cuda_test_random());
        g->from_affine(&q, &generator);
        g->mul(&p, &q, &k);
        if (i % 10 == 0) {
            g->set_infinity(&p);
        }
        g->to_affine(bases + (size_t)i * g->affine_bytes, &p);
    }
    if (curve->id == CUZK_CURVE_BLS12_381 && g->id == CUZK_G1) {
        uint8_t two[48] = {2};
        uint64_t y[6];
        assert_true(curve->fp_from_canonical_le(y, two));
        memset(bases + g->affine_bytes, 0, g->coord_bytes);
        memcpy(bases + g->affine_bytes + g->coord_bytes, y, g->coord_bytes);
        assert_true(g->on_curve(bases + g->affine_bytes));
    }
    return bases;
}

/* expected = a + b; with `both`, the operands are taken negated as their flags say. */
static void host_add(const cuzk_group *g, void *expected, const void *a, bool negate_a,
                     const void *b, bool negate_b)
{
    cuzk_affine x, y;
    cuzk_jac p;
    memcpy(&x, a, g->affine_bytes);
    memcpy(&y, b, g->affine_bytes);
    if (negate_a) {
        g->affine_neg(&x, &x);
    }
    if (negate_b) {
        g->affine_neg(&y, &y);
    }
    g->from_affine(&p, &x);
    g->add_affine(&p, &p, &y);
    g->to_affine(expected, &p);
}

/* Compare n sums on the device with packed ones. */
static void compare(const cuzk_curve *curve, const cuzk_group *g, const char *what, uint32_t n,
                    CUdeviceptr x, CUdeviceptr y, const char *expected)
{
    cuzk_error error = {0};
    char *found = malloc(2 * n * g->coord_bytes);
    DRIVER(cuMemcpyDtoH, (found, x, n * g->coord_bytes));
    DRIVER(cuMemcpyDtoH, (found + n * g->coord_bytes, y, n * g->coord_bytes));
    for (uint32_t i = 0; i < n; i++) {
        const char *e = expected + i * g->affine_bytes;
        if (memcmp(e, found + i * g->coord_bytes, g->coord_bytes) != 0 ||
            memcmp(e + g->coord_bytes, found + (n + i) * g->coord_bytes, g->coord_bytes) != 0) {
            fail_msg("%s G%d, %s, %u pairs: sum %u differs from the host's", curve->name, g->id + 1,
                     what, n, i);
        }
    }
    free(found);
}

/* One gathered batch of n pairs, then the pairs of its sums. */
static void check_sums(const cuzk_curve *curve, const cuzk_group *g, const cuzk_point_adder *adder,
                       uint32_t n, bool few_inverses)
{
    cuzk_error error = {0};
    char *bases = draw_bases(curve, g), *sums = malloc(n * g->affine_bytes);
    uint32_t *list = malloc(8 * (size_t)n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = (uint32_t)(cuda_test_random() % (2 * N_BASES));
        uint32_t second = (uint32_t)(cuda_test_random() % (2 * N_BASES));
        uint64_t kind = cuda_test_random() % 8;
        second = kind == 0 ? first : kind == 1 ? first ^ 1 : second;
        list[2 * i] = first;
        list[2 * i + 1] = second;
        if (kind == 2) { /* a point alone: plus the infinite base */
            list[2 * i + 1] = CUZK_ADD_NONE;
            second = 0;
        }
        host_add(g, sums + i * g->affine_bytes, bases + (first >> 1) * g->affine_bytes, first & 1,
                 bases + (second >> 1) * g->affine_bytes, second & 1);
    }
    CUdeviceptr d[7] = {device_bytes(bases, N_BASES * g->affine_bytes),
                        device_bytes(list, 8 * (size_t)n),
                        device_bytes(NULL, n * g->coord_bytes),
                        device_bytes(NULL, n * g->coord_bytes),
                        device_bytes(NULL, n * g->coord_bytes),
                        device_bytes(NULL, n * g->coord_bytes),
                        device_bytes(NULL, cuzk_point_add_workspace_bytes(g, n))};
    cuzk_add_args args = {.n_pairs = n};
    args.bases = (void *)(uintptr_t)d[0];
    args.list = (void *)(uintptr_t)d[1];
    args.out_x = (void *)(uintptr_t)d[2];
    args.out_y = (void *)(uintptr_t)d[3];
    cuzk_point_add_plan(&args, g, d[6]);
    if (few_inverses) { /* several totals a thread, as in the largest batches */
        args.n_inverses = args.n_inverses / 3 + 1;
    }
    must(cuzk_point_add_launch(adder, g->id, CUZK_ADD_GATHER, CUZK_TIME_GATHERED, &args, NULL,
                               &error),
         &error);
    DRIVER(cuCtxSynchronize, ());
    compare(curve, g, "gathered", n, d[2], d[3], sums);

    args.in_x = args.out_x;
    args.in_y = args.out_y;
    args.out_x = (void *)(uintptr_t)d[4];
    args.out_y = (void *)(uintptr_t)d[5];
    args.n_pairs = n / 2;
    cuzk_point_add_plan(&args, g, d[6]);
    must(cuzk_point_add_launch(adder, g->id, CUZK_ADD_PAIRS, CUZK_TIME_ADDITIONS, &args, NULL,
                               &error),
         &error);
    DRIVER(cuCtxSynchronize, ());
    for (uint32_t i = 0; i < n / 2; i++) {
        host_add(g, sums + i * g->affine_bytes, sums + 2 * i * g->affine_bytes, false,
                 sums + (2 * i + 1) * g->affine_bytes, false);
    }
    compare(curve, g, "neighbours", n / 2, d[4], d[5], sums);
    free_all(d, 7);
    free(bases);
    free(sums);
    free(list);
}

static void test_sums(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 8, 127, 128, 129, 1025, 20011};
    (void)state;
    for (int c = CUZK_CURVE_BN254; c <= CUZK_CURVE_BLS12_381; c++) {
        const cuzk_curve *curve = cuzk_curve_get((cuzk_curve_id)c);
        cuzk_error error = {0};
        cuzk_point_adder adder;
        must(cuzk_point_adder_open(&adder, device.api, curve->id, &error), &error);
        for (int g = 0; g < 2; g++) {
            for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
                if (device_test_is_small() && sizes[i] > 129) {
                    continue;
                }
                for (int s = 0; s < CUZK_ADD_SOURCES; s++) { /* whole waves, not of 64 threads */
                    adder.wave[g][s] = i % 2 == 0 ? 0 : 9;
                }
                check_sums(curve, &curve->g[g], &adder, sizes[i], i % 2 == 0);
            }
        }
        cuzk_point_adder_close(&adder);
    }
}

int main(void)
{
    device_test_open();
    cuda_test_begin();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields), cmocka_unit_test(test_loose),
                                       cmocka_unit_test(test_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
