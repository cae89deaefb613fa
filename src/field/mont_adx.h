/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Field arithmetic on 4 and 6 words for x86-64 with BMI2 and ADX, as inline assembly.
 *
 * MULX leaves the flags alone and ADCX/ADOX use one flag each, so a row "T += x·word" runs two
 * carry chains side by side: low halves of the products along CF, high halves along OF.
 *
 * Reduction. The first n - 2 steps fold the lowest word away, T <- floor(T / 2^64) + t0·q with
 * q = 2^-64 mod p: no quotient word, so one multiplication and much latency less than a classic
 * Montgomery step. A fold's result is below T / 2^64 + 2^64·p, so the last two steps are classic,
 * T <- (T + m·p) / 2^64.
 *
 *  - redc: the low half of a 2n-word product is reduced alone, then the high half is added. Bounds,
 *    for p < 2^(64n-1): (2^64 + 2)·p after the folds, 2p + 1 and p + 1 + p/2^63 after the classic
 *    steps. With a high half up to 0.9·p one conditional subtraction completes it.
 *  - mul4: rows of the product and steps of the reduction alternate. For a < p, b < p the sum stays
 *    below (2^65 + 4)·p before the first classic step and 3·2^64·p in it (a sixth word takes the
 *    carry: 3p may exceed 2^256); it ends below p·(1 + (b3 + 4) / 2^64) < 2p.
 *
 * On AMD Zen 4 the cost is close to "multiplications + all other operations / 4" cycles; so the
 * operations that are no products count, and zeros come from the XOR that clears the flags.
 * Alternating rows and steps was slower than redc for 6 words and faster for 4.
 *
 * Operands: t0 … t7 accumulators (their roles rotate by text), lo and hi scratch, zero, rdx; a, b
 * factors, w a product of 2n words, k the field's constants. All assembly reads and writes memory
 * through pointers in registers: at most 14 registers, so that it builds without optimisation. */
#ifndef CUZK_FIELD_MONT_ADX_H
#define CUZK_FIELD_MONT_ADX_H

#include "field/limbs.h"

/* One product: t += low half (CF chain), t_next += high half (OF chain). */
#define CUZK_ADX_STEP(x, t, t_next)                                                                \
    "mulx " x ", %[lo], %[hi]\n\t"                                                                 \
    "adcx %[lo], " t "\n\t"                                                                        \
    "adox %[hi], " t_next "\n\t"

/* Last product of a row when t_top holds nothing yet: the high half and both carries go there. */
#define CUZK_ADX_LAST(x, t, t_top)                                                                 \
    "mulx " x ", %[lo], " t_top "\n\t"                                                             \
    "adcx %[lo], " t "\n\t"                                                                        \
    "adox %[zero], " t_top "\n\t"                                                                  \
    "adcx %[zero], " t_top "\n\t"

#define CUZK_ADX_CLEAR "xorl %k[zero], %k[zero]\n\t" /* zero = 0, CF = OF = 0 */

/* Constants of one field; unused high words are zero. */
typedef struct {
    uint64_t p[6]; /* the modulus */
    uint64_t q[6]; /* 2^-64 mod p */
    uint64_t n0;   /* -1/p mod 2^64 */
    uint64_t zero[6];
} cuzk_adx_field;

/* Words of the operands in memory. */
#define CUZK_ADX_A(i) i "*8(%[a])"
#define CUZK_ADX_B(i) i "*8(%[b])"
#define CUZK_ADX_W(i) i "*8(%[w])"
#define CUZK_ADX_P(i) i "*8(%[k])"
#define CUZK_ADX_Q(i) "48+" i "*8(%[k])"
#define CUZK_ADX_N0   "96(%[k])"

#define CUZK_ADX_RDX(word)  "movq " word ", %%rdx\n\t"
#define CUZK_ADX_SAVE(t, i) "movq " t ", " CUZK_ADX_W(i) "\n\t"

/* ---- rows of six and of four; one step a line ---- */

/* clang-format off */

/* t0 … t6 = X·rdx */
#define CUZK_ADX_ROW6_FIRST(X, t0, t1, t2, t3, t4, t5, t6)                                         \
    "mulx " X("0") ", " t0 ", " t1 "\n\t"                                                          \
    "mulx " X("1") ", %[lo], " t2 "\n\t"                                                           \
    "addq %[lo], " t1 "\n\t"                                                                       \
    "mulx " X("2") ", %[lo], " t3 "\n\t"                                                           \
    "adcq %[lo], " t2 "\n\t"                                                                       \
    "mulx " X("3") ", %[lo], " t4 "\n\t"                                                           \
    "adcq %[lo], " t3 "\n\t"                                                                       \
    "mulx " X("4") ", %[lo], " t5 "\n\t"                                                           \
    "adcq %[lo], " t4 "\n\t"                                                                       \
    "mulx " X("5") ", %[lo], " t6 "\n\t"                                                           \
    "adcq %[lo], " t5 "\n\t"                                                                       \
    "adcq $0, " t6 "\n\t"

