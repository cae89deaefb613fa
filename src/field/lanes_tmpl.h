/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Template of a prime field on eight lanes, in limbs of 52 bits, for the multiply-add instructions
 * of AVX-512 IFMA (field/v8.h; the same code runs emulated). Include it once per field, after
 *
 *   L(name)   the function name, for example fpx8_##name
 *   L_T       the element type, struct { v8 l[L_N]; }: eight independent elements
 *   L_N       number of 52-bit limbs, 5 or 8, a plain number
 *   L_WORDS   number of 64-bit words of the memory form, 4 or 6
 *   L_C(name) the constants MODULUS, N0, FOLD, ONE, R2, FROM_MONT, TO_MONT of the 52-bit form
 *
 * It undefines them at its end.
 *
 * Montgomery form with R52 = 2^(52·L_N). Nothing is reduced on its own: every function states the
 * range it takes and gives, as multiples of the modulus p. R52/p is 35.3 for fr of bls12_381, 84.6
 * for both fields of bn254, 2^35.3 for fp of bls12_381. Four forms of limbs:
 *   carried   limbs 0 … L_N-2 in [0, 2^52), the top one the (possibly negative) rest
 *   digits    the low 52 bits of the limbs are the carried form of a value in [0, R52); what stands
 *             above them is ignored. What a multiplication takes. Carried values in [0, R52) are it
 *   raw       any limbs below 2^62 in magnitude; the value is Σ l_j·2^(52j), as signed numbers
 *   canonical carried and below p
 *
 * Multiplication (spec: section 3 of the measurements that this follows): row i adds a_i·b, then
 * the lowest column t0 is folded away: t <- floor(t/2^52) + t0·(2^-52 mod p). That needs no
 * quotient; its result is below 2^52·p, so the last row uses Montgomery's step instead. The result
 * is below a·b/R52 + 2p + 2^-50·p. Two multiplications are interleaved row by row in the source:
 * one alone is bound by latency, and compilers do not interleave. */

/* p in 52-bit limbs, as compile-time constants. */
static const uint64_t L(p52)[L_N] = L_C(MODULUS);
static const uint64_t L(fold52)[L_N] = L_C(FOLD);

/* ---- constants and limbs ---- */

/** All lanes the value of the limbs at c. */
V8_FN void L(broadcast)(L_T *o, const uint64_t *c)
{
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        o->l[j] = v8_broadcast(&c[j]);
    }
}

V8_FN void L(set_zero)(L_T *o)
{
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        o->l[j] = v8_zero();
    }
}

/** 1 in Montgomery form, canonical. */
V8_FN void L(set_one)(L_T *o)
{
    static const uint64_t one[L_N] = L_C(ONE);
    L(broadcast)(o, one);
}

/** Limb j of times·p, carried; folds to a constant when both are constants. times < 2^36. */
V8_FN uint64_t L(multiple)(uint64_t times, int j)
{
    uint64_t carry = 0, limb = 0;
    V8_UNROLL
    for (int i = 0; i < L_N; i++) {
        if (i <= j) {
            /* two halves, so that 64 bits hold every product */
            uint64_t lo = (L(p52)[i] & 0x3ffffff) * times + carry;
            uint64_t hi = (L(p52)[i] >> 26) * times + (lo >> 26);
            limb = (lo & 0x3ffffff) | (hi << 26 & V8_LOW52);
            carry = hi >> 26;
            if (i == L_N - 1) {
                limb += carry << 52;
            }
        }
    }
    return limb;
}

/** o = limb by limb a + b, raw. */
V8_FN void L(add)(L_T *o, const L_T *a, const L_T *b)
{
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        o->l[j] = v8_add(a->l[j], b->l[j]);
    }
}

/** o = a - b + times·p, raw; times a constant. */
V8_FN void L(sub)(L_T *o, const L_T *a, const L_T *b, uint64_t times)
{
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        v8 k = v8_set1(L(multiple)(times, j));
        o->l[j] = v8_add(v8_sub(a->l[j], b->l[j]), k);
    }
}

/** The limbs of times·p, carried, for L(sub_limbs). */
static inline __attribute__((unused)) void L(multiple_limbs)(uint64_t *o, uint64_t times)
{
    for (int j = 0; j < L_N; j++) {
        o[j] = L(multiple)(times, j);
    }
}

/** o = a - b + k, raw; k in limbs in memory, which costs less than a constant where many vectors
 *  are in use. */
