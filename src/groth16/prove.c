/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One proof. All of it lives in one workspace, used in three layouts one after the other:
 *
 *     rows and quotient   a | b | quotient's own
 *     H                   quotient scalars (where a was) | bucket method's own
 *     other queries       selections and the sums' own
 *
 * so that the workspace is as large as the largest of them, not their sum. A device has memory of
 * its own. */
#include "base/bytes.h"
#include "base/clock.h"
#include "base/map_file.h"
#include "base/pages.h"
#include "groth16/fr_random.h"
#include "groth16/key_rows.h"
#include "groth16/prove_device.h"
#include "groth16/prover_impl.h"
#include "groth16/proving.h"
#include "r1cs/satisfy.h"
#include "timeline/recorder.h"

#include <stdlib.h>
#include <string.h>

/* Share of the stages in the whole, in percent at the stage's beginning, for reports only. */
enum { AT_ROWS = 0, AT_QUOTIENT = 3, AT_H = 20, AT_QUERIES = 55, AT_END = 97 };

struct cuzk_proving {
    const cuzk_prover *p;
    const cuzk_witness *w;
    cuzk_prove_params params;
    cuzk_pool *pool;
    cuzk_error *err;
    uint8_t *ws;
    size_t ws_bytes;
    cuzk_query_set sets[3];
    cuzk_jac h;
    cuzk_device_proof *on_device; /* between begin and end there */
    cuzk_sums left;               /* to another device */
    cuzk_query_set of_other[3];   /* those sums, once it has made them */
    cuzk_prove_times times;
    uint64_t stage_began_ns;
    cuzk_progress_part part; /* what runs */
};

/* ---- stages ---------------------------------------------------------------------------------- */

static void end_stage(cuzk_proving *g)
{
    uint64_t now = cuzk_now_ns();
    if (g->times.n_stages > 0) {
        g->times.stages[g->times.n_stages - 1].ns = now - g->stage_began_ns;
    }
    g->stage_began_ns = now;
}

static cuzk_status begin_stage(cuzk_proving *g, const char *name, unsigned percent)
{
    end_stage(g);
    g->times.stages[g->times.n_stages++].name = name;
    return cuzk_report_progress(g->params.reporter, name, percent, 100, g->err);
}

/* A reporter for what takes the whole from one share to another, under the name of its stage. */
static cuzk_reporter part_reporter(cuzk_proving *g, double from_percent, double to_percent)
{
    g->part = (cuzk_progress_part){g->params.reporter, g->times.stages[g->times.n_stages - 1].name,
                                   from_percent / 100, to_percent / 100};
    return cuzk_part_reporter(&g->part);
}

static void drop(const cuzk_proving *g, const void *data, uint64_t n_bytes)
{
    if (g->p->drop && g->p->is_zkey) {
        cuzk_map_file_drop(data, n_bytes);
    }
}

/* ---- workspace --------------------------------------------------------------------------------
 */

static size_t align(size_t n)
{
    return (n + 63) / 64 * 64;
}