/* t0 … t5 += X·rdx, t6 = the word above */
#define CUZK_ADX_ROW6(X, t0, t1, t2, t3, t4, t5, t6)                                               \
    CUZK_ADX_CLEAR                                                                                 \
    CUZK_ADX_STEP(X("0"), t0, t1)                                                                  \
    CUZK_ADX_STEP(X("1"), t1, t2)                                                                  \
    CUZK_ADX_STEP(X("2"), t2, t3)                                                                  \
    CUZK_ADX_STEP(X("3"), t3, t4)                                                                  \
    CUZK_ADX_STEP(X("4"), t4, t5)                                                                  \
    CUZK_ADX_LAST(X("5"), t5, t6)

/* t0 … t6 += X·rdx */
#define CUZK_ADX_ROW6_FULL(X, t0, t1, t2, t3, t4, t5, t6)                                          \
    CUZK_ADX_CLEAR                                                                                 \
    CUZK_ADX_STEP(X("0"), t0, t1)                                                                  \
    CUZK_ADX_STEP(X("1"), t1, t2)                                                                  \
    CUZK_ADX_STEP(X("2"), t2, t3)                                                                  \
    CUZK_ADX_STEP(X("3"), t3, t4)                                                                  \
    CUZK_ADX_STEP(X("4"), t4, t5)                                                                  \
    CUZK_ADX_STEP(X("5"), t5, t6)                                                                  \
    "adcx %[zero], " t6 "\n\t"

/* t0 … t4 += X·rdx, t5 and t6 = the two words above */
#define CUZK_ADX_ROW6_TWO(X, t0, t1, t2, t3, t4, t5, t6)                                           \
    CUZK_ADX_CLEAR                                                                                 \
    CUZK_ADX_STEP(X("0"), t0, t1)                                                                  \
    CUZK_ADX_STEP(X("1"), t1, t2)                                                                  \
    CUZK_ADX_STEP(X("2"), t2, t3)                                                                  \
    CUZK_ADX_STEP(X("3"), t3, t4)                                                                  \
    "mulx " X("4") ", %[lo], " t5 "\n\t"                                                           \
    "adcx %[lo], " t4 "\n\t"                                                                       \
    "adox %[zero], " t5 "\n\t"                                                                     \
    "mulx " X("5") ", %[lo], " t6 "\n\t"                                                           \
    "adcx %[lo], " t5 "\n\t"                                                                       \
    "adcx %[zero], " t6 "\n\t"

/* t0 … t4 = X·rdx */
#define CUZK_ADX_ROW4_FIRST(X, t0, t1, t2, t3, t4)                                                 \
    "mulx " X("0") ", " t0 ", " t1 "\n\t"                                                          \
    "mulx " X("1") ", %[lo], " t2 "\n\t"                                                           \
    "addq %[lo], " t1 "\n\t"                                                                       \
    "mulx " X("2") ", %[lo], " t3 "\n\t"                                                           \
    "adcq %[lo], " t2 "\n\t"                                                                       \
    "mulx " X("3") ", %[lo], " t4 "\n\t"                                                           \
    "adcq %[lo], " t3 "\n\t"                                                                       \
    "adcq $0, " t4 "\n\t"

/* t0 … t3 += X·rdx, t4 = the word above */
#define CUZK_ADX_ROW4(X, t0, t1, t2, t3, t4)                                                       \
    CUZK_ADX_CLEAR                                                                                 \
    CUZK_ADX_STEP(X("0"), t0, t1)                                                                  \
    CUZK_ADX_STEP(X("1"), t1, t2)                                                                  \
    CUZK_ADX_STEP(X("2"), t2, t3)                                                                  \
    CUZK_ADX_LAST(X("3"), t3, t4)

/* t0 … t4 += X·rdx */
#define CUZK_ADX_ROW4_FULL(X, t0, t1, t2, t3, t4)                                                  \
    CUZK_ADX_CLEAR                                                                                 \
    CUZK_ADX_STEP(X("0"), t0, t1)                                                                  \
    CUZK_ADX_STEP(X("1"), t1, t2)                                                                  \
    CUZK_ADX_STEP(X("2"), t2, t3)                                                                  \
    CUZK_ADX_STEP(X("3"), t3, t4)                                                                  \
    "adcx %[zero], " t4 "\n\t"

/* The same in a classic step, where t0 becomes zero; then t0 = the carry. */
#define CUZK_ADX_ROW4_CARRY(X, t0, t1, t2, t3, t4)                                                 \
    CUZK_ADX_ROW4_FULL(X, t0, t1, t2, t3, t4)                                                      \
    "adcx %[zero], " t0 "\n\t"                                                                     \
    "adox %[zero], " t0 "\n\t"

/* t0 … t2 += X·rdx, t3 and t4 = the two words above */
#define CUZK_ADX_ROW4_TWO(X, t0, t1, t2, t3, t4)                                                   \
    CUZK_ADX_CLEAR                                                                                 \
    CUZK_ADX_STEP(X("0"), t0, t1)                                                                  \
    CUZK_ADX_STEP(X("1"), t1, t2)                                                                  \
    "mulx " X("2") ", %[lo], " t3 "\n\t"                                                           \
    "adcx %[lo], " t2 "\n\t"                                                                       \
    "adox %[zero], " t3 "\n\t"                                                                     \
    "mulx " X("3") ", %[lo], " t4 "\n\t"                                                           \
    "adcx %[lo], " t3 "\n\t"                                                                       \
    "adcx %[zero], " t4 "\n\t"

