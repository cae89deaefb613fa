/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support.h"

#include "base/sha256.h"
#include "formats/snarkjs_json.h"
#include "groth16/setup_write.h"
#include "json_field.h"
#include "r1cs/shape_r1cs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(cuzk_status status, const cuzk_error *err, const char *what)
{
    if (status != CUZK_OK) {
        fprintf(stderr, "%s: %s\n", what, err->text);
        abort();
    }
}

static cuzk_fixture load(const char *name, const char *file)
{
    char path[120];
    snprintf(path, sizeof path, "%s/%s", name, file);
    return cuzk_test_fixture(path);
}

cuzk_fixture support_text(const char *name, const char *file)
{
    return load(name, file);
}

cuzk_shape *support_shape(const char *name)
{
    cuzk_fixture f = load(name, "circuit.r1cs");
    cuzk_r1cs r1cs;
    cuzk_shape *shape = NULL;
    cuzk_error err = {0};
    must(cuzk_r1cs_open(&r1cs, f.data, f.size, &err), &err, name);
    must(cuzk_shape_from_r1cs(&shape, &r1cs, &err), &err, name);
    cuzk_test_fixture_free(&f);
    return shape;
}

cuzk_witness *support_witness(const char *name, uint32_t n_inputs)
{
    cuzk_fixture f = load(name, "witness.wtns");
    cuzk_wtns wtns;
    cuzk_witness *w = NULL;
    cuzk_error err = {0};
    must(cuzk_wtns_open(&wtns, f.data, f.size, &err), &err, name);
    must(cuzk_witness_from_values(&w, wtns.curve, wtns.values, (uint32_t)wtns.n_values, n_inputs,
                                  name, NULL, &err),
         &err, name);
    cuzk_test_fixture_free(&f);
    return w;
}

static cuzk_fr scalar(const cuzk_curve *curve, const uint8_t canonical[32])
{
    cuzk_fr x;
    if (!curve->fr_from_canonical_le(&x, canonical)) {
        fprintf(stderr, "a scalar of a fixture is not below the order\n");
        abort();
    }
    return x;
}

cuzk_trapdoor support_trapdoor(const char *name, const cuzk_curve *curve)
{
    cuzk_fixture f = load(name, "trapdoor.json");
    cuzk_trapdoor t;
    const struct {
        const char *field;
        cuzk_fr *out;
    } fields[] = {{"tau", &t.tau},
                  {"alpha", &t.alpha},
                  {"beta", &t.beta},
                  {"gamma", &t.gamma},
                  {"delta", &t.delta}};
    for (size_t i = 0; i < 5; i++) {
        uint8_t bytes[32];
        json_decimal((const char *)f.data, fields[i].field, bytes);
        *fields[i].out = scalar(curve, bytes);
    }
    cuzk_test_fixture_free(&f);
    return t;
}

void support_reference_scalar(const char *name, uint8_t out[32])
{
    char text[64];
    uint8_t digest[32];
    snprintf(text, sizeof text, "cuzk test setup/%s", name);
    cuzk_sha256_digest(digest, text, strlen(text));
    digest[0] &= 0x3f;
    for (int i = 0; i < 32; i++) {
        out[i] = digest[31 - i];
    }
}

cuzk_trapdoor support_reference_trapdoor(void)
{
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    static const char *const names[5] = {"tau", "alpha", "beta", "gamma", "delta"};
    cuzk_fr v[5];
    for (int i = 0; i < 5; i++) {
        uint8_t bytes[32];
        support_reference_scalar(names[i], bytes);
        v[i] = scalar(curve, bytes);
    }
    return (cuzk_trapdoor){v[0], v[1], v[2], v[3], v[4]};
}

support_bytes support_generate(const cuzk_shape *shape, cuzk_key_style style,
                               const cuzk_trapdoor *trapdoor, cuzk_pool *pool)
{
    cuzk_setup_params params = {.style = style, .test_trapdoor = trapdoor};
    return support_generate_as(shape, &params, pool);
}

