/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Writing snarkjs's JSON and call data. The layout is that of JSON.stringify(x, null, 1). */
#include "base/bytes.h"
#include "base/decimal.h"
#include "formats/snarkjs_json.h"

#include <stdio.h>

typedef struct {
    cuzk_text *text;
    const cuzk_curve *curve;
    cuzk_json_style style;
    unsigned depth;
    bool first; /* nothing has been written yet in the innermost container */
} emitter;

/* What precedes an element: a comma, and in the indented style a new line. */
static void separate(emitter *e)
{
    if (e->depth == 0) {
        return;
    }
    if (!e->first) {
        cuzk_text_put(e->text, ",");
    }
    if (e->style == CUZK_JSON_INDENTED) {
        cuzk_text_printf(e->text, "\n%*s", (int)e->depth, "");
    }
    e->first = false;
}

static void open_container(emitter *e, const char *bracket)
{
    cuzk_text_put(e->text, bracket);
    e->depth++;
    e->first = true;
}

static void close_container(emitter *e, const char *bracket)
{
    e->depth--;
    if (!e->first && e->style == CUZK_JSON_INDENTED) {
        cuzk_text_printf(e->text, "\n%*s", (int)e->depth, "");
    }
    e->first = false;
    cuzk_text_put(e->text, bracket);
}

static void put_key(emitter *e, const char *key)
{
    separate(e);
    cuzk_text_printf(e->text, "\"%s\":%s", key, e->style == CUZK_JSON_INDENTED ? " " : "");
}

static void put_string_field(emitter *e, const char *key, const char *value)
{
    put_key(e, key);
    cuzk_text_printf(e->text, "\"%s\"", value);
}

static void put_number(emitter *e, const void *canonical, size_t n_bytes)
{
    char digits[CUZK_DECIMAL_MAX];
    separate(e);
    cuzk_text_printf(e->text, "\"%s\"", cuzk_decimal_from_le(digits, canonical, n_bytes));
}

/* The coordinate that starts at *limbs, in Montgomery form at any alignment; steps behind it. */
static void take_canonical(uint8_t canonical[48], const cuzk_curve *curve, const uint8_t **limbs)
{
    uint64_t fp[6];
    memcpy(fp, *limbs, curve->fp_bytes);
    curve->fp_to_canonical_le(canonical, fp);
    *limbs += curve->fp_bytes;
}

static void put_coordinate(emitter *e, const uint8_t **limbs)
{
    uint8_t canonical[48];
    take_canonical(canonical, e->curve, limbs);
    put_number(e, canonical, e->curve->fp_bytes);
}

static void put_small(emitter *e, uint8_t value)
{
    put_number(e, &value, 1);
}

static void open_element(emitter *e)
{
    separate(e);
    open_container(e, "[");
}

/* [x, y, "1"]; infinity is ["0", "1", "0"]. The caller has written what precedes the bracket. */
static void put_g1(emitter *e, const void *affine)
{
    const uint8_t *p = affine;
    bool infinity = e->curve->g[CUZK_G1].affine_is_infinity(p);
    open_container(e, "[");
    put_coordinate(e, &p);
    if (infinity) {
        put_small(e, 1);
    } else {
        put_coordinate(e, &p);
    }
    put_small(e, !infinity);
    close_container(e, "]");
}

static void put_pair(emitter *e, uint8_t c0, uint8_t c1)
{
    open_element(e);
    put_small(e, c0);
    put_small(e, c1);
    close_container(e, "]");
}

static void put_fp2(emitter *e, const uint8_t **limbs)
{
    open_element(e);
    put_coordinate(e, limbs);
    put_coordinate(e, limbs);
    close_container(e, "]");
}

static void put_g2(emitter *e, const void *affine)
{
    const uint8_t *p = affine;
    bool infinity = e->curve->g[CUZK_G2].affine_is_infinity(p);
    open_container(e, "[");
    put_fp2(e, &p);
    if (infinity) {
        put_pair(e, 1, 0);
    } else {
        put_fp2(e, &p);
    }
    put_pair(e, !infinity, 0);
    close_container(e, "]");
}

static void put_gt(emitter *e, const cuzk_gt *gt)
{
    const uint8_t *p = (const uint8_t *)gt->l;
    open_container(e, "[");
    for (int half = 0; half < 2; half++) {
        open_element(e);
        for (int k = 0; k < 3; k++) {
            put_fp2(e, &p);
        }
        close_container(e, "]");
    }
    close_container(e, "]");
}