/* ---- reduction of t0 … t(n-1), with one free register, to n words ---- */

/* rdx = -t0/p mod 2^64 */
#define CUZK_ADX_QUOTIENT(t0) CUZK_ADX_RDX(t0) "imulq " CUZK_ADX_N0 ", %%rdx\n\t"

/* result in t6, t0, t1, t2, t3, t4 */
#define CUZK_ADX_REDUCE6(t0, t1, t2, t3, t4, t5, t6)                                               \
    CUZK_ADX_RDX(t0) CUZK_ADX_ROW6_TWO(CUZK_ADX_Q, t1, t2, t3, t4, t5, t6, t0)                     \
    CUZK_ADX_RDX(t1) CUZK_ADX_ROW6(CUZK_ADX_Q, t2, t3, t4, t5, t6, t0, t1)                         \
    CUZK_ADX_RDX(t2) CUZK_ADX_ROW6(CUZK_ADX_Q, t3, t4, t5, t6, t0, t1, t2)                         \
    CUZK_ADX_RDX(t3) CUZK_ADX_ROW6(CUZK_ADX_Q, t4, t5, t6, t0, t1, t2, t3)                         \
    CUZK_ADX_QUOTIENT(t4) CUZK_ADX_ROW6_FULL(CUZK_ADX_P, t4, t5, t6, t0, t1, t2, t3)               \
    CUZK_ADX_QUOTIENT(t5) CUZK_ADX_ROW6(CUZK_ADX_P, t5, t6, t0, t1, t2, t3, t4)

/* result in t4, t0, t1, t2 */
#define CUZK_ADX_REDUCE4(t0, t1, t2, t3, t4)                                                       \
    CUZK_ADX_RDX(t0) CUZK_ADX_ROW4_TWO(CUZK_ADX_Q, t1, t2, t3, t4, t0)                             \
    CUZK_ADX_RDX(t1) CUZK_ADX_ROW4(CUZK_ADX_Q, t2, t3, t4, t0, t1)                                 \
    CUZK_ADX_QUOTIENT(t2) CUZK_ADX_ROW4_FULL(CUZK_ADX_P, t2, t3, t4, t0, t1)                       \
    CUZK_ADX_QUOTIENT(t3) CUZK_ADX_ROW4(CUZK_ADX_P, t3, t4, t0, t1, t2)

/* ---- squares: products off the diagonal once, then doubled while the diagonal is added ---- */

/* t0 += low half, t1 = high half + carry: a single product on top of a row. */
#define CUZK_ADX_ONE(x, t0, t1)                                                                    \
    "mulx " x ", %[lo], " t1 "\n\t"                                                                \
    "addq %[lo], " t0 "\n\t"                                                                       \
    "adcq $0, " t1 "\n\t"

/* Word = 2·word + carries + diagonal half, the word in a register. */
#define CUZK_ADX_DOUBLE(t, half)                                                                   \
    "adcx " t ", " t "\n\t"                                                                        \
    "adox " half ", " t "\n\t"

/* Two words 2i, 2i+1 of a square, i > 0, with the off-diagonal words in t and u. */
#define CUZK_ADX_DIAGONAL(i, t, u)                                                                 \
    CUZK_ADX_RDX(CUZK_ADX_A(i))                                                                    \
    "mulx %%rdx, %[lo], %[hi]\n\t"                                                                 \
    CUZK_ADX_DOUBLE(t, "%[lo]")                                                                    \
    CUZK_ADX_DOUBLE(u, "%[hi]")

/* The last two words; nothing is off the diagonal in the top one. */
#define CUZK_ADX_DIAGONAL_TOP(i, t, u)                                                             \
    CUZK_ADX_RDX(CUZK_ADX_A(i))                                                                    \
    "mulx %%rdx, %[lo], " u "\n\t"                                                                 \
    CUZK_ADX_DOUBLE(t, "%[lo]")                                                                    \
    "adcx %[zero], " u "\n\t"                                                                      \
    "adox %[zero], " u "\n\t"

/* Word i of w. */
#define CUZK_ADX_GET(i, t) "movq " CUZK_ADX_W(i) ", " t "\n\t"

/* ---- reduction, last part: add the high half of w, subtract p unless that borrows ---- */

#define CUZK_ADX_HIGH(op, i, t)      op " " CUZK_ADX_W(i) ", " t "\n\t"
#define CUZK_ADX_LESS_P(op, i, t, s) "movq " t ", " s "\n\t" op " " CUZK_ADX_P(i) ", " s "\n\t"
#define CUZK_ADX_KEEP(t, s)          "cmovcq " t ", " s "\n\t"

/* ---- sums: t op b; p or 0 into s; t op s ---- */

