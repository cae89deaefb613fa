/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Times of transforms and quotients: bench_gpu_steps.c says how. */
#include "backend/cuda/image.h"
#include "backend/cuda/transformer.h"
#include "bench_gpu_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUZK_DECLARE_IMAGES(transform_tiles);

typedef struct {
    const cuzk_transformer *t;
    unsigned lg_n;
    CUdeviceptr a, b, c;
    cuzk_device_quotient_form form;
    cuzk_transform_kind kind;
} transform_run;

static void run_forward(void *context)
{
    transform_run *r = context;
    cuzk_error error = {0};
    must(cuzk_transform_forward(r->t, r->kind, r->lg_n, r->a, NULL, &error), &error);
}

static void run_inverse(void *context)
{
    transform_run *r = context;
    cuzk_error error = {0};
    must(cuzk_transform_inverse(r->t, r->kind, r->lg_n, r->a, NULL, NULL, &error), &error);
}

static void run_quotient(void *context)
{
    transform_run *r = context;
    cuzk_error error = {0};
    must(cuzk_transform_quotient(r->t, r->form, r->lg_n, r->a, r->b, r->c, NULL, &error), &error);
}

static bool round_trip(transform_run *r, const uint64_t *values)
{
    size_t n = (size_t)1 << r->lg_n;
    cuzk_error error = {0};
    cuzk_fr n_inv;
    uint64_t *found = malloc(32 * n);
    r->t->curve->fr_from_u64(&n_inv, n);
    r->t->curve->fr_inv(&n_inv, &n_inv);
    DRIVER(cuMemcpyHtoD, (r->a, values, 32 * n));
    run_forward(r);
    must(cuzk_transform_inverse(r->t, r->kind, r->lg_n, r->a, &n_inv, NULL, &error), &error);
    DRIVER(cuCtxSynchronize, ());
    DRIVER(cuMemcpyDtoH, (found, r->a, 32 * n));
    bool same = memcmp(found, values, 32 * n) == 0;
    free(found);
    return same;
}

/* The plain and the shifted kind, forward and back. */
static void bench_kinds(transform_run *r, const uint64_t *values, const char *kernels,
                        double lane_cycles)
{
    static const char *const names[2][2] = {{"ntt forward", "ntt forward shifted"},
                                            {"ntt inverse", "ntt inverse shifted"}};
    char name[64];
    for (int kind = 0; kind < 2; kind++) {
        r->kind = (cuzk_transform_kind)kind;
        bool right = round_trip(r, values);
        for (int back = 0; back < 2; back++) {
            snprintf(name, sizeof(name), "%s%s", names[back][kind], kernels);
            print_row(r->t->curve->name, name, r->lg_n,
                      median_ms(back ? run_inverse : run_forward, r), lane_cycles, right);
        }
    }
}

static void bench_quotients(transform_run *r, const uint64_t *values, const char *kernels,
                            double lane_cycles)
{
    char name[64];
    for (int form = 0; form < 2; form++) {
        r->form = (cuzk_device_quotient_form)form;
        DRIVER(cuMemcpyHtoD, (r->a, values, (size_t)32 << r->lg_n));
        DRIVER(cuMemcpyHtoD, (r->b, values, (size_t)32 << r->lg_n));
        snprintf(name, sizeof(name), "quotient %s%s", form == 0 ? "circom" : "plain", kernels);
        print_row(r->t->curve->name, name, r->lg_n, median_ms(run_quotient, r), 6 * lane_cycles,
                  true);
    }
}

/* The same with blocks of other sizes: forward passes all of 2^11 elements, or all of 2^10; inverse
 * ones of 2^11. */
static void bench_tiles(transform_run *r, const uint64_t *values, double lane_cycles)
{
    const cuzk_transformer *usual = r->t;
    CUmodule module;
    cuzk_transformer t = *usual;
    r->t = &t;
    t.forward = usual->forward_first;
    bench_kinds(r, values, " forward by 2^11", lane_cycles);
    bench_quotients(r, values, " forward by 2^11", lane_cycles);
    t.forward = usual->forward;
    t.forward_first = usual->forward;
    bench_kinds(r, values, " forward by 2^10", lane_cycles);
    t.forward_first = usual->forward_first;
    bool is_bn254 = t.curve->id == CUZK_CURVE_BN254;
    DRIVER(cuModuleLoadData, (&module, is_bn254 ? CUZK_IMAGE(transform_tiles, bn254)
                                                : CUZK_IMAGE(transform_tiles, bls12_381)));
    DRIVER(cuModuleGetFunction, (&t.inverse.function, module, "transform_inverse_large"));
    t.inverse.lg_tile = CUZK_TRANSFORM_LG_TILE;
    bench_kinds(r, values, " inverse by 2^11", lane_cycles);
    bench_quotients(r, values, " inverse by 2^11", lane_cycles);
    DRIVER(cuModuleUnload, (module));
    r->t = usual;
}

void bench_transforms(const cuzk_curve *curve, unsigned lg_max, bool with_tiles)
{
    cuzk_error error = {0};
    cuzk_transformer t;
    lg_max = lg_max >= curve->two_adicity ? curve->two_adicity - 1 : lg_max;
    size_t n_bytes = (size_t)32 << lg_max;
    uint64_t *values = random_elements(curve, (size_t)1 << lg_max);
    CUdeviceptr factors = device_bytes(NULL, cuzk_transformer_bytes(lg_max, lg_max));
    transform_run r = {.t = &t};
    r.a = device_bytes(values, n_bytes);
    r.b = device_bytes(values, n_bytes);
    r.c = device_bytes(NULL, n_bytes);
    must(cuzk_transformer_open(&t, device.api, curve, curve->id == CUZK_CURVE_BN254 ? 5 : 7, lg_max,
                               lg_max, factors, NULL, &error),
         &error);
    int cycles = curve->id == CUZK_CURVE_BN254 ? 428 : 372; /* of a factor multiplication */
    for (r.lg_n = with_tiles ? 20 : lg_max % 3 + 18; r.lg_n <= lg_max;
         r.lg_n += with_tiles ? 1 : 3) {
        double one = (double)((size_t)1 << r.lg_n) / 2 * r.lg_n * cycles;
        bench_kinds(&r, values, "", one);
        bench_quotients(&r, values, "", one);
        if (with_tiles) {
            bench_tiles(&r, values, one);
        }
    }
    cuzk_transformer_close(&t);
    const CUdeviceptr all[] = {factors, r.a, r.b, r.c};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        DRIVER(cuMemFree, (all[i]));
    }
    free(values);
}