V8_FN void L(sub_limbs)(L_T *o, const L_T *a, const L_T *b, const uint64_t *k)
{
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        o->l[j] = v8_add(v8_sub(a->l[j], b->l[j]), v8_broadcast(&k[j]));
    }
}

/** o = times·p - a, raw; times a constant. */
V8_FN void L(neg)(L_T *o, const L_T *a, uint64_t times)
{
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        o->l[j] = v8_sub(v8_set1(L(multiple)(times, j)), a->l[j]);
    }
}

/** m ? b : a, lane by lane. */
V8_FN void L(blend)(L_T *o, v8_mask m, const L_T *a, const L_T *b)
{
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        o->l[j] = v8_blend(m, a->l[j], b->l[j]);
    }
}

/** Raw to digits, in place: the carries are passed on, the limbs are not masked. The value must be
 *  in [0, R52). */
V8_FN void L(carry_digits)(L_T *a)
{
    V8_UNROLL
    for (int j = 0; j + 1 < L_N; j++) {
        a->l[j + 1] = v8_add(a->l[j + 1], v8_sar(a->l[j], 52));
    }
}

/** Raw to carried, in place. */
V8_FN void L(carry)(L_T *a)
{
    const v8 low = v8_set1(V8_LOW52);
    V8_UNROLL
    for (int j = 0; j + 1 < L_N; j++) {
        a->l[j + 1] = v8_add(a->l[j + 1], v8_sar(a->l[j], 52));
        a->l[j] = v8_and(a->l[j], low);
    }
}

/** Raw to raw: x <- x mod 2^(64·L_WORDS) + floor(x / 2^(64·L_WORDS))·(2^(64·L_WORDS) mod p). The
 *  quotient is read off the top limb: take values of which it is not negative, that is values ≥ p
 *  or carried ones. A carried result is below 2^(64·L_WORDS) + q·p + 2^-40·p, q the quotient; the
 *  quotient must be below 2^50. */
V8_FN void L(fold_top)(L_T *a)
{
    static const uint64_t to_mont[L_N] = L_C(TO_MONT);
    const uint64_t *c = v8_constants(to_mont);
    enum { SHIFT = 64 * L_WORDS - 52 * (L_N - 1) };
    v8 q = v8_shr(a->l[L_N - 1], SHIFT);
    a->l[L_N - 1] = v8_and(a->l[L_N - 1], v8_set1((UINT64_C(1) << SHIFT) - 1));
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        a->l[j] = v8_madd_lo(a->l[j], q, v8_broadcast(&c[j]));
    }
    V8_UNROLL
    for (int j = 0; j + 1 < L_N; j++) {
        a->l[j + 1] = v8_madd_hi(a->l[j + 1], q, v8_broadcast(&c[j]));
    }
}

/** Carried, in place: subtract times·p in the lanes where that leaves no negative value. */
V8_FN void L(reduce_once)(L_T *a, uint64_t times)
{
    L_T t;
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        t.l[j] = v8_sub(a->l[j], v8_set1(L(multiple)(times, j)));
    }
    L(carry)(&t);
    v8_mask negative = v8_test(t.l[L_N - 1], v8_set1(UINT64_C(1) << 63));
    L(blend)(a, negative, &t, a);
}

/** Lanes whose carried values are equal as integers. */
V8_FN v8_mask L(same_limbs)(const L_T *a, const L_T *b)
{
    v8 d = v8_xor(a->l[0], b->l[0]);
    V8_UNROLL
    for (int j = 1; j < L_N; j++) {
        d = v8_or(d, v8_xor(a->l[j], b->l[j]));
    }
    return v8_testn(d, d);
}

/* ---- multiplication ---- */

/* Columns of a product in progress: t[0] is the lowest one not yet folded. A row reaches t[L_N],
 * and the row after it, which is added before the fold, t[L_N + 1]. */
typedef struct {
    v8 t[L_N + 2];
} L(columns);

/* t += a_i·b, shifted up by s columns. */
V8_FN void L(row_lo)(L(columns) * t, int s, v8 ai, const L_T *b)
{
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        t->t[j + s] = v8_madd_lo(t->t[j + s], ai, b->l[j]);
    }
}

V8_FN void L(row_hi)(L(columns) * t, int s, v8 ai, const L_T *b)
{
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        t->t[j + s + 1] = v8_madd_hi(t->t[j + s + 1], ai, b->l[j]);
    }
}

