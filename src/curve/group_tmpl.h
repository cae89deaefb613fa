/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The functions of struct cuzk_group over one coordinate field: part of curve_impl.c, which
 * includes it once per group with PT(name) and CF_TYPE bound.
 *
 * They only convert between the opaque types of curve.h and the group's own, and in CUZK_VERIFY
 * builds check the promise of every result: reduced coordinates, on the curve if the inputs were.
 */

#define PT_AFFINE PT(affine)
#define PT_JAC    PT(jac)

/* cuzk_jac holds the group's Jacobian point at its start; fp and the point types may alias it. */
static const PT_JAC *PT(in)(const cuzk_jac *a)
{
    return (const PT_JAC *)(const void *)a->l;
}

static PT_JAC *PT(out)(cuzk_jac *a)
{
    return (PT_JAC *)(void *)a->l;
}

static void PT(vt_generator)(void *affine_out)
{
    static const PT_AFFINE generator = {PT_GENERATOR};
    PT(affine_store)(affine_out, &generator);
}

static bool PT(vt_affine_is_infinity)(const void *affine)
{
    PT_AFFINE a;
    PT(affine_load)(&a, affine);
    return PT(affine_is_infinity)(&a);
}

static bool PT(vt_affine_is_reduced)(const void *affine)
{
    PT_AFFINE a;
    PT(affine_load)(&a, affine);
    return PT(affine_is_reduced)(&a);
}

static bool PT(vt_on_curve)(const void *affine)
{
    PT_AFFINE a;
    PT(affine_load)(&a, affine);
    return PT(affine_is_reduced)(&a) && PT(affine_on_curve)(&a);
}

static bool PT(vt_in_subgroup)(const void *affine)
{
    PT_AFFINE a;
    PT(affine_load)(&a, affine);
    return PT(in_subgroup)(&a);
}

static void PT(vt_affine_neg)(void *affine_out, const void *affine)
{
    PT_AFFINE a;
    PT(affine_load)(&a, affine);
    PT(affine_neg)(&a, &a);
    PT(affine_store)(affine_out, &a);
}

static void PT(vt_set_infinity)(cuzk_jac *out)
{
    PT(set_infinity)(PT(out)(out));
}

static bool PT(vt_is_infinity)(const cuzk_jac *a)
{
    return PT(is_infinity)(PT(in)(a));
}

static bool PT(vt_eq)(const cuzk_jac *a, const cuzk_jac *b)
{
    return PT(eq)(PT(in)(a), PT(in)(b));
}

static void PT(vt_from_affine)(cuzk_jac *out, const void *affine)
{
    PT_AFFINE a;
    PT(affine_load)(&a, affine);
    PT(from_affine)(PT(out)(out), &a);
}

static void PT(vt_to_affine)(void *affine_out, const cuzk_jac *a)
{
    PT_AFFINE o;
    PT(to_affine)(&o, PT(in)(a));
    CUZK_ASSERT(!PT(is_valid)(PT(in)(a)) || PT(affine_on_curve)(&o));
    PT(affine_store)(affine_out, &o);
}

static void PT(vt_batch_to_affine)(void *affine_out, const cuzk_jac *a, size_t n)
{
    PT(batch_to_affine)(affine_out, a, sizeof(*a), n);
}

static void PT(vt_neg)(cuzk_jac *out, const cuzk_jac *a)
{
    PT(neg)(PT(out)(out), PT(in)(a));
}

static void PT(vt_dbl)(cuzk_jac *out, const cuzk_jac *a)
{
    PT_JAC o;
    PT(dbl)(&o, PT(in)(a));
    CUZK_ASSERT(!PT(is_valid)(PT(in)(a)) || PT(is_valid)(&o));
    *PT(out)(out) = o;
}

static void PT(vt_add)(cuzk_jac *out, const cuzk_jac *a, const cuzk_jac *b)
{
    PT_JAC o;
    PT(add)(&o, PT(in)(a), PT(in)(b));
    CUZK_ASSERT(!PT(is_valid)(PT(in)(a)) || !PT(is_valid)(PT(in)(b)) || PT(is_valid)(&o));
    *PT(out)(out) = o;
}

static void PT(vt_add_affine)(cuzk_jac *out, const cuzk_jac *a, const void *affine_b)
{
    PT_AFFINE b;
    PT_JAC o;
    PT(affine_load)(&b, affine_b);
    PT(add_affine)(&o, PT(in)(a), &b);
    CUZK_ASSERT(!PT(is_valid)(PT(in)(a)) || !PT(affine_on_curve)(&b) || PT(is_valid)(&o));
    *PT(out)(out) = o;
}

static void PT(vt_mul)(cuzk_jac *out, const cuzk_jac *a, const cuzk_fr *k)
{
    PT_JAC o;
    PT(mul)(&o, PT(in)(a), (const fr *)k);
    CUZK_ASSERT(!PT(is_valid)(PT(in)(a)) || PT(is_valid)(&o));
    *PT(out)(out) = o;
}

static void PT(vt_mul_sum)(cuzk_jac *out, const void *affine, const void *scalars, size_t n)
{
    PT_JAC points[MUL_TERMS], part, sum;
    uint64_t words[MUL_TERMS][FR_LIMBS];
    PT_AFFINE a;
    PT(set_infinity)(&sum);
    for (size_t i = 0; i < n;) {
        int k = 0;
        for (; k < MUL_TERMS && i < n; k++, i++) {
            PT(affine_load)(&a, (const char *)affine + i * sizeof(a));
            PT(from_affine)(&points[k], &a);
            words_from_le(words[k], (const char *)scalars + 32 * i, FR_LIMBS);
        }
        PT(mul_terms)(&part, points, words, k);
        PT(add)(&sum, &sum, &part);
    }
    *PT(out)(out) = sum;
}

#undef PT_AFFINE
#undef PT_JAC
#undef PT
#undef PT_GENERATOR
