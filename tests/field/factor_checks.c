/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Multiplication by factors and loose sums (field/factor.h), the host's bodies, against integers:
 * on the device the same functions have bodies of their own, which tests/cuda compares with these.
 */
#include "factor_checks.h"

#include "field/factor.h"
#include "field_test.h"

extern const factor_checks CUZK_INSTANCE(factor_checks);

enum { ROUNDS = 400, WORDS = FR_LIMBS };

static const uint64_t r[WORDS] = CUZK_CC(FR_MODULUS);

/* A number below 2r: edge-heavy below r, and the same plus r. */
static void rand_loose(uint64_t o[WORDS])
{
    rand_below(o, r, WORDS);
    if (rand_u64() % 2) {
        (void)cuzk_limbs_add(o, o, r, WORDS);
    }
}

/* a mod r, for a with one more word. */
static void reduce(uint64_t o[WORDS], const uint64_t a[WORDS + 1])
{
    naive_mod(o, a, WORDS + 1, r, WORDS);
}

static bool is_loose(const fr *a)
{
    uint64_t twice[WORDS + 1] = {0}, top = 0;
    for (int i = 0; i < WORDS; i++) {
        twice[i] = r[i] << 1 | top;
        top = r[i] >> 63;
    }
    /* 2r fits in the words on both curves */
    return top == 0 && cuzk_limbs_less(a->l, twice, WORDS);
}

static void expect_words(const char *what, const uint64_t *found, const uint64_t *expected)
{
    if (memcmp(found, expected, 8 * WORDS) != 0) {
        fail_msg("%s: %016llx…, expected %016llx…", what, (unsigned long long)found[0],
                 (unsigned long long)expected[0]);
    }
}

static void check_factors(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        /* the factor of a plain number w: w itself and floor(w·2^256/r), found by long division */
        uint64_t w[WORDS], quotient[WORDS] = {0}, rest[WORDS + 1] = {0};
        fr a;
        fr_factor f;
        rand_below(w, r, WORDS);
        fr_from_canonical(&a, w);
        fr_factor_from(&f, &a);
        expect_words("factor", f.w, w);
        memcpy(rest, w, sizeof w);
        for (int bit = 255; bit >= 0; bit--) {
            uint64_t carry = 0, less[WORDS + 1];
            for (int k = 0; k <= WORDS; k++) {
                uint64_t next = rest[k] >> 63;
                rest[k] = rest[k] << 1 | carry;
                carry = next;
            }
            uint64_t modulus[WORDS + 1] = {0};
            memcpy(modulus, r, sizeof r);
            if (cuzk_limbs_sub(less, rest, modulus, WORDS + 1) == 0) {
                memcpy(rest, less, sizeof rest);
                quotient[bit / 64] |= (uint64_t)1 << (bit % 64);
            }
        }
        expect_words("quotient of a factor", f.q, quotient);

        /* a product: congruent, and loose again */
        fr x, o;
        uint64_t wide[WORDS + 1] = {0}, plain[WORDS], expected[WORDS], found[WORDS];
        rand_loose(x.l);
        memcpy(wide, x.l, sizeof x.l);
        reduce(plain, wide);
        naive_mul(expected, plain, w, r, WORDS);
        fr_mul_factor(&o, &x, &f);
        assert_true(is_loose(&o));
        memcpy(wide, o.l, sizeof o.l);
        reduce(found, wide);
        expect_words("product", found, expected);
        fr_reduce_loose(&o, &o);
        expect_words("reduced product", o.l, expected);
        fr_mul_factor(&x, &x, &f); /* in place */
        fr_reduce_loose(&x, &x);
        expect_words("product in place", x.l, expected);
    }
}

static void check_sums(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        fr a, b, o;
        uint64_t sum[WORDS + 1] = {0}, expected[WORDS], reduced_a[WORDS], reduced_b[WORDS];
        rand_loose(a.l);
        rand_loose(b.l);
        sum[WORDS] = cuzk_limbs_add(sum, a.l, b.l, WORDS);
        reduce(expected, sum);
        fr_add_loose(&o, &a, &b);
        assert_true(is_loose(&o));
        fr_reduce_loose(&o, &o);
        expect_words("sum", o.l, expected);
        o = a;
        fr_add_loose(&o, &o, &b);
        fr_reduce_loose(&o, &o);
        expect_words("sum in place", o.l, expected);

        uint64_t wide[WORDS + 1] = {0}, minus[WORDS];
        memcpy(wide, a.l, sizeof a.l);
        reduce(reduced_a, wide);
        memcpy(wide, b.l, sizeof b.l);
        reduce(reduced_b, wide);
        (void)cuzk_limbs_sub(minus, r, reduced_b, WORDS); /* 1 … r */
        wide[WORDS] = cuzk_limbs_add(wide, reduced_a, minus, WORDS);
        reduce(expected, wide);
        fr_sub_wide(&o, &a, &b);
        assert_true(is_loose(&o));
        fr_reduce_loose(&o, &o);
        expect_words("difference", o.l, expected);
        o = b;
        fr_sub_wide(&o, &a, &o);
        fr_reduce_loose(&o, &o);
        expect_words("difference in place", o.l, expected);
    }
}