#define CUZK_ADX_WITH_B(op, i, t) op " " CUZK_ADX_B(i) ", " t "\n\t"
#define CUZK_ADX_P_IF_CARRY(i, s) "cmovcq " CUZK_ADX_P(i) ", " s "\n\t"
#define CUZK_ADX_WITH(op, s, t)   op " " s ", " t "\n\t"
#define CUZK_ADX_ZERO(s)          "xorl %k[" s "], %k[" s "]\n\t"

/* ---- functions; one row or step a line ---- */

#define T0   "%[t0]"
#define T1   "%[t1]"
#define T2   "%[t2]"
#define T3   "%[t3]"
#define T4   "%[t4]"
#define T5   "%[t5]"
#define T6   "%[t6]"
#define T7   "%[t7]"
#define S0   "%[s0]"
#define S1   "%[s1]"
#define S2   "%[s2]"
#define S3   "%[s3]"
#define S4   "%[s4]"
#define S5   "%[s5]"
#define LO   "%[lo]"
#define HI   "%[hi]"
#define ZERO "%[zero]"
#define TOP  "%[top]"
#define A    CUZK_ADX_A
#define B    CUZK_ADX_B
#define P    CUZK_ADX_P
#define Q    CUZK_ADX_Q

/* Output operands. */
#define OUT(name)   [name] "=&r"(name)
#define INOUT(name) [name] "+&r"(name)

/** w = a·b, 12 words from 6 and 6. w must not overlap a or b. */
static CUZK_ALWAYS_INLINE void cuzk_adx_wide_mul6(uint64_t *w, const uint64_t *a, const uint64_t *b)
{
    uint64_t t0, t1, t2, t3, t4, t5, t6, lo, hi, zero;
    __asm__ volatile(
        CUZK_ADX_RDX(B("0")) /* each row completes one word */
        CUZK_ADX_ROW6_FIRST(A, T0, T1, T2, T3, T4, T5, T6)
        CUZK_ADX_SAVE(T0, "0")
        CUZK_ADX_RDX(B("1"))
        CUZK_ADX_ROW6(A, T1, T2, T3, T4, T5, T6, T0)
        CUZK_ADX_SAVE(T1, "1")
        CUZK_ADX_RDX(B("2"))
        CUZK_ADX_ROW6(A, T2, T3, T4, T5, T6, T0, T1)
        CUZK_ADX_SAVE(T2, "2")
        CUZK_ADX_RDX(B("3"))
        CUZK_ADX_ROW6(A, T3, T4, T5, T6, T0, T1, T2)
        CUZK_ADX_SAVE(T3, "3")
        CUZK_ADX_RDX(B("4"))
        CUZK_ADX_ROW6(A, T4, T5, T6, T0, T1, T2, T3)
        CUZK_ADX_SAVE(T4, "4")
        CUZK_ADX_RDX(B("5"))
        CUZK_ADX_ROW6(A, T5, T6, T0, T1, T2, T3, T4)
        CUZK_ADX_SAVE(T5, "5") CUZK_ADX_SAVE(T6, "6") CUZK_ADX_SAVE(T0, "7")
        CUZK_ADX_SAVE(T1, "8") CUZK_ADX_SAVE(T2, "9") CUZK_ADX_SAVE(T3, "10")
        CUZK_ADX_SAVE(T4, "11")
        : OUT(t0), OUT(t1), OUT(t2), OUT(t3), OUT(t4), OUT(t5), OUT(t6), OUT(lo), OUT(hi),
          OUT(zero)
        : [w] "r"(w), [a] "r"(a), [b] "r"(b)
        : "rdx", "cc", "memory");
}

