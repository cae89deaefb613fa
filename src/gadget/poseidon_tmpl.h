/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The Poseidon permutation over short names, for one CPU path. The includer defines
 *
 *   state         one element of the state, of each of the hashes of a batch
 *   coef          a constant
 *   BATCH         hashes at a time
 *   CONSTANTS(table, name)  the constants `name` of a table in the form of coef
 *   sink          where values go
 *   set_tag(o, tag)             o = tag
 *   load_add(o, preimage, i, k) o = element i of the preimages + k
 *   add(o, k)                   o += k
 *   sbox(o, k, sink, with_input)  o = o^5 + k (k may be NULL); a sink takes o (if with_input), o²,
 *                                 o⁴, o⁵ + k
 *   sum(o, x, k, n, add)        o = Σ_i x[i]·k[i], i < n, + add (may be NULL); n ≤ T_MAX + BLOCK
 *   settle(o)                   brings the range back after several sums with add
 *   sink_start(sink, values), put(sink, a), sink_end(sink), store(digest, a)
 *
 * Rounds with compressed constants and sparse matrices (gadgets.md 6.5 to 6.7). Every matrix
 * product is a sum that is reduced once. In a block of four partial rounds the elements other than
 * 0 stand still: what they get is added up at its end, one reduction instead of four, and element 0
 * of the rounds between is a longer sum with constants of its own (poseidon_table.h). */

/* One matrix product; columns: t coefficients per new element. */
static void mix(state *s, const coef *columns, unsigned t)
{
    state fresh[CUZK_POSEIDON_T_MAX];
    for (unsigned j = 0; j < t; j++) {
        sum(&fresh[j], s, columns + j * t, t, NULL);
    }
    memcpy(s, fresh, t * sizeof *s);
}

static const coef *full_round(state *s, const coef *key, const coef *columns, unsigned t, sink *to)
{
    for (unsigned i = 0; i < t; i++) {
        sbox(&s[i], key++, to, true);
    }
    mix(s, columns, t);
    return key;
}

/* The partial rounds. s has room for BLOCK more elements. */
static const coef *partial_rounds(state *s, const coef *key, const cuzk_poseidon_table *table,
                                  sink *to)
{
    const coef *k = CONSTANTS(table, blocked);
    unsigned t = table->t;
    for (unsigned first = 0; first < table->n_partial; first += CUZK_POSEIDON_BLOCK) {
        unsigned left = table->n_partial - first;
        unsigned size = left < CUZK_POSEIDON_BLOCK ? left : CUZK_POSEIDON_BLOCK;
        for (unsigned m = 0; m < size; m++) {
            state next;
            sbox(&s[0], key++, to, true);
            sum(&next, s, k, t + m, NULL);
            k += t + m;
            s[t + m] = s[0];
            s[0] = next;
        }
        for (unsigned j = 1; j < t; j++, k += size) {
            sum(&s[j], &s[t], k, size, &s[j]);
        }
        if (first / CUZK_POSEIDON_BLOCK % 4 == 3) {
            for (unsigned j = 1; j < t; j++) {
                settle(&s[j]);
            }
        }
    }
    for (unsigned j = 1; j < t; j++) {
        settle(&s[j]);
    }
    return key;
}

/* digest: element 1 of the last state. */
static inline __attribute__((always_inline)) void permute(const cuzk_poseidon_table *table,
                                                          uint64_t tag, state *digest,
                                                          const void *const *preimage, sink *to)
{
    const coef *key = CONSTANTS(table, crc), *mds = CONSTANTS(table, mds_columns);
    unsigned t = table->t;
    state s[CUZK_POSEIDON_T_MAX + CUZK_POSEIDON_BLOCK];
    set_tag(&s[0], tag);
    add(&s[0], key);
    for (unsigned i = 1; i < t; i++) {
        load_add(&s[i], preimage, i - 1, key + i);
    }
    key += t;
    sbox(&s[0], key++, NULL, false); /* a constant of the circuit */
    for (unsigned i = 1; i < t; i++) {
        sbox(&s[i], key++, to, false);
    }
    mix(s, mds, t);
    key = full_round(s, key, mds, t, to);
    key = full_round(s, key, mds, t, to);
    key = full_round(s, key, CONSTANTS(table, pre_sparse_columns), t, to);
    key = partial_rounds(s, key, table, to);
    for (int i = 0; i < 3; i++) {
        key = full_round(s, key, mds, t, to);
    }
    for (unsigned i = 0; i < t; i++) {
        sbox(&s[i], NULL, to, true);
    }
    sum(digest, s, mds + t, t, NULL);
}

static void hash(const cuzk_poseidon_table *table, uint64_t tag, void *const *digest,
                 const void *const *preimage)
{
    state d;
    permute(table, tag, &d, preimage, NULL);
    store(digest, &d);
}

static void values(const cuzk_poseidon_table *table, uint64_t tag, void *const *to,
                   const void *const *preimage)
{
    sink out;
    state d;
    sink_start(&out, to);
    permute(table, tag, &d, preimage, &out);
    put(&out, &d);
    sink_end(&out);
}

extern const cuzk_poseidon_kernel CUZK_INSTANCE(poseidon_kernel);
const cuzk_poseidon_kernel CUZK_INSTANCE(poseidon_kernel) = {
    .batch = BATCH, .hash = hash, .values = values};
