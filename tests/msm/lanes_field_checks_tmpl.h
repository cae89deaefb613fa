/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Checks of one eight-lane field against the scalar one. Define K(name) for the names here,
 * L(name), L_T, L_N, L_WORDS as for lanes_tmpl.h, and S(name), S_T for the scalar field; all are
 * undefined at the end. */

enum { K(CASES) = 400 };

/* The residue of Σ l_j·2^(52j), l_j signed, as an element of the scalar field. */
static void K(residue_of)(S_T *o, const int64_t *l)
{
    uint64_t word[L_WORDS] = {UINT64_C(1) << 52};
    S_T base, limb;
    S(from_canonical)(&base, word);
    S(set_zero)(o);
    for (int j = L_N - 1; j >= 0; j--) {
        S(mul)(o, o, &base);
        word[0] = l[j] < 0 ? -(uint64_t)l[j] : (uint64_t)l[j];
        S(from_canonical)(&limb, word);
        if (l[j] < 0) {
            S(sub)(o, o, &limb);
        } else {
            S(add)(o, o, &limb);
        }
    }
}

static void K(residue)(S_T *o, const L_T *a, int lane, bool digits)
{
    int64_t l[L_N];
    for (int j = 0; j < L_N; j++) {
        l[j] = (int64_t)check_lane(&a->l[j], lane);
        if (digits) {
            l[j] &= (int64_t)V8_LOW52;
        }
    }
    K(residue_of)(o, l);
}

/* R52 as a residue. */
static void K(r52)(S_T *o)
{
    int64_t one[L_N] = {1};
    S_T base;
    uint64_t word[L_WORDS] = {UINT64_C(1) << 52};
    S(from_canonical)(&base, word);
    K(residue_of)(o, one);
    for (int j = 0; j < L_N; j++) {
        S(mul)(o, o, &base);
    }
}

static uint64_t K(limb)(const L_T *a, int j, int lane)
{
    return check_lane(&a->l[j], lane);
}

static void K(set_limb)(L_T *a, int j, int lane, uint64_t x)
{
    check_set_lane(&a->l[j], lane, x);
}

/* Carried and below times·p, as integers. */
static void K(check_range)(const L_T *a, uint64_t times, bool digits)
{
    for (int lane = 0; lane < 8; lane++) {
        int order = 0;
        for (int j = L_N - 1; j >= 0; j--) {
            uint64_t x = K(limb)(a, j, lane), y = L(multiple)(times, j);
            if (digits) {
                x &= V8_LOW52;
            }
            assert_true(x <= V8_LOW52);
            if (order == 0 && x != y) {
                order = x < y ? -1 : 1;
            }
        }
        assert_int_equal(order, -1);
    }
}

/* One lane below times·p (0 stands for all of [0, R52)), often an extreme value. */
static void K(random_lane)(L_T *a, int lane, uint64_t times)
{
    uint64_t l[L_N], top[L_N];
    for (int j = 0; j < L_N; j++) {
        top[j] = times != 0 ? L(multiple)(times, j) : V8_LOW52;
    }
    switch (check_random() % 8) {
    case 0: /* small */
        for (int j = 0; j < L_N; j++) {
            l[j] = j == 0 ? check_random() % 3 : 0;
        }
        break;
    case 1: /* the largest */
        memcpy(l, top, sizeof l);
        if (times != 0) {
            for (int j = 0; l[j]-- == 0; j++) {
                l[j] = V8_LOW52;
            }
        }
        break;
    case 2: /* k·p, k·p - 1, k·p + 1 with k < times */ {
        uint64_t k = check_random() % (times != 0 ? times : 2), step = check_random() % 3;
        for (int j = 0; j < L_N; j++) {
            l[j] = L(multiple)(k, j);
        }
        if (step == 1 && k != 0) {
            for (int j = 0; l[j]-- == 0; j++) {
                l[j] = V8_LOW52;
            }
        } else if (step == 2) {
            l[0] |= 1;
        }
        break;
    }
    case 3: /* all ones below the top */
        for (int j = 0; j < L_N; j++) {
            l[j] = V8_LOW52;
        }
        l[L_N - 1] = top[L_N - 1] != 0 ? top[L_N - 1] - 1 : 0;
        break;
    default:
        for (int j = 0; j < L_N; j++) {
            l[j] = check_random() & V8_LOW52;
        }
        l[L_N - 1] = check_random() % (top[L_N - 1] != 0 ? top[L_N - 1] : 1);
    }
    for (int j = 0; j < L_N; j++) {
        K(set_limb)(a, j, lane, l[j]);
    }
}