void cuzk_vk_to_json(cuzk_text *text, const cuzk_vk *vk)
{
    emitter e = {.text = text, .curve = vk->curve, .style = CUZK_JSON_INDENTED};
    cuzk_gt alpha_beta;
    vk->curve->pairing_product(&alpha_beta, &vk->alpha1, &vk->beta2, 1);
    open_container(&e, "{");
    put_string_field(&e, "protocol", "groth16");
    put_string_field(&e, "curve", vk->curve->snarkjs_name);
    put_key(&e, "nPublic");
    cuzk_text_printf(text, "%u", vk->n_ic - 1);
    put_key(&e, "vk_alpha_1");
    put_g1(&e, &vk->alpha1);
    put_key(&e, "vk_beta_2");
    put_g2(&e, &vk->beta2);
    put_key(&e, "vk_gamma_2");
    put_g2(&e, &vk->gamma2);
    put_key(&e, "vk_delta_2");
    put_g2(&e, &vk->delta2);
    put_key(&e, "vk_alphabeta_12");
    put_gt(&e, &alpha_beta);
    put_key(&e, "IC");
    open_container(&e, "[");
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        separate(&e);
        put_g1(&e, (const uint8_t *)vk->ic + (size_t)i * vk->curve->g[CUZK_G1].affine_bytes);
    }
    close_container(&e, "]");
    close_container(&e, "}");
}

void cuzk_proof_to_json(cuzk_text *text, const cuzk_proof_points *proof, cuzk_json_style style)
{
    emitter e = {.text = text, .curve = proof->curve, .style = style};
    open_container(&e, "{");
    if (style == CUZK_JSON_COMPACT) {
        put_string_field(&e, "curve", proof->curve->snarkjs_name);
    }
    put_key(&e, "pi_a");
    put_g1(&e, &proof->a);
    put_key(&e, "pi_b");
    put_g2(&e, &proof->b);
    put_key(&e, "pi_c");
    put_g1(&e, &proof->c);
    put_string_field(&e, "protocol", "groth16");
    if (style == CUZK_JSON_INDENTED) {
        put_string_field(&e, "curve", proof->curve->snarkjs_name);
    }
    close_container(&e, "}");
}

void cuzk_public_to_json(cuzk_text *text, const uint8_t *values, uint64_t n_values,
                         cuzk_json_style style)
{
    emitter e = {.text = text, .style = style};
    open_container(&e, "[");
    for (uint64_t i = 0; i < n_values; i++) {
        put_number(&e, values + i * 32, 32);
    }
    close_container(&e, "]");
}

static uint64_t n_digits(const uint64_t *modulus, size_t n_bytes)
{
    char digits[CUZK_DECIMAL_MAX];
    return strlen(cuzk_decimal_from_le(digits, modulus, n_bytes));
}

uint64_t cuzk_public_json_bytes_max(const cuzk_curve *curve, uint64_t n_values,
                                    cuzk_json_style style)
{
    /* quotes, comma, and when indented one space and a new line each */
    uint64_t each = n_digits(curve->r, 32) + (style == CUZK_JSON_INDENTED ? 5 : 3);
    return n_values == 0 ? 2 : n_values * each + 2;
}

uint64_t cuzk_proof_json_bytes_max(const cuzk_curve *curve, cuzk_json_style style)
{
    enum { SKELETON_INDENTED = 188, SKELETON_COMPACT = 106, N_COORDINATES = 8 };
    uint64_t skeleton = style == CUZK_JSON_INDENTED ? SKELETON_INDENTED : SKELETON_COMPACT;
    return skeleton + strlen(curve->snarkjs_name) +
           N_COORDINATES * n_digits(curve->p, curve->fp_bytes);
}

/* "0x…", at least 64 digits. */
static void put_word(cuzk_text *text, const uint8_t *canonical, size_t n_bytes)
{
    size_t n = n_bytes;
    while (n > 32 && canonical[n - 1] == 0) {
        n--;
    }
    cuzk_text_put(text, "\"0x");
    for (size_t i = n; i-- > 0;) {
        /* behind the 64 digits there is no padding, not even to a whole byte */
        bool half = i == n - 1 && n > 32 && canonical[i] < 16;
        cuzk_text_printf(text, half ? "%x" : "%02x", canonical[i]);
    }
    cuzk_text_put(text, "\"");
}

static void put_words(cuzk_text *text, const cuzk_curve *curve, const uint8_t *first,
                      const uint8_t *second)
{
    uint8_t canonical[48];
    cuzk_text_put(text, "[");
    take_canonical(canonical, curve, &first);
    put_word(text, canonical, curve->fp_bytes);
    cuzk_text_put(text, ", ");
    take_canonical(canonical, curve, &second);
    put_word(text, canonical, curve->fp_bytes);
    cuzk_text_put(text, "]");
}

void cuzk_calldata_write(cuzk_text *text, const cuzk_proof_points *proof, const uint8_t *values,
                         uint64_t n_values)
{
    const cuzk_curve *c = proof->curve;
    size_t fp = c->fp_bytes;
    const uint8_t *a = (const uint8_t *)&proof->a;
    const uint8_t *b = (const uint8_t *)&proof->b;
    const uint8_t *pc = (const uint8_t *)&proof->c;
    put_words(text, c, a, a + fp);
    cuzk_text_put(text, ",[");
    put_words(text, c, b + fp, b);
    cuzk_text_put(text, ",");
    put_words(text, c, b + 3 * fp, b + 2 * fp);
    cuzk_text_put(text, "],");
    put_words(text, c, pc, pc + fp);
    cuzk_text_put(text, ",[");
    for (uint64_t i = 0; i < n_values; i++) {
        cuzk_text_put(text, i > 0 ? "," : "");
        put_word(text, values + i * 32, 32);
    }
    cuzk_text_put(text, "]");
}