/** w = a², 12 words from 6. w must not overlap a. */
static CUZK_ALWAYS_INLINE void cuzk_adx_wide_sqr6(uint64_t *w, const uint64_t *a)
{
    uint64_t t0, t1, t2, t3, t4, t5, t6, t7, lo, hi, zero;
    __asm__ volatile(
        /* words 1 … 6: a0·(a1 … a5); 1 and 2 are complete and wait in w */
        CUZK_ADX_RDX(A("0"))
        "mulx " A("1") ", " T6 ", " T7 "\n\t"
        "mulx " A("2") ", " LO ", " T0 "\n\t"
        "addq " LO ", " T7 "\n\t"
        "mulx " A("3") ", " LO ", " T1 "\n\t"
        "adcq " LO ", " T0 "\n\t"
        "mulx " A("4") ", " LO ", " T2 "\n\t"
        "adcq " LO ", " T1 "\n\t"
        "mulx " A("5") ", " LO ", " T3 "\n\t"
        "adcq " LO ", " T2 "\n\t"
        "adcq $0, " T3 "\n\t"
        CUZK_ADX_SAVE(T6, "1") CUZK_ADX_SAVE(T7, "2")
        /* words 3 … 7 in t0 … t4: a1·(a2 … a5) */
        CUZK_ADX_RDX(A("1"))
        CUZK_ADX_CLEAR
        CUZK_ADX_STEP(A("2"), T0, T1)
        CUZK_ADX_STEP(A("3"), T1, T2)
        CUZK_ADX_STEP(A("4"), T2, T3)
        CUZK_ADX_LAST(A("5"), T3, T4)
        /* words 5 … 8: a2·(a3 … a5) */
        CUZK_ADX_RDX(A("2"))
        CUZK_ADX_CLEAR
        CUZK_ADX_STEP(A("3"), T2, T3)
        CUZK_ADX_STEP(A("4"), T3, T4)
        CUZK_ADX_LAST(A("5"), T4, T5)
        /* words 7 … 9: a3·(a4, a5) */
        CUZK_ADX_RDX(A("3"))
        CUZK_ADX_CLEAR
        CUZK_ADX_STEP(A("4"), T4, T5)
        CUZK_ADX_LAST(A("5"), T5, T6)
        /* words 9 and 10: a4·a5 */
        CUZK_ADX_RDX(A("4"))
        CUZK_ADX_ONE(A("5"), T6, T7)
        /* double, add a_i² at words 2i and 2i+1; `zero` holds words 1 and 2 on their way */
        CUZK_ADX_RDX(A("0"))
        "mulx %%rdx, " LO ", " HI "\n\t"
        CUZK_ADX_SAVE(LO, "0")
        CUZK_ADX_CLEAR
        CUZK_ADX_GET("1", ZERO)
        CUZK_ADX_DOUBLE(ZERO, HI)
        CUZK_ADX_SAVE(ZERO, "1")
        CUZK_ADX_GET("2", ZERO)
        CUZK_ADX_DIAGONAL("1", ZERO, T0)
        CUZK_ADX_SAVE(ZERO, "2") CUZK_ADX_SAVE(T0, "3")
        CUZK_ADX_DIAGONAL("2", T1, T2)
        CUZK_ADX_SAVE(T1, "4") CUZK_ADX_SAVE(T2, "5")
        CUZK_ADX_DIAGONAL("3", T3, T4)
        CUZK_ADX_SAVE(T3, "6") CUZK_ADX_SAVE(T4, "7")
        CUZK_ADX_DIAGONAL("4", T5, T6)
        CUZK_ADX_SAVE(T5, "8") CUZK_ADX_SAVE(T6, "9")
        "movl $0, %k[zero]\n\t"
        CUZK_ADX_DIAGONAL_TOP("5", T7, T0)
        CUZK_ADX_SAVE(T7, "10") CUZK_ADX_SAVE(T0, "11")
        : OUT(t0), OUT(t1), OUT(t2), OUT(t3), OUT(t4), OUT(t5), OUT(t6), OUT(t7), OUT(lo),
          OUT(hi), OUT(zero)
        : [w] "r"(w), [a] "r"(a)
        : "rdx", "cc", "memory");
}

/** o = w + l·2^-384 mod p, reduced: the halves of a product of 12 words; w at most 0.9·p. */
static CUZK_ALWAYS_INLINE void cuzk_adx_redc6(uint64_t *o, const uint64_t *l, const uint64_t *w,
                                              const cuzk_adx_field *k)
{
    uint64_t t0 = l[0], t1 = l[1], t2 = l[2], t3 = l[3], t4 = l[4], t5 = l[5];
    uint64_t t6, lo, hi, zero, s0, top;
    __asm__(
        CUZK_ADX_REDUCE6(T0, T1, T2, T3, T4, T5, T6)
        CUZK_ADX_HIGH("addq", "0", T6) CUZK_ADX_HIGH("adcq", "1", T0)
        CUZK_ADX_HIGH("adcq", "2", T1) CUZK_ADX_HIGH("adcq", "3", T2)
        CUZK_ADX_HIGH("adcq", "4", T3) CUZK_ADX_HIGH("adcq", "5", T4)
        CUZK_ADX_LESS_P("subq", "0", T6, T5) CUZK_ADX_LESS_P("sbbq", "1", T0, LO)
        CUZK_ADX_LESS_P("sbbq", "2", T1, HI) CUZK_ADX_LESS_P("sbbq", "3", T2, ZERO)
        CUZK_ADX_LESS_P("sbbq", "4", T3, S0) CUZK_ADX_LESS_P("sbbq", "5", T4, TOP)
        CUZK_ADX_KEEP(T6, T5) CUZK_ADX_KEEP(T0, LO)
        CUZK_ADX_KEEP(T1, HI) CUZK_ADX_KEEP(T2, ZERO)
        CUZK_ADX_KEEP(T3, S0) CUZK_ADX_KEEP(T4, TOP)
        : INOUT(t0), INOUT(t1), INOUT(t2), INOUT(t3), INOUT(t4), INOUT(t5), OUT(t6), OUT(lo),
          OUT(hi), OUT(zero), OUT(s0), [top] "=&d"(top)
        : [w] "r"(w), [k] "r"(k)
        : "cc", "memory");
    o[0] = t5;
    o[1] = lo;
    o[2] = hi;
    o[3] = zero;
    o[4] = s0;
    o[5] = top;
}