/* Wide values: at random, around multiples of r and at the upper end; with loose ones. */
static void rand_wide(uint64_t *o, int i)
{
    static const uint64_t below = UINT64_C(0xffffff0000000000); /* of the highest word */
    do {
        for (int j = 0; j < WORDS; j++) {
            o[j] = rand_u64();
        }
    } while (o[WORDS - 1] >= below);
    if (i % 4 == 0) {
        o[WORDS - 1] = below - 1;
        o[WORDS - 2] = i % 8 == 0 ? ~UINT64_C(0) : o[WORDS - 2];
    } else if (i % 4 == 1) {
        rand_loose(o);
    }
}

static void check_wide(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        fr a, b, o;
        uint64_t wide[WORDS + 1] = {0}, expected[WORDS], reduced_a[WORDS], reduced_b[WORDS],
                              minus[WORDS];
        rand_wide(a.l, i);
        rand_loose(b.l);
        memcpy(wide, a.l, sizeof a.l);
        reduce(reduced_a, wide);
        fr_loosen_wide(&o, &a);
        assert_true(is_loose(&o));
        fr_reduce_loose(&o, &o);
        expect_words("reduced wide value", o.l, reduced_a);

        wide[WORDS] = cuzk_limbs_add(wide, a.l, b.l, WORDS);
        reduce(expected, wide);
        fr_add_wide(&o, &a, &b);
        assert_true(o.l[WORDS - 1] < UINT64_C(0xffffff0000000000));
        fr_loosen_wide(&o, &o);
        fr_reduce_loose(&o, &o);
        expect_words("wide sum", o.l, expected);

        wide[WORDS] = 0;
        memcpy(wide, b.l, sizeof b.l);
        reduce(reduced_b, wide);
        (void)cuzk_limbs_sub(minus, r, reduced_b, WORDS); /* 1 … r */
        wide[WORDS] = cuzk_limbs_add(wide, reduced_a, minus, WORDS);
        reduce(expected, wide);
        fr_sub_wide(&o, &a, &b);
        assert_true(o.l[WORDS - 1] < UINT64_C(0xffffff0000000000));
        fr_loosen_wide(&o, &o);
        fr_reduce_loose(&o, &o);
        expect_words("wide difference", o.l, expected);

        fr_factor f;
        fr montgomery;
        fr_from_canonical(&montgomery, reduced_b);
        fr_factor_from(&f, &montgomery);
        naive_mul(expected, reduced_a, reduced_b, r, WORDS);
        fr_mul_factor(&o, &a, &f);
        assert_true(is_loose(&o));
        fr_reduce_loose(&o, &o);
        expect_words("product of a wide value", o.l, expected);
    }
}

/* The ends of the range: 0, 1, r - 1, r, r + 1, 2r - 1, each with each. */
static void check_ends(void)
{
    fr ends[6] = {{{0}}, {{1}}};
    const fr one = {{1}};
    memcpy(ends[3].l, r, sizeof r);
    (void)cuzk_limbs_sub(ends[2].l, r, one.l, WORDS);
    (void)cuzk_limbs_add(ends[4].l, r, one.l, WORDS);
    (void)cuzk_limbs_add(ends[5].l, r, ends[2].l, WORDS);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            /* as small integers modulo r: 0, 1, -1, 0, 1, -1 */
            static const int value[6] = {0, 1, -1, 0, 1, -1};
            fr sum, difference, product;
            fr_factor f;
            fr montgomery;
            uint64_t wide[WORDS + 1] = {0}, plain[WORDS];
            memcpy(wide, ends[j].l, sizeof ends[j].l);
            reduce(plain, wide);
            fr_from_canonical(&montgomery, plain);
            fr_factor_from(&f, &montgomery);
            fr_add_loose(&sum, &ends[i], &ends[j]);
            fr_sub_wide(&difference, &ends[i], &ends[j]);
            fr_mul_factor(&product, &ends[i], &f);
            const fr *results[3] = {&sum, &difference, &product};
            int expected[3] = {value[i] + value[j], value[i] - value[j], value[i] * value[j]};
            for (int k = 0; k < 3; k++) {
                fr o;
                uint64_t small[WORDS] = {(uint64_t)abs(expected[k])}, negative[WORDS];
                assert_true(is_loose(results[k]));
                fr_reduce_loose(&o, results[k]);
                (void)cuzk_limbs_sub(negative, r, small, WORDS);
                expect_words("end", o.l, expected[k] < 0 ? negative : small);
            }
        }
    }
}

const factor_checks CUZK_INSTANCE(factor_checks) = {check_factors, check_sums, check_wide,
                                                    check_ends};
