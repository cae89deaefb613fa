/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Times of single group and pairing operations through struct cuzk_curve:
 *
 *     bench_curve [CURVE] [NAME] [RUNS]
 *
 * CSV on stdout: name, nanoseconds per operation as minimum and median over the runs. CUZK_CPU pins
 * the path. NAME limits to the rows that contain it. */
#include "base/clock.h"
#include "curve/curve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 16, RUNS_MAX = 1001 };

/* What one row works on; every body uses index i to vary its input. */
typedef struct {
    const cuzk_curve *curve;
    const cuzk_group *g;
    cuzk_jac jac[POINTS], acc;
    cuzk_affine affine[POINTS];
    uint8_t compressed[POINTS][96];
    cuzk_fr k[POINTS];
    uint8_t p[POINTS * 96], q[POINTS * 192];
    cuzk_gt e;
    uint64_t sink;
} bench_state;

typedef void (*bench_body)(bench_state *s, size_t i);

static void body_add(bench_state *s, size_t i)
{
    s->g->add(&s->acc, &s->acc, &s->jac[i]);
}

static void body_add_affine(bench_state *s, size_t i)
{
    s->g->add_affine(&s->acc, &s->acc, &s->affine[i]);
}

static void body_dbl(bench_state *s, size_t i)
{
    (void)i;
    s->g->dbl(&s->acc, &s->acc);
}

static void body_mul(bench_state *s, size_t i)
{
    s->g->mul(&s->acc, &s->jac[i], &s->k[i]);
}

static void body_to_affine(bench_state *s, size_t i)
{
    cuzk_affine a;
    s->g->to_affine(&a, &s->jac[i]);
    s->sink += a.l[0];
}

static void body_on_curve(bench_state *s, size_t i)
{
    s->sink += s->g->on_curve(&s->affine[i]);
}

static void body_subgroup(bench_state *s, size_t i)
{
    s->sink += s->g->in_subgroup(&s->affine[i]);
}

static void body_decode(bench_state *s, size_t i)
{
    cuzk_affine a;
    s->sink += s->g->decode(&a, s->compressed[i], CUZK_POINT_COMPRESSED, false);
}

static void body_pairing_1(bench_state *s, size_t i)
{
    s->curve->pairing_product(&s->e, s->p + i * s->curve->g[CUZK_G1].affine_bytes,
                              s->q + i * s->curve->g[CUZK_G2].affine_bytes, 1);
}

static void body_pairing_3(bench_state *s, size_t i)
{
    (void)i;
    s->curve->pairing_product(&s->e, s->p, s->q, 3);
}

static void body_pairing_4(bench_state *s, size_t i)
{
    (void)i;
    s->curve->pairing_product(&s->e, s->p, s->q, 4);
}

static void body_gt_mul(bench_state *s, size_t i)
{
    (void)i;
    s->curve->gt_mul(&s->e, &s->e, &s->e);
}

static void body_gt_pow(bench_state *s, size_t i)
{
    s->curve->gt_pow(&s->e, &s->e, &s->k[i]);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void row(bench_state *s, const char *prefix, const char *name, bench_body body, size_t n,
                int runs, const char *only)
{
    static double ns[RUNS_MAX];
    char full[64];
    snprintf(full, sizeof(full), "%s%s", prefix, name);
    if (only != NULL && strstr(full, only) == NULL) {
        return;
    }
    for (int r = -1; r < runs; r++) {
        uint64_t start = cuzk_now_ns();
        for (size_t i = 0; i < n; i++) {
            body(s, i % POINTS);
        }
        if (r >= 0) {
            ns[r] = (double)(cuzk_now_ns() - start) / (double)n;
        }
    }
    qsort(ns, (size_t)runs, sizeof(ns[0]), compare);
    printf("%s,%.1f,%.1f\n", full, ns[0], ns[runs / 2]);
}

static void prepare(bench_state *s, const cuzk_curve *curve)
{
    uint64_t x = 0x9e3779b97f4a7c15u;
    s->curve = curve;
    for (size_t i = 0; i < POINTS; i++) {
        cuzk_fr t;
        curve->fr_from_u64(&t, x += 0x9e3779b97f4a7c15u);
        curve->fr_inv(&s->k[i], &t); /* full width */
        for (int id = 0; id < 2; id++) {
            const cuzk_group *g = &curve->g[id];
            cuzk_affine a;
            cuzk_jac j;
            g->generator(&a);
            g->from_affine(&j, &a);
            g->mul(&j, &j, &s->k[i]);
            g->to_affine(&a, &j);
            memcpy((id == 0 ? s->p : s->q) + i * g->affine_bytes, &a, g->affine_bytes);
        }
    }
    curve->pairing_product(&s->e, s->p, s->q, 1);
}

static void prepare_group(bench_state *s, const cuzk_group *g)
{
    s->g = g;
    for (size_t i = 0; i < POINTS; i++) {
        memcpy(&s->affine[i], (g->id == CUZK_G1 ? s->p : s->q) + i * g->affine_bytes,
               g->affine_bytes);
        g->from_affine(&s->jac[i], &s->affine[i]);
        g->dbl(&s->jac[i], &s->jac[i]);
        if (g->encode != NULL) {
            g->encode(s->compressed[i], &s->affine[i], CUZK_POINT_COMPRESSED);
        }
    }
    s->acc = s->jac[0];
}

int main(int argc, char **argv)
{
    static bench_state s;
    const char *name = argc > 1 ? argv[1] : "bls12_381", *only = argc > 2 ? argv[2] : NULL;
    int runs = argc > 3 ? atoi(argv[3]) : 101;
    const cuzk_curve *curve = cuzk_curve_by_name(name);
    if (curve == NULL || runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "usage: bench_curve [CURVE] [NAME] [RUNS up to %d]\n", RUNS_MAX);
        return 2;
    }
    prepare(&s, curve);
    printf("name (%s; %s),min_ns,median_ns\n", curve->name,
           cuzk_cpu_path_name(cuzk_cpu_path_get()));
    for (int id = 0; id < 2; id++) {
        const char *prefix = id == 0 ? "g1_" : "g2_";
        prepare_group(&s, &curve->g[id]);
        row(&s, prefix, "add", body_add, 1000, runs, only);
        row(&s, prefix, "add_affine", body_add_affine, 1000, runs, only);
        row(&s, prefix, "dbl", body_dbl, 1000, runs, only);
        row(&s, prefix, "mul", body_mul, 10, runs, only);
        row(&s, prefix, "to_affine", body_to_affine, 50, runs, only);
        row(&s, prefix, "on_curve", body_on_curve, 500, runs, only);
        row(&s, prefix, "subgroup", body_subgroup, 10, runs, only);
        if (s.g->decode != NULL) {
            row(&s, prefix, "decode", body_decode, 20, runs, only);
        }
    }
    row(&s, "", "pairing_1", body_pairing_1, 2, runs, only);
    row(&s, "", "pairing_3", body_pairing_3, 2, runs, only);
    row(&s, "", "pairing_4", body_pairing_4, 2, runs, only);
    curve->pairing_product(&s.e, s.p, s.q, 1);
    row(&s, "", "gt_mul", body_gt_mul, 100, runs, only);
    row(&s, "", "gt_pow", body_gt_pow, 4, runs, only);
    return s.sink == 1; /* keeps the results alive */
}