/** w = a·b, 8 words from 4 and 4. w must not overlap a or b. */
static CUZK_ALWAYS_INLINE void cuzk_adx_wide_mul4(uint64_t *w, const uint64_t *a, const uint64_t *b)
{
    uint64_t t0, t1, t2, t3, t4, lo, hi, zero;
    __asm__ volatile(
        CUZK_ADX_RDX(B("0")) /* each row completes one word */
        CUZK_ADX_ROW4_FIRST(A, T0, T1, T2, T3, T4)
        CUZK_ADX_SAVE(T0, "0")
        CUZK_ADX_RDX(B("1"))
        CUZK_ADX_ROW4(A, T1, T2, T3, T4, T0)
        CUZK_ADX_SAVE(T1, "1")
        CUZK_ADX_RDX(B("2"))
        CUZK_ADX_ROW4(A, T2, T3, T4, T0, T1)
        CUZK_ADX_SAVE(T2, "2")
        CUZK_ADX_RDX(B("3"))
        CUZK_ADX_ROW4(A, T3, T4, T0, T1, T2)
        CUZK_ADX_SAVE(T3, "3") CUZK_ADX_SAVE(T4, "4") CUZK_ADX_SAVE(T0, "5")
        CUZK_ADX_SAVE(T1, "6") CUZK_ADX_SAVE(T2, "7")
        : OUT(t0), OUT(t1), OUT(t2), OUT(t3), OUT(t4), OUT(lo), OUT(hi), OUT(zero)
        : [w] "r"(w), [a] "r"(a), [b] "r"(b)
        : "rdx", "cc", "memory");
}

/** w = a², 8 words from 4. w must not overlap a. */
static CUZK_ALWAYS_INLINE void cuzk_adx_wide_sqr4(uint64_t *w, const uint64_t *a)
{
    uint64_t t1, t2, t3, t4, t5, t6, t7, lo, hi, zero;
    __asm__ volatile(
        /* words 1 … 4: a0·(a1 … a3) */
        CUZK_ADX_RDX(A("0"))
        "mulx " A("1") ", " T1 ", " T2 "\n\t"
        "mulx " A("2") ", " LO ", " T3 "\n\t"
        "addq " LO ", " T2 "\n\t"
        "mulx " A("3") ", " LO ", " T4 "\n\t"
        "adcq " LO ", " T3 "\n\t"
        "adcq $0, " T4 "\n\t"
        /* words 3 … 5: a1·(a2, a3) */
        CUZK_ADX_RDX(A("1"))
        CUZK_ADX_CLEAR
        CUZK_ADX_STEP(A("2"), T3, T4)
        CUZK_ADX_LAST(A("3"), T4, T5)
        /* words 5 and 6: a2·a3 */
        CUZK_ADX_RDX(A("2"))
        CUZK_ADX_ONE(A("3"), T5, T6)
        /* double, add a_i² at words 2i and 2i+1 */
        CUZK_ADX_RDX(A("0"))
        CUZK_ADX_CLEAR
        "mulx %%rdx, " LO ", " HI "\n\t"
        CUZK_ADX_SAVE(LO, "0")
        CUZK_ADX_DOUBLE(T1, HI)
        CUZK_ADX_SAVE(T1, "1")
        CUZK_ADX_DIAGONAL("1", T2, T3)
        CUZK_ADX_SAVE(T2, "2") CUZK_ADX_SAVE(T3, "3")
        CUZK_ADX_DIAGONAL("2", T4, T5)
        CUZK_ADX_SAVE(T4, "4") CUZK_ADX_SAVE(T5, "5")
        CUZK_ADX_DIAGONAL_TOP("3", T6, T7)
        CUZK_ADX_SAVE(T6, "6") CUZK_ADX_SAVE(T7, "7")
        : OUT(t1), OUT(t2), OUT(t3), OUT(t4), OUT(t5), OUT(t6), OUT(t7), OUT(lo), OUT(hi),
          OUT(zero)
        : [w] "r"(w), [a] "r"(a)
        : "rdx", "cc", "memory");
}

/** o = w + l·2^-256 mod p, reduced: the halves of a product of 8 words; w at most 0.9·p. */
static CUZK_ALWAYS_INLINE void cuzk_adx_redc4(uint64_t *o, const uint64_t *l, const uint64_t *w,
                                              const cuzk_adx_field *k)
{
    uint64_t t0 = l[0], t1 = l[1], t2 = l[2], t3 = l[3];
    uint64_t t4, lo, hi, zero, top;
    __asm__(
        CUZK_ADX_REDUCE4(T0, T1, T2, T3, T4)
        CUZK_ADX_HIGH("addq", "0", T4) CUZK_ADX_HIGH("adcq", "1", T0)
        CUZK_ADX_HIGH("adcq", "2", T1) CUZK_ADX_HIGH("adcq", "3", T2)
        CUZK_ADX_LESS_P("subq", "0", T4, LO) CUZK_ADX_LESS_P("sbbq", "1", T0, HI)
        CUZK_ADX_LESS_P("sbbq", "2", T1, ZERO) CUZK_ADX_LESS_P("sbbq", "3", T2, TOP)
        CUZK_ADX_KEEP(T4, LO) CUZK_ADX_KEEP(T0, HI)
        CUZK_ADX_KEEP(T1, ZERO) CUZK_ADX_KEEP(T2, TOP)
        : INOUT(t0), INOUT(t1), INOUT(t2), INOUT(t3), OUT(t4), OUT(lo), OUT(hi), OUT(zero),
          [top] "=&d"(top)
        : [w] "r"(w), [k] "r"(k)
        : "cc", "memory");
    o[0] = lo;
    o[1] = hi;
    o[2] = zero;
    o[3] = top;
}

