/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Key generation after spec "bellperson generator" (section 4 of the project's notes) and snarkjs's
 * zkey layout: the logarithms of all points first (setup_logs.h), then one fixed-base batch per
 * query. */
#include "groth16/setup.h"

#include "groth16/setup_logs.h"
#include "msm/msm.h"

#include <stdlib.h>
#include <string.h>

enum { SLICE = 1 << 18, SLICE_OF_MULTIPLIER = 1 << 22 };

struct setup {
    const cuzk_setup_logs *logs;
    const cuzk_curve *curve;
    const cuzk_setup_params *params;
    cuzk_pool *pool;
    cuzk_error *err;
    cuzk_fixed_base *tables[2]; /* of the generators; made when first needed */
    uint64_t work, work_done;   /* points, those of G2 counted three times */
};

static struct setup begin(const cuzk_setup_logs *logs, const cuzk_setup_params *params,
                          cuzk_pool *pool, cuzk_error *err)
{
    return (struct setup){.logs = logs,
                          .curve = logs->shape->curve,
                          .params = params,
                          .pool = pool,
                          .err = err,
                          .work = logs->n_h + logs->n_a + 4 * logs->n_b + logs->shape->n_vars};
}

static void end(struct setup *s)
{
    cuzk_fixed_base_destroy(s->tables[CUZK_G1]);
    cuzk_fixed_base_destroy(s->tables[CUZK_G2]);
}

static cuzk_status make_table(struct setup *s, cuzk_group_id group)
{
    cuzk_affine generator;
    s->curve->g[group].generator(&generator);
    uint64_t n = group == CUZK_G1 ? s->work : s->logs->n_b; /* points of the key, about */
    return cuzk_fixed_base_create(&s->tables[group], s->curve, group, &generator, (size_t)n,
                                  s->pool, s->err);
}

static cuzk_status multiply_slice(struct setup *s, uint8_t *out, cuzk_group_id group,
                                  const cuzk_fr *scalars, size_t n)
{
    const cuzk_multiplier *m = s->params->multiplier;
    if (m != NULL) {
        return m->multiply(m->context, out, group, scalars, n, s->err);
    }
    if (s->tables[group] == NULL) {
        CUZK_TRY(make_table(s, group));
    }
    return cuzk_fixed_base_mul(s->tables[group], out, scalars, n, s->pool, s->err);
}

/* out = scalars · generator of the group, in slices so that progress can be told. */
static cuzk_status multiply(struct setup *s, uint8_t **out, cuzk_group_id group,
                            const cuzk_fr *scalars, uint64_t n, const char *stage)
{
    const cuzk_group *g = &s->curve->g[group];
    *out = malloc((size_t)(n == 0 ? 1 : n) * g->affine_bytes);
    CUZK_FAIL_IF(*out == NULL, s->err, CUZK_E_MEMORY,
                 "generating a key: %s: %llu points: out of memory", stage, (unsigned long long)n);
    uint64_t weight = group == CUZK_G2 ? 3 : 1; /* in time, about */
    uint64_t slice = s->params->multiplier != NULL ? SLICE_OF_MULTIPLIER : SLICE;
    for (uint64_t done = 0; done < n;) {
        uint64_t k = n - done < slice ? n - done : slice;
        CUZK_TRY(cuzk_report_progress(s->params->reporter, stage, s->work_done, s->work, s->err));
        CUZK_TRY(
            multiply_slice(s, *out + done * g->affine_bytes, group, scalars + done, (size_t)k));
        done += k;
        s->work_done += weight * k;
    }
    return CUZK_OK;
}

static void multiply_one(const cuzk_curve *curve, cuzk_affine *out, cuzk_group_id group,
                         const cuzk_fr *scalar)
{
    cuzk_affine generator;
    cuzk_jac p;
    curve->g[group].generator(&generator);
    curve->g[group].from_affine(&p, &generator);
    curve->g[group].mul(&p, &p, scalar);
    memset(out, 0, sizeof *out);
    curve->g[group].to_affine(out, &p);
}

static cuzk_status make_vk(struct setup *s, cuzk_vk *vk)
{
    const cuzk_trapdoor *t = &s->logs->t;
    uint32_t n_inputs = s->logs->shape->n_inputs;
    *vk = (cuzk_vk){
        .curve = s->curve, .has_g1_pair = true, .is_test_key = s->params->test_trapdoor != NULL};
    multiply_one(s->curve, &vk->alpha1, CUZK_G1, &t->alpha);
    multiply_one(s->curve, &vk->beta1, CUZK_G1, &t->beta);
    multiply_one(s->curve, &vk->delta1, CUZK_G1, &t->delta);
    multiply_one(s->curve, &vk->beta2, CUZK_G2, &t->beta);
    multiply_one(s->curve, &vk->gamma2, CUZK_G2, &t->gamma);
    multiply_one(s->curve, &vk->delta2, CUZK_G2, &t->delta);
    uint8_t *ic = NULL;
    cuzk_status status = multiply(s, &ic, CUZK_G1, s->logs->c, n_inputs, "input commitments");
    vk->ic = ic;
    vk->owned = ic;
    vk->n_ic = n_inputs;
    return status;
}

cuzk_status cuzk_setup_vk(cuzk_vk *out, const cuzk_setup_logs *logs,
                          const cuzk_setup_params *params, cuzk_pool *pool, cuzk_error *err)
{
    struct setup s = begin(logs, params, pool, err);
    s.work = logs->shape->n_inputs; /* a small table will do */
    cuzk_vk vk;
    cuzk_status status = make_vk(&s, &vk);
    end(&s);
    if (status != CUZK_OK) {
        cuzk_vk_clear(&vk);
        return status;
    }
    *out = vk;
    return CUZK_OK;
}

static cuzk_status make_queries(struct setup *s, cuzk_generated_key *key)
{
    const cuzk_setup_logs *logs = s->logs;
    key->n_a = logs->n_a;
    key->n_b = logs->n_b;
    key->n_c = cuzk_shape_n_aux(logs->shape);
    key->n_h = logs->n_h;
    CUZK_TRY(multiply(s, &key->a, CUZK_G1, logs->a, key->n_a, "query A"));
    CUZK_TRY(multiply(s, &key->b1, CUZK_G1, logs->b, key->n_b, "query B in G1"));
    CUZK_TRY(multiply(s, &key->b2, CUZK_G2, logs->b, key->n_b, "query B in G2"));
    CUZK_TRY(multiply(s, &key->c, CUZK_G1, logs->c + logs->shape->n_inputs, key->n_c, "query C"));
    return multiply(s, &key->h, CUZK_G1, logs->h, key->n_h, "query H");
}

cuzk_status cuzk_setup(cuzk_generated_key *out, const cuzk_shape *shape,
                       const cuzk_setup_params *params, cuzk_pool *pool, cuzk_error *err)
{
    cuzk_setup_logs logs = {0};
    CUZK_TRY(cuzk_setup_logs_make(&logs, shape, params, pool, err));
    cuzk_generated_key key = {.style = params->style,
                              .is_test_key = params->test_trapdoor != NULL,
                              .n_vars = shape->n_vars,
                              .n_inputs = shape->n_inputs,
                              .lg_n = logs.lg_n};
    struct setup s = begin(&logs, params, pool, err);
    cuzk_status status = make_vk(&s, &key.vk);
    if (status == CUZK_OK) {
        status = make_queries(&s, &key);
    }
    if (status == CUZK_OK) {
        *out = key;
    } else {
        cuzk_generated_key_clear(&key);
    }
    end(&s);
    cuzk_setup_logs_clear(&logs);
    return status;
}

void cuzk_generated_key_clear(cuzk_generated_key *key)
{
    cuzk_vk_clear(&key->vk);
    free(key->a);
    free(key->b1);
    free(key->b2);
    free(key->c);
    free(key->h);
    memset(key, 0, sizeof *key);
}