/* The column t[0] goes into the others by q = 2^-52 mod p; only the low halves of the products. */
V8_FN void L(fold_lo)(L(columns) * t, const uint64_t *q)
{
    t->t[1] = v8_add(t->t[1], v8_shr(t->t[0], 52));
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        t->t[j + 1] = v8_madd_lo(t->t[j + 1], t->t[0], v8_broadcast(&q[j]));
    }
}

/* The high halves; then the columns move down, next comes in at the top. */
V8_FN void L(fold_hi)(L(columns) * t, const uint64_t *q, v8 next)
{
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        t->t[j + 2] = v8_madd_hi(t->t[j + 2], t->t[0], v8_broadcast(&q[j]));
    }
    V8_UNROLL
    for (int j = 0; j <= L_N; j++) {
        t->t[j] = t->t[j + 1];
    }
    t->t[L_N + 1] = next;
}

/* Montgomery's step on the last column, whose result is short; then o = the columns above it, raw
 * with limbs that are not negative. */
V8_FN void L(finish_raw)(L_T *o, L(columns) * t)
{
    const uint64_t *p = v8_constants(L(p52));
    v8 m = v8_madd_lo(v8_zero(), t->t[0], v8_set1(L_C(N0)));
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        t->t[j] = v8_madd_lo(t->t[j], m, v8_broadcast(&p[j]));
    }
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        t->t[j + 1] = v8_madd_hi(t->t[j + 1], m, v8_broadcast(&p[j]));
    }
    t->t[1] = v8_add(t->t[1], v8_shr(t->t[0], 52));
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        o->l[j] = t->t[j + 1];
    }
}

V8_FN void L(finish)(L_T *o, L(columns) * t, lanes_form form)
{
    L(finish_raw)(o, t);
    if (form == LANES_FOLDED) {
        L(fold_top)(o);
    }
    if (form == LANES_DIGITS) {
        L(carry_digits)(o);
    } else {
        L(carry)(o);
    }
}

/* What a multiplication computes; outputs may be inputs: o = (Σ_k a[k]·b[k]) / R52 + add, k <
 * terms. */
typedef struct {
    L_T *o;
    const L_T *a[2], *b[2];
    const L_T *add; /* raw; read where has_add */
    bool has_add;
} L(product);

/* The columns before the first row: the limbs of what is added enter from above, without cost, so
 * that they stand above the folded columns at the end. */
V8_FN void L(start)(L(columns) * t, const L(product) * p)
{
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        t->t[j] = v8_zero();
    }
    t->t[L_N] = p->has_add ? p->add->l[0] : v8_zero();
    t->t[L_N + 1] = p->has_add ? p->add->l[1] : v8_zero();
}

/* Limb of add that enters after fold i. */
V8_FN v8 L(entering)(const L(product) * p, int i)
{
    return p->has_add && i + 2 < L_N ? p->add->l[i + 2] : v8_zero();
}

/* The n_streams products p, interleaved. All arguments but the elements are constants. */
V8_FN void L(multiply)(const L(product) * p, int n_streams, int n_terms, lanes_form form)
{
    const uint64_t *q = v8_constants(L(fold52));
    const L_T *b[2][2];
    L(columns) t[2];
    V8_UNROLL
    for (int s = 0; s < n_streams; s++) {
        L(start)(&t[s], &p[s]);
        b[s][0] = p[s].b[0];
        b[s][1] = p[s].b[1];
    }
    V8_UNROLL
    for (int i = 0; i < L_N; i++) {
        int up = i == 0 ? 0 : 1;
        V8_UNROLL
        for (int k = 0; k < n_terms; k++) {
            V8_UNROLL
            for (int s = 0; s < n_streams; s++) {
                if (n_streams * n_terms * L_N > 16) {
                    /* too many limbs for the registers: read them again in each row, do not spill
                     */
                    b[s][k] = (const L_T *)v8_hide(b[s][k]);
                }
                L(row_lo)(&t[s], up, p[s].a[k]->l[i], b[s][k]);
            }
            V8_UNROLL
            for (int s = 0; s < n_streams; s++) {
                L(row_hi)(&t[s], up, p[s].a[k]->l[i], b[s][k]);
            }
        }
        if (i > 0) {
            V8_UNROLL
            for (int s = 0; s < n_streams; s++) {
                L(fold_lo)(&t[s], q);
            }
            V8_UNROLL
            for (int s = 0; s < n_streams; s++) {
                L(fold_hi)(&t[s], q, L(entering)(&p[s], i - 1));
            }
        }
    }
    V8_UNROLL
    for (int s = 0; s < n_streams; s++) {
        L(finish)(p[s].o, &t[s], form);
    }
}

