/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One table of field_ops.h: X(name) the functions of the field, X_T its type, X_IS_FP2, X_HAS_SQRT,
 * X_NAME, X_MODULUS. The wrappers only cast: the types are may_alias. */
#define T(p)  ((X_T *)(p))
#define CT(p) ((const X_T *)(p))

static bool X(op_is_reduced)(const elem *a)
{
    return X(is_reduced)(CT(a));
}

static void X(op_set_zero)(elem *o)
{
    X(set_zero)(T(o));
}

static void X(op_set_one)(elem *o)
{
    X(set_one)(T(o));
}

static bool X(op_is_zero)(const elem *a)
{
    return X(is_zero)(CT(a));
}

static bool X(op_is_one)(const elem *a)
{
    return X(is_one)(CT(a));
}

static bool X(op_eq)(const elem *a, const elem *b)
{
    return X(eq)(CT(a), CT(b));
}

static void X(op_add)(elem *o, const elem *a, const elem *b)
{
    X(add)(T(o), CT(a), CT(b));
}

static void X(op_sub)(elem *o, const elem *a, const elem *b)
{
    X(sub)(T(o), CT(a), CT(b));
}

static void X(op_mul)(elem *o, const elem *a, const elem *b)
{
    X(mul)(T(o), CT(a), CT(b));
}

static void X(op_dbl)(elem *o, const elem *a)
{
    X(dbl)(T(o), CT(a));
}

static void X(op_neg)(elem *o, const elem *a)
{
    X(neg)(T(o), CT(a));
}

static void X(op_sqr)(elem *o, const elem *a)
{
    X(sqr)(T(o), CT(a));
}

static void X(op_inv)(elem *o, const elem *a)
{
    X(inv)(T(o), CT(a));
}

static void X(op_pow)(elem *o, const elem *a, const uint64_t *e, unsigned n_limbs)
{
    X(pow)(T(o), CT(a), e, n_limbs);
}

static void X(op_batch_inv)(void *a, size_t n, void *tmp)
{
    X(batch_inv)(T(a), n, T(tmp));
}

static void X(op_from_canonical)(elem *o, const uint64_t *limbs)
{
    X(from_canonical)(T(o), limbs);
}

static void X(op_to_canonical)(uint64_t *limbs, const elem *a)
{
    X(to_canonical)(limbs, CT(a));
}

static void X(op_load)(elem *o, const void *src)
{
    X(load)(T(o), src);
}

static void X(op_store)(void *dst, const elem *a)
{
    X(store)(dst, CT(a));
}

#if X_HAS_SQRT
static bool X(op_sqrt)(elem *o, const elem *a)
{
    return X(sqrt)(T(o), CT(a));
}
#endif

#if X_IS_FP2
static void X(op_conj)(elem *o, const elem *a)
{
    X(conj)(T(o), CT(a));
}

static void X(op_mul_by_xi)(elem *o, const elem *a)
{
    X(mul_by_xi)(T(o), CT(a));
}

static void X(op_mul_fp)(elem *o, const elem *a, const elem *b)
{
    X(mul_fp)(T(o), CT(a), (const fp *)b);
}

static void X(op_xi)(elem *o)
{
    static const fp2 xi = CUZK_CC(XI);
    *T(o) = xi;
}
#else
static void X(op_redc_wide)(elem *o, const uint64_t *w)
{
    X(redc_wide)(T(o), w);
}

static void X(op_mul_wide)(uint64_t *w, const uint64_t *a, const uint64_t *b)
{
    X(mul_wide)(w, a, b);
}

static void X(op_sqr_wide)(uint64_t *w, const uint64_t *a)
{
    X(sqr_wide)(w, a);
}
#endif

static const field_ops X(ops) = {
    .name = CURVE_NAME " " X_NAME " " PATH_NAME,
    .curve = CURVE_NAME,
    .field = X_NAME,
    .words = sizeof(X_T) / 8,
    .base_words = sizeof(X_MODULUS) / 8,
    .modulus = X_MODULUS,
    .is_reduced = X(op_is_reduced),
    .set_zero = X(op_set_zero),
    .set_one = X(op_set_one),
    .is_zero = X(op_is_zero),
    .is_one = X(op_is_one),
    .eq = X(op_eq),
    .add = X(op_add),
    .sub = X(op_sub),
    .mul = X(op_mul),
    .dbl = X(op_dbl),
    .neg = X(op_neg),
    .sqr = X(op_sqr),
    .inv = X(op_inv),
    .pow = X(op_pow),
    .batch_inv = X(op_batch_inv),
    .from_canonical = X(op_from_canonical),
    .to_canonical = X(op_to_canonical),
    .load = X(op_load),
    .store = X(op_store),
#if X_HAS_SQRT
    .sqrt = X(op_sqrt),
#endif
#if X_IS_FP2
    .conj = X(op_conj),
    .mul_by_xi = X(op_mul_by_xi),
    .mul_fp = X(op_mul_fp),
    .xi = X(op_xi),
#else
    .redc_wide = X(op_redc_wide),
    .mul_wide = X(op_mul_wide),
    .sqr_wide = X(op_sqr_wide),
#endif
};

#undef T
#undef CT
#undef X
#undef X_T
#undef X_NAME
#undef X_MODULUS
#undef X_IS_FP2
#undef X_HAS_SQRT