static void K(random)(L_T *a, uint64_t times)
{
    for (int lane = 0; lane < 8; lane++) {
        K(random_lane)(a, lane, times);
    }
}

/* Dirt above the 52 bits, which a factor may have. */
static void K(dirty)(L_T *a)
{
    for (int j = 0; j < L_N; j++) {
        for (int lane = 0; lane < 8; lane++) {
            K(set_limb)(a, j, lane, K(limb)(a, j, lane) | check_random() << 52);
        }
    }
}

/* o·R52 = Σ a_k·b_k + c·R52 in every lane. */
static void K(check_product)(const L_T *o, bool digits, int terms, const L_T *const *a,
                             const L_T *const *b, const L_T *c)
{
    S_T r52;
    K(r52)(&r52);
    for (int lane = 0; lane < 8; lane++) {
        S_T left, right, x, y;
        K(residue)(&left, o, lane, digits);
        if (c != NULL) {
            K(residue)(&x, c, lane, false);
            S(sub)(&left, &left, &x);
        }
        S(mul)(&left, &left, &r52);
        S(set_zero)(&right);
        for (int k = 0; k < terms; k++) {
            K(residue)(&x, a[k], lane, true);
            K(residue)(&y, b[k], lane, true);
            S(mul)(&x, &x, &y);
            S(add)(&right, &right, &x);
        }
        assert_true(S(eq)(&left, &right));
    }
}

/* A factor of up to this many p next to one of 2p leaves a product below 3p. */
#define WIDE (L_N == 8 ? UINT64_C(1) << 14 : 16)

static void K(multiplications)(void)
{
    for (int n = 0; n < K(CASES); n++) {
        uint64_t wide = n % 2 != 0 ? WIDE : 2;
        L_T a[2], b[2], c[2], o[2];
        const L_T *pa[2] = {&a[0], &a[1]}, *pb[2] = {&b[0], &b[1]};
        const L_T *swapped[2] = {&b[1], &b[0]};
        for (int s = 0; s < 2; s++) {
            K(random)(&a[s], wide);
            K(random)(&b[s], 2);
            K(random)(&c[s], 16);
        }
        L(sqr)(&o[0], &a[0]);
        K(check_product)(&o[0], false, 1, pa, pa, NULL);
        K(check_range)(&o[0], L_N == 8 ? 3 : 10, false);
        L(sqr2_sum)(&o[0], &a[0], &a[1], &o[1], &b[1], &b[0]);
        K(check_product)(&o[0], false, 2, pa, pa, NULL);
        K(check_product)(&o[1], false, 2, pb, pb, NULL);
        K(check_range)(&o[1], 3, false);
        L(sub)(&c[0], &c[0], &a[1], 40);
        L(neg)(&c[1], &c[1], 3);
        L(sqr2_add)(&o[0], &a[0], &c[0], &o[1], &b[0], &c[1]);
        K(check_product)(&o[0], false, 1, pa, pa, &c[0]);
        K(check_product)(&o[1], false, 1, pb, pb, &c[1]);
        K(random)(&c[0], 20);
        L(neg)(&o[0], &c[0], 21);
        L(neg)(&o[1], &b[1], 33);
        L(sqr2_add_folded)(&c[0], &a[0], &o[0], &c[1], &b[0], &o[1]);
        K(check_product)(&c[0], false, 1, pa, pa, &o[0]);
        K(check_product)(&c[1], false, 1, pb, pb, &o[1]);
        K(check_range)(&c[1], 15, false);
        L(mul2_add_folded)(&c[0], &a[0], &b[0], &o[0], &c[1], &b[0], &b[1], &o[1]);
        K(check_product)(&c[0], false, 1, pa, pb, &o[0]);
        K(check_product)(&c[1], false, 1, pb, pb + 1, &o[1]);
        K(check_range)(&c[0], 13, false);
        K(check_range)(&c[1], 15, false);
        K(dirty)(&a[0]);
        K(dirty)(&b[1]);
        L(mul)(&o[0], &a[0], &b[0]);
        K(check_product)(&o[0], false, 1, pa, pb, NULL);
        K(check_range)(&o[0], 3, false);
        L(mul2)(&o[0], &a[0], &b[0], &o[1], &a[1], &b[1]);
        K(check_product)(&o[0], false, 1, pa, pb, NULL);
        K(check_product)(&o[1], false, 1, pa + 1, pb + 1, NULL);
        K(check_range)(&o[0], 3, false);
        K(check_range)(&o[1], 3, false);
        L(mul2_digits)(&o[0], &a[0], &b[0], &o[1], &a[1], &b[1]);
        K(check_product)(&o[0], true, 1, pa, pb, NULL);
        K(check_product)(&o[1], true, 1, pa + 1, pb + 1, NULL);
        K(check_range)(&o[0], 3, true);
        K(check_range)(&o[1], 3, true);
        L(mul2_add)(&o[0], &a[0], &b[0], &c[0], &o[1], &a[1], &b[1], &c[1]);
        K(check_product)(&o[0], false, 1, pa, pb, &c[0]);
        K(check_product)(&o[1], false, 1, pa + 1, pb + 1, &c[1]);
        L(product)
        sums[2] = {{&o[0], {&a[0], &a[1]}, {&b[0], &b[1]}, &c[0], true},
                   {&o[1], {&a[0], &a[1]}, {&b[1], &b[0]}, &c[1], true}};
        L(mul2_sum_add)(sums);
        K(check_product)(&o[0], false, 2, pa, pb, &c[0]);
        K(check_product)(&o[1], false, 2, pa, swapped, &c[1]);
        L(mul2_sum_digits)(sums);
        K(check_product)(&o[0], true, 2, pa, pb, NULL);
        K(check_product)(&o[1], true, 2, pa, swapped, NULL);
        K(check_range)(&o[0], 4, true);
        K(check_range)(&o[1], 4, true);
        /* outputs over inputs */
        L_T want[2] = {a[0], b[1]};
        L(mul2)(&want[0], &a[0], &b[0], &want[1], &a[1], &b[1]);
        L(mul2)(&a[0], &a[0], &b[0], &b[0], &a[1], &b[1]);
        assert_memory_equal(&a[0], &want[0], sizeof a[0]);
        assert_memory_equal(&b[0], &want[1], sizeof b[0]);
    }
}