support_bytes support_generate_as(const cuzk_shape *shape, const cuzk_setup_params *params,
                                  cuzk_pool *pool)
{
    cuzk_generated_key key;
    cuzk_error err = {0};
    must(cuzk_setup(&key, shape, params, pool, &err), &err, "setup");
    char *data = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&data, &size);
    if (file == NULL) {
        abort();
    }
    must(params->style == CUZK_KEY_CIRCOM ? cuzk_generated_key_write_zkey(file, &key, shape, &err)
                                          : cuzk_generated_key_write_params(file, &key, &err),
         &err, "writing a key");
    fclose(file);
    cuzk_generated_key_clear(&key);
    return (support_bytes){(uint8_t *)data, size};
}

support_bytes support_zkey(const char *name, cuzk_pool *pool)
{
    char path[120];
    snprintf(path, sizeof path, "%s/circuit.zkey", name);
    if (cuzk_test_fixture_exists(path)) {
        cuzk_fixture f = cuzk_test_fixture(path);
        return (support_bytes){f.data, f.size};
    }
    cuzk_shape *shape = support_shape(name);
    cuzk_trapdoor t = support_trapdoor(name, shape->curve);
    support_bytes bytes = support_generate(shape, CUZK_KEY_CIRCOM, &t, pool);
    cuzk_shape_destroy(shape);
    return bytes;
}

cuzk_zkey support_open_zkey(const support_bytes *bytes)
{
    cuzk_zkey key;
    cuzk_error err = {0};
    must(cuzk_zkey_open(&key, bytes->data, bytes->size, &err), &err, "opening a zkey");
    return key;
}

void support_fixed_rs(const char *name, const cuzk_curve *curve, cuzk_blinding *blinding,
                      cuzk_proof_points *proof)
{
    cuzk_fixture f = load(name, "fixed_rs.json");
    const char *json = (const char *)f.data;
    json_decimal(json, "r", blinding->r);
    json_decimal(json, "s", blinding->s);
    /* the proof is the last member: its text ends before the outer brace */
    const char *begin = json_field(json, "proof"), *end = strrchr(begin, '}');
    cuzk_error err = {0};
    must(cuzk_proof_from_json(proof, (const uint8_t *)begin, (uint64_t)(end - begin), curve, NULL,
                              &err),
         &err, name);
    cuzk_test_fixture_free(&f);
}

/* Sums over the columns at tau, weighted by the witness. */
struct at_tau {
    cuzk_fr matrix[3];         /* Σ w_v·column_v(tau), all variables */
    cuzk_fr private_matrix[3]; /* the same, private variables only */
};

static void add_weighted(const cuzk_curve *curve, struct at_tau *sums, int k, bool is_private,
                         const cuzk_fr *value)
{
    curve->fr_add(&sums->matrix[k], &sums->matrix[k], value);
    if (is_private) {
        curve->fr_add(&sums->private_matrix[k], &sums->private_matrix[k], value);
    }
}

static struct at_tau columns_at_tau(const cuzk_shape *s, const cuzk_witness *w, unsigned generator,
                                    unsigned lg_n, const cuzk_fr *tau)
{
    const cuzk_curve *curve = s->curve;
    struct at_tau sums = {0};
    cuzk_fr root, x = curve->fr_one, factor, n, v;
    curve->fr_root_of_unity(&root, generator, lg_n);
    curve->fr_pow_u64(&factor, tau, (uint64_t)1 << lg_n);
    curve->fr_sub(&factor, &factor, &curve->fr_one);
    curve->fr_from_u64(&n, (uint64_t)1 << lg_n);
    curve->fr_inv(&n, &n);
    curve->fr_mul(&factor, &factor, &n);
    for (uint64_t row = 0; row < cuzk_shape_n_rows(s); row++) {
        cuzk_fr lagrange;
        curve->fr_sub(&lagrange, tau, &x);
        curve->fr_inv(&lagrange, &lagrange);
        curve->fr_mul(&lagrange, &lagrange, &x);
        curve->fr_mul(&lagrange, &lagrange, &factor);
        curve->fr_mul(&x, &x, &root);
        if (row >= s->n_constraints) {
            uint8_t bytes[32];
            cuzk_witness_get(w, (uint32_t)(row - s->n_constraints), bytes);
            v = scalar(curve, bytes);
            curve->fr_mul(&v, &v, &lagrange);
            add_weighted(curve, &sums, 0, false, &v);
            continue;
        }
        for (int k = 0; k < 3; k++) {
            const cuzk_rows *m = &s->rows[k];
            for (uint64_t t = m->begin[row]; t < m->begin[row + 1]; t++) {
                uint8_t bytes[32];
                cuzk_witness_get(w, m->var[t], bytes);
                v = scalar(curve, bytes);
                curve->fr_mul(&v, &v, &s->coefs[m->code[t]]);
                curve->fr_mul(&v, &v, &lagrange);
                add_weighted(curve, &sums, k, m->var[t] >= s->n_inputs, &v);
            }
        }
    }
    return sums;
}