static cuzk_msm_params h_params(const cuzk_proving *g, cuzk_msm_query *query)
{
    *query = (cuzk_msm_query){.group = CUZK_G1, .bases = g->p->h};
    return (cuzk_msm_params){.scalars = g->ws, .n = g->p->n_h, .queries = query, .n_queries = 1};
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t workspace_bytes(const cuzk_proving *g)
{
    const cuzk_prover *p = g->p;
    size_t vector = align(p->n * sizeof(cuzk_fr)), most = 2 * vector;
    if (g->params.device != NULL) {
        return 1; /* nothing of it is made here */
    }
    cuzk_msm_query query;
    cuzk_msm_params h = h_params(g, &query);
    most += cuzk_quotient_workspace_bytes(p->domain, g->pool);
    most = larger(most, vector + cuzk_msm_workspace_bytes(p->curve, &h, g->pool));
    for (unsigned i = 0; i < p->n_sets; i++) {
        most = larger(most, cuzk_query_sums_workspace_bytes(&p->sets[i], g->w, g->pool));
    }
    return most;
}

size_t cuzk_proving_bytes_max(const cuzk_proving_counts *counts, const cuzk_pool *pool)
{
    size_t vector = align(((size_t)1 << counts->lg_n) * sizeof(cuzk_fr));
    if (counts->on_device) {
        return sizeof(cuzk_proving) + 1;
    }
    cuzk_msm_query query = {.group = CUZK_G1};
    cuzk_msm_params h = {.n = (size_t)1 << counts->lg_n, .queries = &query, .n_queries = 1};
    size_t most = 2 * vector + cuzk_quotient_bytes(counts->curve, counts->lg_n, pool);
    most = larger(most, vector + cuzk_msm_workspace_bytes_max(counts->curve, &h, pool));
    most = larger(most, cuzk_query_sums_bytes_max(counts->curve, counts->n_vars, counts->n_field,
                                                  counts->is_zkey ? 4 : 2, pool));
    return sizeof(cuzk_proving) + most;
}

/* ---- the three layouts ------------------------------------------------------------------------
 */

/* Vector i of the first layout. */
static cuzk_fr *row_vector(const cuzk_proving *g, unsigned i)
{
    return (cuzk_fr *)(void *)(g->ws + i * align(g->p->n * sizeof(cuzk_fr)));
}

static cuzk_status eval_rows(cuzk_proving *g, cuzk_fr *a, cuzk_fr *b)
{
    const cuzk_prover *p = g->p;
    CUZK_TRY(begin_stage(g, "rows", AT_ROWS));
    if (p->is_zkey) {
        CUZK_TRY(cuzk_key_eval_rows(&p->zkey, g->w, a, b, g->pool, g->err));
        drop(g, p->zkey.coeffs, p->zkey.n_coeffs * CUZK_ZKEY_COEFF_BYTES);
    } else {
        cuzk_shape_eval_rows(p->shape, g->w, CUZK_MATRIX_A, a, p->n, g->pool);
        cuzk_shape_eval_rows(p->shape, g->w, CUZK_MATRIX_B, b, p->n, g->pool);
    }
    return CUZK_OK;
}

static cuzk_status rows_and_quotient(cuzk_proving *g)
{
    const cuzk_prover *p = g->p;
    const cuzk_prove_device *device = g->params.device;
    if (device != NULL) { /* rows and quotient are made there, together with the sums */
        CUZK_TRY(begin_stage(g, "upload", AT_ROWS));
        return device->begin(device->context, &g->on_device, g->w, g->err);
    }
    cuzk_fr *a = row_vector(g, 0), *b = row_vector(g, 1);
    CUZK_TRY(eval_rows(g, a, b));
    void *rest = row_vector(g, 2);
    CUZK_TRY(begin_stage(g, "quotient", AT_QUOTIENT));
    return p->is_zkey ? cuzk_quotient_circom(p->domain, a, a, b, rest, g->pool, g->err)
                      : cuzk_quotient_plain(p->domain, a, a, b, rest, g->pool, g->err);
}

/* Points of a bellperson key for as long as one sum takes: all zero where the prover has them. */
struct late_points {
    uint8_t *data;
    size_t n_bytes;
};

static cuzk_status decode_late(const cuzk_proving *g, cuzk_params_array array,
                               struct late_points *out, const void **bases)
{
    const cuzk_prover *p = g->p;
    if (!p->decode_late) {
        return CUZK_OK;
    }
    out->n_bytes = p->decoded_bytes[array];
    out->data = cuzk_pages_alloc(out->n_bytes);
    CUZK_FAIL_IF(out->data == NULL, g->err, CUZK_E_MEMORY,
                 "decoding array %s of the key: %zu bytes: out of memory",
                 cuzk_params_array_name(array), out->n_bytes);
    *bases = out->data;
    return cuzk_prover_decode(p, array, out->data, g->pool, g->err);
}

static cuzk_status h_sum(cuzk_proving *g)
{
    const cuzk_prover *p = g->p;
    size_t vector = align(p->n * sizeof(cuzk_fr));
    cuzk_msm_query query;
    cuzk_msm_params params = h_params(g, &query);
    struct late_points points = {0};
    CUZK_TRY(begin_stage(g, "H", AT_H));
    cuzk_status status = decode_late(g, CUZK_PARAMS_H, &points, &query.bases);
    cuzk_reporter reporter = part_reporter(g, AT_H, AT_QUERIES);
    params.reporter = &reporter;
    if (status == CUZK_OK) {
        status = cuzk_msm(p->curve, &params, g->ws + vector, g->ws_bytes - vector, g->pool, g->err);
    }
    cuzk_pages_free(points.data, points.n_bytes);
    drop(g, p->h, p->n_h * p->curve->g[CUZK_G1].affine_bytes);
    g->h = query.sum;
    return status;
}

/* The sums of set i. */
static cuzk_status set_sums(cuzk_proving *g, unsigned i)
{
    static const cuzk_params_array arrays[CUZK_QUERY_COUNT] = {
        [CUZK_QUERY_A] = CUZK_PARAMS_A,
        [CUZK_QUERY_B1] = CUZK_PARAMS_B_G1,
        [CUZK_QUERY_B2] = CUZK_PARAMS_B_G2,
        [CUZK_QUERY_C] = CUZK_PARAMS_L,
    };
    const cuzk_prover *p = g->p;
    struct late_points points[CUZK_QUERY_COUNT] = {{0}};
    cuzk_status status = CUZK_OK;
    g->sets[i] = p->sets[i];
    for (int k = 0; k < CUZK_QUERY_COUNT && status == CUZK_OK; k++) {
        if (p->place[k].set == i) {
            status =
                decode_late(g, arrays[k], &points[k], &g->sets[i].queries[p->place[k].query].bases);
        }
    }
    double each = (double)(AT_END - AT_QUERIES) / p->n_sets;
    cuzk_reporter reporter = part_reporter(g, AT_QUERIES + i * each, AT_QUERIES + (i + 1) * each);
    g->sets[i].reporter = &reporter;
    if (status == CUZK_OK) {
        status = cuzk_query_sums(&g->sets[i], g->w, g->ws, g->ws_bytes, g->pool, g->err);
    }
    g->sets[i].reporter = NULL;
    for (int k = 0; k < CUZK_QUERY_COUNT; k++) {
        cuzk_pages_free(points[k].data, points[k].n_bytes);
    }
    return status;
}

static cuzk_status query_sums(cuzk_proving *g, unsigned i)
{
    const cuzk_prover *p = g->p;
    if (i == 0) {
        CUZK_TRY(begin_stage(g, "A, B, C", AT_QUERIES));
    }
    CUZK_TRY(set_sums(g, i));
    for (size_t k = 0; k < g->sets[i].n_queries; k++) {
        const cuzk_msm_query *q = &g->sets[i].queries[k];
        drop(g, q->bases, (p->n_vars - q->first) * p->curve->g[q->group].affine_bytes);
    }
    return CUZK_OK;
}

/* ---- the same with a device -------------------------------------------------------------------
 */

/* All but those that were left; or those, where nobody has made them. */
static cuzk_status sums_on_device(cuzk_proving *g, bool is_rest)
{
    const cuzk_prove_device *d = g->params.device;
    cuzk_sums sums = is_rest ? g->left : CUZK_SUMS_ALL & ~g->left;
    if (is_rest) {
        g->left = 0;
    } else {
        CUZK_TRY(begin_stage(g, "device", AT_QUOTIENT));
    }
    return d->run(d->context, g->on_device, sums, g->err);
}

static cuzk_status take_sums(cuzk_proving *g)
{
    const cuzk_prove_device *d = g->params.device;
    cuzk_device_proof *proof = g->on_device;
    if (d == NULL) {
        return CUZK_OK;
    }
    memcpy(g->sets, g->p->sets, sizeof g->sets);
    g->on_device = NULL;
    CUZK_TRY(d->end(d->context, proof, &g->h, g->sets, g->err));
    for (unsigned i = 0, k = 0; i < g->p->n_sets; i++) {
        for (size_t j = 0; j < g->sets[i].n_queries; j++, k++) {
            if ((g->left & CUZK_SUM_OF(k)) != 0) {
                g->sets[i].queries[j].sum = g->of_other[i].queries[j].sum;
            }
        }
    }
    return CUZK_OK;
}

void cuzk_proving_leave(cuzk_proving *g, cuzk_sums sums, cuzk_query_set sets[3])
{
    g->left = sums;
    memcpy(sets, g->p->sets, sizeof g->p->sets);
}

void cuzk_proving_take(cuzk_proving *g, const cuzk_query_set sets[3])
{
    memcpy(g->of_other, sets, sizeof g->of_other);
}

/* ---- assembly -----------------------------------------------------------------------------------
 */

static cuzk_status choose_blinding(const cuzk_proving *g, cuzk_fr *r, cuzk_fr *s)
{
    const cuzk_curve *curve = g->p->curve;
    const cuzk_blinding *given = g->params.test_blinding;
    if (given != NULL) {
        CUZK_FAIL_IF(!curve->fr_from_canonical_le(r, given->r) ||
                         !curve->fr_from_canonical_le(s, given->s),
                     g->err, CUZK_E_ARGUMENT, "given r or s is not below the field order");
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_fr_random(curve, r, g->err));
    return cuzk_fr_random(curve, s, g->err);
}

static const cuzk_jac *sum_of(const cuzk_proving *g, cuzk_prover_query query)
{
    return &g->sets[g->p->place[query].set].queries[g->p->place[query].query].sum;
}

/* out = base + sum */
static void shifted(const cuzk_group *group, cuzk_jac *out, const void *base, const cuzk_jac *sum)
{
    group->from_affine(out, base);
    group->add(out, out, sum);
}

/* What the assembly works on, in one place, to be wiped. */
struct assembly {
    const cuzk_proving *g;
    cuzk_proof_points *out;
    uint8_t scalars[2][32]; /* s, r */
    cuzk_jac points[2], sum;
    uint8_t affine[2 * sizeof(cuzk_affine)];
};

/* A = alpha + ΣA + r·delta, and C = ΣC + H + s·A + r·B1: r·s·delta occurs twice in C with opposite
 * signs, in r·B1 and by itself, and is left out of both. */
static void assemble_g1(struct assembly *m)
{
    const cuzk_proving *g = m->g;
    const cuzk_vk *vk = &g->p->vk;
    const cuzk_group *g1 = &g->p->curve->g[CUZK_G1];
    shifted(g1, &m->points[0], &vk->alpha1, sum_of(g, CUZK_QUERY_A));
    g1->mul_sum(&m->sum, &vk->delta1, m->scalars[1], 1);
    g1->add(&m->points[0], &m->points[0], &m->sum);
    shifted(g1, &m->points[1], &vk->beta1, sum_of(g, CUZK_QUERY_B1)); /* without s·delta */
    g1->batch_to_affine(m->affine, m->points, 2);
    memcpy(&m->out->a, m->affine, g1->affine_bytes);
    g1->mul_sum(&m->sum, m->affine, m->scalars, 2);
    g1->add(&m->sum, &m->sum, sum_of(g, CUZK_QUERY_C));
    g1->add(&m->sum, &m->sum, &g->h);
    g1->to_affine(&m->out->c, &m->sum);
}

/* B = beta + ΣB + s·delta. */
static void assemble_g2(struct assembly *m)
{
    const cuzk_proving *g = m->g;
    const cuzk_vk *vk = &g->p->vk;
    const cuzk_group *g2 = &g->p->curve->g[CUZK_G2];
    shifted(g2, &m->points[0], &vk->beta2, sum_of(g, CUZK_QUERY_B2));
    g2->mul_sum(&m->sum, &vk->delta2, m->scalars[0], 1);
    g2->add(&m->sum, &m->sum, &m->points[0]);
    g2->to_affine(&m->out->b, &m->sum);
}

static cuzk_status assemble(const cuzk_proving *g, cuzk_proof_points *out)
{
    const cuzk_curve *curve = g->p->curve;
    struct assembly m = {.g = g, .out = out};
    struct {
        cuzk_fr r, s;
    } blinding;
    cuzk_status status = choose_blinding(g, &blinding.r, &blinding.s);
    if (status == CUZK_OK) {
        curve->fr_to_canonical_le(m.scalars[0], &blinding.s);
        curve->fr_to_canonical_le(m.scalars[1], &blinding.r);
        memset(out, 0, sizeof *out);
        out->curve = curve;
        assemble_g1(&m);
        assemble_g2(&m);
    }
    cuzk_wipe(&m, sizeof m);
    cuzk_wipe(&blinding, sizeof blinding);
    return status;
}

/* ---- self-check ------------------------------------------------------------------------------ */

/* The proof does not verify: say why as well as can be said. */
static cuzk_status explain(const cuzk_proving *g, const cuzk_proof_points *proof)
{
    /* sums of points on the curve are on the curve */
    CUZK_FAIL_IF(
        cuzk_proof_points_check(proof, NULL) != CUZK_OK, g->err, CUZK_E_INVALID_PROOF,
        "the proof has a point that is not on the curve or not in the subgroup of order r, "
        "and is not delivered: the key is damaged (cuzk check names the point)");
    const char *general = "the proof does not verify and is not delivered: the witness does not "
                          "satisfy the constraint system, or the key is damaged or of another "
                          "circuit";
    if (g->p->shape == NULL) {
        return CUZK_FAIL(g->err, CUZK_E_UNSATISFIED,
                         "%s; a key holds no C rows: give the .r1cs to learn the first constraint "
                         "that fails",
                         general);
    }
    cuzk_status status = cuzk_shape_check_witness(g->p->shape, g->w, NULL, g->pool, g->err);
    if (status != CUZK_OK) {
        cuzk_error_prefix(g->err, "the proof does not verify and is not delivered");
        return status;
    }
    return CUZK_FAIL(g->err, CUZK_E_INVALID_PROOF,
                     "the proof does not verify and is not delivered, though the witness satisfies "
                     "every constraint of the circuit: the key is damaged or of another circuit");
}

static cuzk_status self_check(const cuzk_proving *g, const cuzk_proof_points *proof)
{
    uint32_t n_values = g->p->n_inputs - 1;
    uint8_t *values = malloc((size_t)n_values * 32 + 1);
    CUZK_FAIL_IF(values == NULL, g->err, CUZK_E_MEMORY, "%u public values: out of memory",
                 n_values);
    cuzk_witness_get_range(g->w, 1, n_values, values);
    cuzk_error why = {0};
    cuzk_status status =
        cuzk_verifier_check(&g->p->verifier, proof, values, n_values, g->pool, &why);
    free(values);
    if (status == CUZK_E_INVALID_PROOF) {
        status = explain(g, proof);
        if (g->params.device != NULL) {
            cuzk_error_prefix(g->err, "with sums from %s, which may be at fault",
                              g->params.device->name);
        }
        return status;
    }
    return status == CUZK_OK ? status : CUZK_FAIL(g->err, status, "%s", why.text);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static cuzk_status check_witness(const cuzk_proving *g)
{
    const cuzk_prover *p = g->p;
    CUZK_FAIL_IF(g->w->curve->id != p->curve->id, g->err, CUZK_E_MISMATCH,
                 "witness is over %s, key is over %s", g->w->curve->snarkjs_name,
                 p->curve->snarkjs_name);
    CUZK_FAIL_IF(g->w->n_vars != p->n_vars, g->err, CUZK_E_WITNESS_LENGTH,
                 "Invalid witness length. Circuit: %u, witness: %u", p->n_vars, g->w->n_vars);
    CUZK_FAIL_IF(g->w->n_inputs != p->n_inputs, g->err, CUZK_E_MISMATCH,
                 "witness with %u public values, key has %u", g->w->n_inputs - 1, p->n_inputs - 1);
    return CUZK_OK;
}

cuzk_status cuzk_proving_begin(cuzk_proving **out, const cuzk_prover *prover,
                               const cuzk_witness *witness, const cuzk_prove_params *params,
                               cuzk_pool *pool, cuzk_error *err)
{
    cuzk_proving *g = calloc(1, sizeof *g);
    CUZK_FAIL_IF(g == NULL, err, CUZK_E_MEMORY, "proving: out of memory");
    g->p = prover;
    g->w = witness;
    g->params = params != NULL ? *params : (cuzk_prove_params){0};
    g->pool = pool;
    g->err = err;
    cuzk_status status = check_witness(g);
    if (status == CUZK_OK && g->params.device == NULL && prover->device_decodes) {
        status = CUZK_FAIL(err, CUZK_E_ARGUMENT,
                           "proving without a device: the prover's points are for one");
    }
    if (status == CUZK_OK) {
        g->ws_bytes = g->times.workspace_bytes = workspace_bytes(g);
        g->ws = cuzk_pages_alloc(g->ws_bytes);
        if (g->ws == NULL) {
            status = CUZK_FAIL(err, CUZK_E_MEMORY, "proving: workspace of %zu bytes: out of memory",
                               g->ws_bytes);
        }
    }
    if (status != CUZK_OK) {
        cuzk_proving_end(g);
        return status;
    }
    *out = g;
    return CUZK_OK;
}

cuzk_status cuzk_proving_quotient(cuzk_proving *g, cuzk_error *err)
{
    g->err = err;
    return rows_and_quotient(g);
}

static void free_workspace(cuzk_proving *g)
{
    cuzk_pages_free(g->ws, g->ws_bytes);
    g->ws = NULL;
}

unsigned cuzk_proving_n_sums(const cuzk_proving *g)
{
    return g->params.device != NULL ? 1 : 1 + g->p->n_sets;
}

cuzk_status cuzk_proving_sum(cuzk_proving *g, unsigned i, cuzk_error *err)
{
    g->err = err;
    CUZK_TRY(g->params.device != NULL ? sums_on_device(g, i > 0)
             : i == 0                 ? h_sum(g)
                                      : query_sums(g, i - 1));
    if (i + 1 == cuzk_proving_n_sums(g)) {
        free_workspace(g);
    }
    return CUZK_OK;
}

cuzk_status cuzk_proving_assemble(cuzk_proving *g, cuzk_proof_points *proof, cuzk_error *err)
{
    g->err = err;
    CUZK_TRY(begin_stage(g, "assembly", AT_END));
    CUZK_TRY(take_sums(g));
    return assemble(g, proof);
}

void cuzk_proving_end(cuzk_proving *g)
{
    if (g != NULL) {
        if (g->on_device != NULL) {
            g->params.device->drop(g->params.device->context, g->on_device);
        }
        free_workspace(g);
        cuzk_wipe(g, sizeof *g);
        free(g);
    }
}

/* Both halves with their spans, where this thread's work is recorded: as a worker of the daemon and
 * those behind it put them. Only the sums hold the lane. */
static cuzk_status run_start(cuzk_proving *g, cuzk_error *err)
{
    uint64_t begin_ns = cuzk_now_ns();
    cuzk_status status = cuzk_proving_quotient(g, err);
    uint64_t lane_ns = cuzk_now_ns();
    for (unsigned i = 0; i < cuzk_proving_n_sums(g) && status == CUZK_OK; i++) {
        status = cuzk_proving_sum(g, i, err);
    }
    uint64_t end_ns = cuzk_now_ns();
    cuzk_recorder_put_inner(CUZK_SPAN_LANE, lane_ns, end_ns, 0);
    if (g->params.device == NULL) {
        cuzk_recorder_put_inner(CUZK_SPAN_KERNEL_CPU, lane_ns, end_ns, 0);
    }
    cuzk_recorder_put_inner(CUZK_SPAN_PROVE_START, begin_ns, end_ns, 0);
    return status;
}

static cuzk_status run_finish(cuzk_proving *g, cuzk_proof_points *proof, cuzk_error *err)
{
    uint64_t begin_ns = cuzk_now_ns();
    cuzk_status status = cuzk_proving_assemble(g, proof, err);
    cuzk_recorder_put_inner(CUZK_SPAN_PROVE_FINISH, begin_ns, cuzk_now_ns(), 0);
    return status;
}

static cuzk_status run_check(cuzk_proving *g, const cuzk_proof_points *proof)
{
    if (g->params.without_self_check && g->params.device == NULL) {
        return CUZK_OK;
    }
    CUZK_TRY(begin_stage(g, "self-check", AT_END));
    uint64_t begin_ns = cuzk_now_ns();
    cuzk_status status = self_check(g, proof);
    cuzk_recorder_put_inner(CUZK_SPAN_VERIFY, begin_ns, cuzk_now_ns(), 0);
    return status;
}

static cuzk_status run(cuzk_proving *g, cuzk_proof_points *proof, cuzk_error *err)
{
    CUZK_TRY(run_start(g, err));
    CUZK_TRY(run_finish(g, proof, err));
    CUZK_TRY(run_check(g, proof));
    end_stage(g);
    return CUZK_OK;
}

cuzk_status cuzk_prover_prove(const cuzk_prover *prover, cuzk_proof_points *out,
                              const cuzk_witness *witness, const cuzk_prove_params *params,
                              cuzk_pool *pool, cuzk_error *err)
{
    cuzk_proving *g = NULL;
    cuzk_proof_points proof;
    CUZK_TRY(cuzk_proving_begin(&g, prover, witness, params, pool, err));
    cuzk_status status = run(g, &proof, err);
    if (status == CUZK_OK) {
        *out = proof;
        if (g->params.times != NULL) {
            *g->params.times = g->times;
        }
    }
    cuzk_proving_end(g);
    return status;
}