/** o = a·b·2^-256 mod p, reduced; a and b below p. o may be a or b. */
static CUZK_ALWAYS_INLINE void cuzk_adx_mul4(uint64_t *o, const uint64_t *a, const uint64_t *b,
                                             const cuzk_adx_field *k)
{
    uint64_t t0, t1, t2, t3, t4, lo, hi, zero, top;
    __asm__(
        CUZK_ADX_RDX(B("0"))
        CUZK_ADX_ROW4_FIRST(A, T0, T1, T2, T3, T4)
        CUZK_ADX_RDX(T0)
        CUZK_ADX_ROW4(Q, T1, T2, T3, T4, T0)
        CUZK_ADX_RDX(B("1"))
        CUZK_ADX_ROW4_FULL(A, T1, T2, T3, T4, T0)
        CUZK_ADX_RDX(T1)
        CUZK_ADX_ROW4(Q, T2, T3, T4, T0, T1)
        CUZK_ADX_RDX(B("2"))
        CUZK_ADX_ROW4_FULL(A, T2, T3, T4, T0, T1)
        CUZK_ADX_QUOTIENT(T2)
        CUZK_ADX_ROW4_CARRY(P, T2, T3, T4, T0, T1)
        CUZK_ADX_RDX(B("3"))
        CUZK_ADX_ROW4_FULL(A, T3, T4, T0, T1, T2)
        CUZK_ADX_QUOTIENT(T3)
        CUZK_ADX_ROW4_FULL(P, T3, T4, T0, T1, T2)
        CUZK_ADX_LESS_P("subq", "0", T4, LO) CUZK_ADX_LESS_P("sbbq", "1", T0, HI)
        CUZK_ADX_LESS_P("sbbq", "2", T1, ZERO) CUZK_ADX_LESS_P("sbbq", "3", T2, TOP)
        CUZK_ADX_KEEP(T4, LO) CUZK_ADX_KEEP(T0, HI)
        CUZK_ADX_KEEP(T1, ZERO) CUZK_ADX_KEEP(T2, TOP)
        : OUT(t0), OUT(t1), OUT(t2), OUT(t3), OUT(t4), OUT(lo), OUT(hi), OUT(zero),
          [top] "=&d"(top)
        : [a] "r"(a), [b] "r"(b), [k] "r"(k)
        : "cc", "memory");
    o[0] = lo;
    o[1] = hi;
    o[2] = zero;
    o[3] = top;
}

/** o = a + b mod p; a and b below p. o may be a or b. */
static CUZK_ALWAYS_INLINE void cuzk_adx_add4(uint64_t *o, const uint64_t *a, const uint64_t *b,
                                             const cuzk_adx_field *k)
{
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
    uint64_t s0, s1, s2, s3;
    __asm__(
        CUZK_ADX_WITH_B("addq", "0", T0) CUZK_ADX_WITH_B("adcq", "1", T1)
        CUZK_ADX_WITH_B("adcq", "2", T2) CUZK_ADX_WITH_B("adcq", "3", T3)
        CUZK_ADX_LESS_P("subq", "0", T0, S0) CUZK_ADX_LESS_P("sbbq", "1", T1, S1)
        CUZK_ADX_LESS_P("sbbq", "2", T2, S2) CUZK_ADX_LESS_P("sbbq", "3", T3, S3)
        CUZK_ADX_KEEP(T0, S0) CUZK_ADX_KEEP(T1, S1)
        CUZK_ADX_KEEP(T2, S2) CUZK_ADX_KEEP(T3, S3)
        : INOUT(t0), INOUT(t1), INOUT(t2), INOUT(t3), OUT(s0), OUT(s1), OUT(s2), OUT(s3)
        : [b] "r"(b), [k] "r"(k)
        : "cc", "memory");
    o[0] = s0;
    o[1] = s1;
    o[2] = s2;
    o[3] = s3;
}

/** o = a - b mod p; a and b below p. o may be a or b. */
static CUZK_ALWAYS_INLINE void cuzk_adx_sub4(uint64_t *o, const uint64_t *a, const uint64_t *b,
                                             const cuzk_adx_field *k)
{
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
    uint64_t s0, s1, s2, s3;
    __asm__(
        CUZK_ADX_ZERO("s0") CUZK_ADX_ZERO("s1") CUZK_ADX_ZERO("s2")
        CUZK_ADX_ZERO("s3")
        CUZK_ADX_WITH_B("subq", "0", T0) CUZK_ADX_WITH_B("sbbq", "1", T1)
        CUZK_ADX_WITH_B("sbbq", "2", T2) CUZK_ADX_WITH_B("sbbq", "3", T3)
        CUZK_ADX_P_IF_CARRY("0", S0) CUZK_ADX_P_IF_CARRY("1", S1)
        CUZK_ADX_P_IF_CARRY("2", S2) CUZK_ADX_P_IF_CARRY("3", S3)
        CUZK_ADX_WITH("addq", S0, T0) CUZK_ADX_WITH("adcq", S1, T1)
        CUZK_ADX_WITH("adcq", S2, T2) CUZK_ADX_WITH("adcq", S3, T3)
        : INOUT(t0), INOUT(t1), INOUT(t2), INOUT(t3), OUT(s0), OUT(s1), OUT(s2), OUT(s3)
        : [b] "r"(b), [k] "r"(k)
        : "cc", "memory");
    o[0] = t0;
    o[1] = t1;
    o[2] = t2;
    o[3] = t3;
}