/* Row i of a square, shifted up by s: a_i² and a_i times the doubled limbs above it. Doubling the
 * value shifts one bit from limb to limb, but none out of a_i into its neighbour: hence two forms,
 * twice = 2·a_j for the neighbour and shifted = 2·a_j + (a_(j-1) >> 51) beyond it. */
V8_FN void L(square_row)(L(columns) * t, int s, int i, const L_T *a, const L_T *twice,
                         const L_T *shifted)
{
    v8 ai = a->l[i];
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        if (j >= i) {
            v8 b = j == i ? ai : j == i + 1 ? twice->l[j] : shifted->l[j];
            t->t[j + s] = v8_madd_lo(t->t[j + s], ai, b);
        }
    }
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        if (j >= i) {
            v8 b = j == i ? ai : j == i + 1 ? twice->l[j] : shifted->l[j];
            t->t[j + s + 1] = v8_madd_hi(t->t[j + s + 1], ai, b);
        }
    }
}

/* The sums of squares o = (Σ_k a[k]²) / R52 + add, interleaved. */
V8_FN void L(square)(const L(product) * p, int n_streams, int n_terms, lanes_form form)
{
    const uint64_t *q = v8_constants(L(fold52));
    L(columns) t[2];
    L_T twice[2][2], shifted[2][2];
    V8_UNROLL
    for (int s = 0; s < n_streams; s++) {
        L(start)(&t[s], &p[s]);
        V8_UNROLL
        for (int k = 0; k < n_terms; k++) {
            const L_T *a = p[s].a[k];
            L(add)(&twice[s][k], a, a);
            V8_UNROLL
            for (int j = 1; j < L_N; j++) {
                shifted[s][k].l[j] = v8_add(twice[s][k].l[j], v8_shr(a->l[j - 1], 51));
            }
        }
    }
    V8_UNROLL
    for (int i = 0; i < L_N; i++) {
        V8_UNROLL
        for (int k = 0; k < n_terms; k++) {
            V8_UNROLL
            for (int s = 0; s < n_streams; s++) {
                L(square_row)(&t[s], i == 0 ? 0 : 1, i, p[s].a[k], &twice[s][k], &shifted[s][k]);
            }
        }
        if (i > 0) {
            V8_UNROLL
            for (int s = 0; s < n_streams; s++) {
                L(fold_lo)(&t[s], q);
            }
            V8_UNROLL
            for (int s = 0; s < n_streams; s++) {
                L(fold_hi)(&t[s], q, L(entering)(&p[s], i - 1));
            }
        }
    }
    V8_UNROLL
    for (int s = 0; s < n_streams; s++) {
        L(finish)(p[s].o, &t[s], form);
    }
}

/** o = a·b / R52, carried. a, b: digits. Range: a·b/R52 + 2p. Inlined. */
V8_FN void L(mul_inline)(L_T *o, const L_T *a, const L_T *b)
{
    L(product) p = {o, {a, NULL}, {b, NULL}, NULL, false};
    L(multiply)(&p, 1, 1, LANES_CARRIED);
}

/** The same of two independent pairs, interleaved; the outputs may be any of the inputs. */
V8_FN void L(mul2_inline)(L_T *o0, const L_T *a0, const L_T *b0, L_T *o1, const L_T *a1,
                          const L_T *b1)
{
    L(product)
    p[2] = {{o0, {a0, NULL}, {b0, NULL}, NULL, false}, {o1, {a1, NULL}, {b1, NULL}, NULL, false}};
    L(multiply)(p, 2, 1, LANES_CARRIED);
}

/** As L(mul_inline), a function. */
V8_NOINLINE void L(mul)(L_T *o, const L_T *a, const L_T *b)
{
    L(mul_inline)(o, a, b);
}

/** As L(mul2_inline), a function. */
V8_NOINLINE void L(mul2)(L_T *o0, const L_T *a0, const L_T *b0, L_T *o1, const L_T *a1,
                         const L_T *b1)
{
    L(mul2_inline)(o0, a0, b0, o1, a1, b1);
}

