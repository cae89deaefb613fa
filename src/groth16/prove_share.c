/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "groth16/prove_share.h"

#include "groth16/prover_impl.h"

/* Additions of G1: of a field value, one for each digit of 20 bits; the quotient's six transforms
 * and the rows of a place of H, as much as they take; of a point of G2, one of G1's. */
enum { DIGITS = 13, QUOTIENT = 6, G2_COST = 3 };

/* Additions that an H200 makes in a microsecond, digits, sort and reduction counted as theirs:
 * docs/performance.md. */
enum { ADDITIONS_A_US = 3400 };

cuzk_sums cuzk_sums_share(const cuzk_sum_costs *costs, uint64_t *saved_ns)
{
    uint64_t all = costs->h, least;
    for (unsigned k = 0; k < costs->n_queries; k++) {
        all += costs->queries[k];
    }
    least = all;
    unsigned best = 0;
    for (unsigned some = 1; some < 1U << costs->n_queries; some++) {
        uint64_t of_other = 0;
        for (unsigned k = 0; k < costs->n_queries; k++) {
            of_other += (some >> k & 1) != 0 ? costs->queries[k] : 0;
        }
        uint64_t longer = of_other > all - of_other ? of_other : all - of_other;
        if (longer < least) {
            least = longer;
            best = some;
        }
    }
    *saved_ns = (all - least) * 1000 / ADDITIONS_A_US;
    return best * CUZK_SUM_OF(0);
}

/* What a set's queries select: field values, and bits that are 1. */
static void count_selected(const cuzk_query_set *set, const cuzk_witness *w, uint64_t *n_values,
                           uint64_t *n_ones)
{
    *n_values = *n_ones = 0;
    for (size_t i = 0; i < cuzk_bitmap_words(w->n_vars); i++) {
        uint64_t of = set->support != NULL ? set->support[i] : UINT64_MAX;
        *n_values += (unsigned)__builtin_popcountll(w->is_field[i] & of);
        *n_ones += (unsigned)__builtin_popcountll(w->bits[i] & of);
    }
}

/* No more can be saved than all sums over the witness take. */
static uint64_t most_saved_ns(const cuzk_prover *p, const cuzk_witness *w)
{
    uint64_t additions = 0;
    for (unsigned i = 0; i < p->n_sets; i++) {
        for (size_t k = 0; k < p->sets[i].n_queries; k++) {
            bool is_g2 = p->sets[i].queries[k].group == CUZK_G2;
            additions += ((uint64_t)w->n_field * DIGITS + w->n_vars) * (is_g2 ? G2_COST : 1);
        }
    }
    return additions * 1000 / ADDITIONS_A_US;
}

cuzk_sums cuzk_prove_share(const cuzk_prover *p, const cuzk_witness *w, uint64_t least_ns)
{
    if (most_saved_ns(p, w) < least_ns) {
        return 0;
    }
    cuzk_sum_costs costs = {.h = (uint64_t)p->n * (DIGITS + QUOTIENT)};
    for (unsigned i = 0; i < p->n_sets; i++) {
        uint64_t n_values, n_ones;
        count_selected(&p->sets[i], w, &n_values, &n_ones);
        for (size_t k = 0; k < p->sets[i].n_queries; k++) {
            bool is_g2 = p->sets[i].queries[k].group == CUZK_G2;
            costs.queries[costs.n_queries++] = (n_values * DIGITS + n_ones) * (is_g2 ? G2_COST : 1);
        }
    }
    uint64_t saved_ns;
    cuzk_sums sums = cuzk_sums_share(&costs, &saved_ns);
    return saved_ns >= least_ns ? sums : 0;
}