/* Σ over the whole range [0, R52) of the other factor. */
static void K(row_tables)(void)
{
    for (int n = 0; n < K(CASES) / 4; n++) {
        uint64_t rows[2][L_N * L_N];
        S_T w[2];
        L_T x[2], o[2];
        for (int s = 0; s < 2; s++) {
            uint64_t plain[L_WORDS] = {n, s};
            plain[L_WORDS - 1] = check_random() >> 3;
            S(from_canonical)(&w[s], plain);
            S_T row = w[s];
            for (int i = 0; i < L_N; i++) {
                uint64_t step[L_WORDS] = {UINT64_C(1) << 52};
                S_T f;
                S(from_canonical)(&f, step);
                S(mul)(&row, &row, &f);
                S(to_canonical)(plain, &row);
                for (int j = 0; j < L_N; j++) {
                    int bit = 52 * j;
                    uint64_t l = bit < 64 * L_WORDS ? plain[bit / 64] >> bit % 64 : 0;
                    if (bit % 64 > 12 && bit / 64 + 1 < L_WORDS) {
                        l |= plain[bit / 64 + 1] << (64 - bit % 64);
                    }
                    rows[s][L_N * i + j] = l & V8_LOW52;
                }
            }
            K(random)(&x[s], 0);
            K(dirty)(&x[s]);
        }
        L(mul2_rows_inline)(&o[0], &x[0], rows[0], &o[1], &x[1], rows[1]);
        for (int s = 0; s < 2; s++) {
            for (int lane = 0; lane < 8; lane++) {
                S_T have, want;
                K(residue)(&have, &o[s], lane, false);
                K(residue)(&want, &x[s], lane, true);
                S(mul)(&want, &want, &w[s]);
                assert_true(S(eq)(&have, &want));
                for (int j = 0; j < L_N; j++) {
                    assert_true(K(limb)(&o[s], j, lane) < (2 * L_N + 3) * (V8_LOW52 + 1));
                }
            }
            L(carry)(&o[s]);
            K(check_range)(&o[s], L_N + 1, false);
        }
    }
}

static void K(same_residues)(const L_T *a, bool a_digits, const L_T *b)
{
    for (int lane = 0; lane < 8; lane++) {
        S_T x, y;
        K(residue)(&x, a, lane, a_digits);
        K(residue)(&y, b, lane, false);
        assert_true(S(eq)(&x, &y));
    }
}