/** L(mul2) whose results are digits only: for factors of further multiplications. */
V8_NOINLINE void L(mul2_digits)(L_T *o0, const L_T *a0, const L_T *b0, L_T *o1, const L_T *a1,
                                const L_T *b1)
{
    L(product)
    p[2] = {{o0, {a0, NULL}, {b0, NULL}, NULL, false}, {o1, {a1, NULL}, {b1, NULL}, NULL, false}};
    L(multiply)(p, 2, 1, LANES_DIGITS);
}

/** o = a·b / R52 + c, carried, of two independent triples. c: raw. */
V8_NOINLINE void L(mul2_add)(L_T *o0, const L_T *a0, const L_T *b0, const L_T *c0, L_T *o1,
                             const L_T *a1, const L_T *b1, const L_T *c1)
{
    L(product)
    p[2] = {{o0, {a0, NULL}, {b0, NULL}, c0, true}, {o1, {a1, NULL}, {b1, NULL}, c1, true}};
    L(multiply)(p, 2, 1, LANES_CARRIED);
}

/** o = a² / R52 + c, carried, of two independent pairs. a: carried, in [0, R52/2). c: raw. */
V8_NOINLINE void L(sqr2_add)(L_T *o0, const L_T *a0, const L_T *c0, L_T *o1, const L_T *a1,
                             const L_T *c1)
{
    L(product)
    p[2] = {{o0, {a0, NULL}, {a0, NULL}, c0, true}, {o1, {a1, NULL}, {a1, NULL}, c1, true}};
    L(square)(p, 2, 1, LANES_CARRIED);
}

/** L(mul2_add) and L(sqr2_add) with the result folded at the top (L(fold_top)); c must leave it at
 *  least p. */
V8_NOINLINE void L(mul2_add_folded)(L_T *o0, const L_T *a0, const L_T *b0, const L_T *c0, L_T *o1,
                                    const L_T *a1, const L_T *b1, const L_T *c1)
{
    L(product)
    p[2] = {{o0, {a0, NULL}, {b0, NULL}, c0, true}, {o1, {a1, NULL}, {b1, NULL}, c1, true}};
    L(multiply)(p, 2, 1, LANES_FOLDED);
}

V8_NOINLINE void L(sqr2_add_folded)(L_T *o0, const L_T *a0, const L_T *c0, L_T *o1, const L_T *a1,
                                    const L_T *c1)
{
    L(product)
    p[2] = {{o0, {a0, NULL}, {a0, NULL}, c0, true}, {o1, {a1, NULL}, {a1, NULL}, c1, true}};
    L(square)(p, 2, 1, LANES_FOLDED);
}

/** o = a² / R52, carried. a: carried, in [0, R52/2). */
V8_NOINLINE void L(sqr)(L_T *o, const L_T *a)
{
    L(product) p = {o, {a, NULL}, {a, NULL}, NULL, false};
    L(square)(&p, 1, 1, LANES_CARRIED);
}

/** o = (a[0]·b[0] + a[1]·b[1]) / R52 + add, carried, of the two independent p[0], p[1]. Factors:
 *  digits. Range: the sum of the products / R52 + 2p. */
V8_NOINLINE void L(mul2_sum_add)(const L(product) * p)
{
    L(product) q[2] = {p[0], p[1]};
    q[0].has_add = q[1].has_add = true;
    L(multiply)(q, 2, 2, LANES_CARRIED);
}

/** The same without add, digits. */
V8_NOINLINE void L(mul2_sum_digits)(const L(product) * p)
{
    L(product) q[2] = {p[0], p[1]};
    q[0].has_add = q[1].has_add = false;
    L(multiply)(q, 2, 2, LANES_DIGITS);
}

/** o = (a² + b²) / R52, carried, of two independent pairs. All carried, in [0, R52/2). */
V8_NOINLINE void L(sqr2_sum)(L_T *o0, const L_T *a0, const L_T *b0, L_T *o1, const L_T *a1,
                             const L_T *b1)
{
    L(product)
    p[2] = {{o0, {a0, b0}, {a0, b0}, NULL, false}, {o1, {a1, b1}, {a1, b1}, NULL, false}};
    L(square)(p, 2, 2, LANES_CARRIED);
}

/** o = x·w by the row table of a constant w, of two independent pairs, inlined: rows holds the
 *  canonical limbs of w·2^(52(i+1)) mod p, i = 0 … L_N-1, plain (not Montgomery) form, L_N limbs
 *  each. A row replaces a_i·b and its folding, so that one reduction step is left.
 *
 *  x: digits. o: raw, limbs in [0, (2·L_N + 3)·2^52), below (L_N + 1)·p, in the form x is in. */