static void times_generator(const cuzk_curve *curve, cuzk_group_id group, const cuzk_fr *k,
                            cuzk_affine *out)
{
    cuzk_affine generator;
    cuzk_jac p;
    curve->g[group].generator(&generator);
    curve->g[group].from_affine(&p, &generator);
    curve->g[group].mul(&p, &p, k);
    curve->g[group].to_affine(out, &p);
}

void support_proof_by_trapdoor(const cuzk_shape *s, const cuzk_witness *w, cuzk_key_style style,
                               const cuzk_trapdoor *t, const cuzk_blinding *blinding,
                               cuzk_proof_points *proof)
{
    const cuzk_curve *curve = s->curve;
    unsigned lg_n = cuzk_setup_lg_domain(style, cuzk_shape_n_rows(s));
    struct at_tau v = columns_at_tau(s, w, cuzk_key_style_generator(style), lg_n, &t->tau);
    cuzk_fr r = scalar(curve, blinding->r), blind = scalar(curve, blinding->s), a, b, c, x;
    /* a = alpha + A(tau) + r·delta, b = beta + B(tau) + s·delta */
    curve->fr_mul(&a, &r, &t->delta);
    curve->fr_add(&a, &a, &t->alpha);
    curve->fr_add(&a, &a, &v.matrix[0]);
    curve->fr_mul(&b, &blind, &t->delta);
    curve->fr_add(&b, &b, &t->beta);
    curve->fr_add(&b, &b, &v.matrix[1]);
    /* c = (beta·A' + alpha·B' + C' + A(tau)·B(tau) - C(tau))/delta + s·a + r·b - r·s·delta */
    curve->fr_mul(&c, &t->beta, &v.private_matrix[0]);
    curve->fr_mul(&x, &t->alpha, &v.private_matrix[1]);
    curve->fr_add(&c, &c, &x);
    curve->fr_add(&c, &c, &v.private_matrix[2]);
    curve->fr_mul(&x, &v.matrix[0], &v.matrix[1]);
    curve->fr_add(&c, &c, &x);
    curve->fr_sub(&c, &c, &v.matrix[2]);
    curve->fr_inv(&x, &t->delta);
    curve->fr_mul(&c, &c, &x);
    curve->fr_mul(&x, &blind, &a);
    curve->fr_add(&c, &c, &x);
    curve->fr_mul(&x, &r, &b);
    curve->fr_add(&c, &c, &x);
    curve->fr_mul(&x, &r, &blind);
    curve->fr_mul(&x, &x, &t->delta);
    curve->fr_sub(&c, &c, &x);
    memset(proof, 0, sizeof *proof);
    proof->curve = curve;
    times_generator(curve, CUZK_G1, &a, &proof->a);
    times_generator(curve, CUZK_G2, &b, &proof->b);
    times_generator(curve, CUZK_G1, &c, &proof->c);
}

bool support_same_proof(const cuzk_proof_points *a, const cuzk_proof_points *b)
{
    size_t n1 = a->curve->g[CUZK_G1].affine_bytes, n2 = a->curve->g[CUZK_G2].affine_bytes;
    return a->curve == b->curve && memcmp(&a->a, &b->a, n1) == 0 && memcmp(&a->b, &b->b, n2) == 0 &&
           memcmp(&a->c, &b->c, n1) == 0;
}