static void K(limbs)(void)
{
    for (int n = 0; n < K(CASES); n++) {
        L_T a, b, o, t;
        K(random)(&a, 16);
        K(random)(&b, 15);
        for (int lane = 0; lane < 8; lane++) {
            S_T x, y, z;
            K(residue)(&x, &a, lane, false);
            K(residue)(&y, &b, lane, false);
            L(add)(&o, &a, &b);
            K(residue)(&z, &o, lane, false);
            S(sub)(&z, &z, &y);
            assert_true(S(eq)(&z, &x));
            L(sub)(&o, &a, &b, 15);
            K(residue)(&z, &o, lane, false);
            S(add)(&z, &z, &y);
            assert_true(S(eq)(&z, &x));
            L(neg)(&o, &a, 16);
            K(residue)(&z, &o, lane, false);
            S(add)(&z, &z, &x);
            assert_true(S(is_zero)(&z));
        }
        L(sub)(&o, &a, &b, 15);
        t = o;
        L(carry)(&t);
        K(check_range)(&t, 31, false);
        K(same_residues)(&t, false, &o);
        t = o;
        L(carry_digits)(&t);
        K(check_range)(&t, 31, true);
        K(same_residues)(&t, true, &o);
        L(sub)(&o, &o, &a, 17); /* at least p */
        t = o;
        L(fold_top)(&t);
        L(carry)(&t);
        K(same_residues)(&t, false, &o);
        K(check_range)(&t, 16, false);
        L(blend)(&t, 0x5a, &a, &b);
        for (int j = 0; j < L_N; j++) {
            for (int lane = 0; lane < 8; lane++) {
                const L_T *from = 0x5a >> lane & 1 ? &b : &a;
                assert_true(K(limb)(&t, j, lane) == K(limb)(from, j, lane));
            }
        }
        assert_int_equal(L(same_limbs)(&t, &a) | 0x5a, 0xff);
        assert_int_equal(L(same_limbs)(&t, &b) | 0xa5, 0xff);
    }
}

static void K(conversions)(void)
{
    enum { SHIFT = 52 * L_N - 64 * L_WORDS };
    S_T r52;
    K(r52)(&r52);
    for (int n = 0; n < K(CASES); n++) {
        S_T in[8], out;
        v8 w[L_WORDS], back[L_WORDS];
        L_T a, zero;
        for (int lane = 0; lane < 8; lane++) {
            K(random_lane)(&a, lane, 1);
            K(residue)(&in[lane], &a, lane, false);
            for (int k = 0; k < L_WORDS; k++) {
                check_set_lane(&w[k], lane, in[lane].l[k]);
            }
        }
        /* the words as a plain integer, then times a power of two */
        L(from_words)(&a, w, 0);
        K(check_range)(&a, 1, false);
        L(to_words)(back, &a);
        assert_memory_equal(back, w, sizeof w);
        L(from_words)(&a, w, 2);
        K(check_range)(&a, 4, false);
        /* memory form to Montgomery form here, and back */
        L(from_words)(&a, w, SHIFT);
        for (int lane = 0; lane < 8; lane++) {
            S_T x;
            K(residue)(&x, &a, lane, false);
            S(mul)(&out, &in[lane], &r52);
            assert_true(S(eq)(&x, &out));
        }
        L(to_memory)(back, &a);
        assert_memory_equal(back, w, sizeof w);
        L(set_one)(&zero);
        L(to_memory)(back, &zero);
        S(set_one)(&out);
        for (int k = 0; k < L_WORDS; k++) {
            assert_true(check_lane(&back[k], n % 8) == out.l[k]);
        }
        /* zero, whatever multiple of p stands for it */
        v8_mask want = 0;
        for (int lane = 0; lane < 8; lane++) {
            S_T x;
            K(random_lane)(&a, lane, 35);
            K(residue)(&x, &a, lane, false);
            want |= (v8_mask)(S(is_zero)(&x) << lane);
        }
        K(dirty)(&a);
        assert_int_equal(L(is_zero)(&a), want);
    }
}

static void K(all)(void)
{
    K(multiplications)();
    K(row_tables)();
    K(limbs)();
    K(conversions)();
}

#undef WIDE
#undef K
#undef L
#undef L_T
#undef L_N
#undef L_WORDS
#undef S
#undef S_T