V8_FN void L(mul2_rows_inline)(L_T *o0, const L_T *x0, const uint64_t *rows0, L_T *o1,
                               const L_T *x1, const uint64_t *rows1)
{
    L(columns) t[2];
    const L_T *const x[2] = {x0, x1};
    const uint64_t *const rows[2] = {rows0, rows1};
    V8_UNROLL
    for (int j = 0; j < L_N + 2; j++) {
        t[0].t[j] = v8_zero();
        t[1].t[j] = v8_zero();
    }
    V8_UNROLL
    for (int i = 0; i < L_N; i++) {
        V8_UNROLL
        for (int s = 0; s < 2; s++) {
            V8_UNROLL
            for (int j = 0; j < L_N; j++) {
                v8 w = v8_broadcast(&rows[s][L_N * i + j]);
                t[s].t[j] = v8_madd_lo(t[s].t[j], x[s]->l[i], w);
                t[s].t[j + 1] = v8_madd_hi(t[s].t[j + 1], x[s]->l[i], w);
            }
        }
    }
    L(finish_raw)(o0, &t[0]);
    L(finish_raw)(o1, &t[1]);
}

/* ---- conversions ---- */

/** The value of L_WORDS 64-bit words per lane (w[k] holds word k of all lanes) times 2^shift;
 *  canonical limbs if it is below p, else carried. shift: a constant in 0 … 51 such that the value
 *  stays below R52. With shift = 52·L_N - 64·L_WORDS (4, or 32 for 8 limbs) an element in memory
 *  form becomes its Montgomery form of this header, below 2^shift·p. */
V8_FN void L(from_words)(L_T *o, const v8 *w, int shift)
{
    const v8 low = v8_set1(V8_LOW52);
    V8_UNROLL
    for (int j = 0; j < L_N; j++) {
        int bit = 52 * j - shift;
        v8 x;
        if (bit < 0) {
            x = v8_shl(w[0], shift);
        } else if (bit >= 64 * L_WORDS) {
            x = v8_zero();
        } else {
            x = v8_shr(w[bit / 64], bit % 64);
            if (bit % 64 > 12 && bit / 64 + 1 < L_WORDS) {
                x = v8_or(x, v8_shl(w[bit / 64 + 1], 64 - bit % 64));
            }
        }
        o->l[j] = v8_and(x, low);
    }
}

/** w = the words of a carried value in [0, 2^(64·L_WORDS)). */
V8_FN void L(to_words)(v8 *w, const L_T *a)
{
    V8_UNROLL
    for (int k = 0; k < L_WORDS; k++) {
        int j = 64 * k / 52, bit = 64 * k % 52;
        v8 x = v8_shr(a->l[j], bit);
        x = v8_or(x, v8_shl(a->l[j + 1], 52 - bit));
        if (bit > 40 && j + 2 < L_N) {
            x = v8_or(x, v8_shl(a->l[j + 2], 104 - bit));
        }
        w[k] = x;
    }
}

/** o = a·c / R52 mod p, canonical. a: digits. c: canonical limbs of a constant; with c = TO_MONT
 * the Montgomery form of this header becomes the memory form. */
V8_FN void L(canonical_times)(L_T *o, const L_T *a, const uint64_t *c)
{
    L_T k;
    L(broadcast)(&k, c);
    L(mul)(o, a, &k);
    L(reduce_once)(o, 2);
    L(reduce_once)(o, 1);
}

/** Memory form, below p, as words per lane: the element whose Montgomery form here is a (digits).
 */
V8_FN void L(to_memory)(v8 *w, const L_T *a)
{
    static const uint64_t c[L_N] = L_C(TO_MONT);
    L_T t;
    L(canonical_times)(&t, a, c);
    L(to_words)(w, &t);
}

/** Lanes whose element is zero modulo p. a: digits. */
V8_FN v8_mask L(is_zero)(const L_T *a)
{
    static const uint64_t one[L_N] = L_C(ONE);
    L_T t, zero;
    L(canonical_times)(&t, a, one);
    L(set_zero)(&zero);
    return L(same_limbs)(&t, &zero);
}

#undef L
#undef L_T
#undef L_N
#undef L_WORDS
#undef L_C