/** o = a + b mod p; a and b below p. o may be a or b. */
static CUZK_ALWAYS_INLINE void cuzk_adx_add6(uint64_t *o, const uint64_t *a, const uint64_t *b,
                                             const cuzk_adx_field *k)
{
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
    uint64_t s0, s1, s2, s3, s4, s5;
    __asm__(
        CUZK_ADX_WITH_B("addq", "0", T0) CUZK_ADX_WITH_B("adcq", "1", T1)
        CUZK_ADX_WITH_B("adcq", "2", T2) CUZK_ADX_WITH_B("adcq", "3", T3)
        CUZK_ADX_WITH_B("adcq", "4", T4) CUZK_ADX_WITH_B("adcq", "5", T5)
        CUZK_ADX_LESS_P("subq", "0", T0, S0) CUZK_ADX_LESS_P("sbbq", "1", T1, S1)
        CUZK_ADX_LESS_P("sbbq", "2", T2, S2) CUZK_ADX_LESS_P("sbbq", "3", T3, S3)
        CUZK_ADX_LESS_P("sbbq", "4", T4, S4) CUZK_ADX_LESS_P("sbbq", "5", T5, S5)
        CUZK_ADX_KEEP(T0, S0) CUZK_ADX_KEEP(T1, S1)
        CUZK_ADX_KEEP(T2, S2) CUZK_ADX_KEEP(T3, S3)
        CUZK_ADX_KEEP(T4, S4) CUZK_ADX_KEEP(T5, S5)
        : INOUT(t0), INOUT(t1), INOUT(t2), INOUT(t3), INOUT(t4), INOUT(t5), OUT(s0), OUT(s1),
          OUT(s2), OUT(s3), OUT(s4), OUT(s5)
        : [b] "r"(b), [k] "r"(k)
        : "cc", "memory");
    o[0] = s0;
    o[1] = s1;
    o[2] = s2;
    o[3] = s3;
    o[4] = s4;
    o[5] = s5;
}

/** o = a - b mod p; a and b below p. o may be a or b. */
static CUZK_ALWAYS_INLINE void cuzk_adx_sub6(uint64_t *o, const uint64_t *a, const uint64_t *b,
                                             const cuzk_adx_field *k)
{
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
    uint64_t s0, s1, s2, s3, s4, s5;
    __asm__(
        CUZK_ADX_ZERO("s0") CUZK_ADX_ZERO("s1") CUZK_ADX_ZERO("s2")
        CUZK_ADX_ZERO("s3") CUZK_ADX_ZERO("s4") CUZK_ADX_ZERO("s5")
        CUZK_ADX_WITH_B("subq", "0", T0) CUZK_ADX_WITH_B("sbbq", "1", T1)
        CUZK_ADX_WITH_B("sbbq", "2", T2) CUZK_ADX_WITH_B("sbbq", "3", T3)
        CUZK_ADX_WITH_B("sbbq", "4", T4) CUZK_ADX_WITH_B("sbbq", "5", T5)
        CUZK_ADX_P_IF_CARRY("0", S0) CUZK_ADX_P_IF_CARRY("1", S1)
        CUZK_ADX_P_IF_CARRY("2", S2) CUZK_ADX_P_IF_CARRY("3", S3)
        CUZK_ADX_P_IF_CARRY("4", S4) CUZK_ADX_P_IF_CARRY("5", S5)
        CUZK_ADX_WITH("addq", S0, T0) CUZK_ADX_WITH("adcq", S1, T1)
        CUZK_ADX_WITH("adcq", S2, T2) CUZK_ADX_WITH("adcq", S3, T3)
        CUZK_ADX_WITH("adcq", S4, T4) CUZK_ADX_WITH("adcq", S5, T5)
        : INOUT(t0), INOUT(t1), INOUT(t2), INOUT(t3), INOUT(t4), INOUT(t5), OUT(s0), OUT(s1),
          OUT(s2), OUT(s3), OUT(s4), OUT(s5)
        : [b] "r"(b), [k] "r"(k)
        : "cc", "memory");
    o[0] = t0;
    o[1] = t1;
    o[2] = t2;
    o[3] = t3;
    o[4] = t4;
    o[5] = t5;
}

#undef T0
#undef T1
#undef T2
#undef T3
#undef T4
#undef T5
#undef T6
#undef T7
#undef S0
#undef S1
#undef S2
#undef S3
#undef S4
#undef S5
#undef LO
#undef HI
#undef ZERO
#undef TOP
#undef A
#undef B
#undef P
#undef Q
#undef OUT
#undef INOUT

/* clang-format on */

#endif
