/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A circuit of any size with its witness, for measurements.
 *
 *   make_circuit squares|xors CONSTRAINTS CIRCUIT.r1cs WITNESS.wtns
 *
 * On BN254, the last wire of the chain public. squares: w' = w·w, every value as wide as the field.
 * xors: w' = w1 + w2 - 2·w1·w2 of the values 31 and 28 places before, every value a bit, as in a
 * SHA-256 circuit. The first values come from a fixed seed, so that the files are always the same.
 */
#include "bench_util.h"
#include "curve/curve.h"
#include "formats/r1cs_file.h"
#include "formats/wtns.h"

#include <string.h>

enum { CONSTRAINTS_MAX = (1 << 27) - 2, LAG = 31, SHORT_LAG = 28 };

static const cuzk_curve *curve;

/* Values are numbered along the chain from 0; wires: 0 the constant, 1 the last value, which is
 * public, then the others. */
static uint32_t wire(uint32_t value, uint32_t n_values)
{
    return value == n_values - 1 ? 1 : value + 2;
}

static void put_term(uint8_t *to, uint32_t wire, const uint8_t coefficient[32])
{
    cuzk_store_u32_le(to, wire);
    memcpy(to + 4, coefficient, 32);
}

static void write_circuit(FILE *file, bool is_xors, uint32_t n, uint32_t n_values)
{
    uint8_t one[32], two[32], minus_one[32];
    cuzk_fr k;
    cuzk_error err = {0};
    cuzk_r1cs_writer w;
    curve->fr_to_canonical_le(one, &curve->fr_one);
    curve->fr_from_u64(&k, 2);
    curve->fr_to_canonical_le(two, &k);
    curve->fr_neg(&k, &curve->fr_one);
    curve->fr_to_canonical_le(minus_one, &k);
    cuzk_r1cs_writer_begin(&w, file, curve);
    for (uint32_t i = n_values - n; i < n_values; i++) {
        uint8_t a[CUZK_R1CS_TERM_BYTES], b[CUZK_R1CS_TERM_BYTES], c[3 * CUZK_R1CS_TERM_BYTES];
        uint32_t w1 = wire(i - (is_xors ? LAG : 1), n_values);
        uint32_t w2 = wire(i - (is_xors ? SHORT_LAG : 1), n_values);
        put_term(a, w1, is_xors ? two : one);
        put_term(b, w2, one);
        put_term(c, wire(i, n_values), is_xors ? minus_one : one);
        if (is_xors) {
            put_term(c + CUZK_R1CS_TERM_BYTES, w1, one);
            put_term(c + 2 * (size_t)CUZK_R1CS_TERM_BYTES, w2, one);
        }
        const cuzk_r1cs_lc lc[3] = {{1, a}, {1, b}, {is_xors ? 3 : 1, c}};
        cuzk_r1cs_writer_constraint(&w, lc);
    }
    const cuzk_r1cs_header header = {
        .n_wires = n_values + 1, .n_pub_out = 1, .n_labels = n_values + 1};
    check(cuzk_r1cs_writer_end(&w, &header, &err), &err);
}

/* The values of all wires, canonical, 32 bytes each. */
static void fill_values(uint8_t *out, bool is_xors, uint32_t n_values)
{
    uint64_t seed = 0x9e3779b97f4a7c15;
    cuzk_fr value = {{0}};
    memset(out, 0, 32 * ((size_t)n_values + 1));
    curve->fr_to_canonical_le(out, &curve->fr_one);
    curve->fr_from_u64(&value, seed);
    curve->fr_inv(&value, &value); /* as wide as the field */
    for (uint32_t i = 0; i < n_values; i++) {
        uint8_t *to = out + 32 * (size_t)wire(i, n_values);
        if (!is_xors) {
            curve->fr_to_canonical_le(to, &value);
            curve->fr_mul(&value, &value, &value);
        } else if (i < LAG) {
            *to = (uint8_t)(seed >> i & 1);
        } else {
            *to = out[32 * (size_t)wire(i - LAG, n_values)] ^
                  out[32 * (size_t)wire(i - SHORT_LAG, n_values)];
        }
    }
}

static FILE *create(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

int main(int argc, char **argv)
{
    bool is_xors = argc == 5 && strcmp(argv[1], "xors") == 0;
    long n = argc == 5 ? atol(argv[2]) : 0;
    if (n < 1 || n > CONSTRAINTS_MAX || (!is_xors && strcmp(argv[1], "squares") != 0)) {
        fprintf(stderr, "usage: make_circuit squares|xors CONSTRAINTS CIRCUIT.r1cs WITNESS.wtns\n"
                        "1 to 2^27 - 2 constraints\n");
        return 1;
    }
    curve = cuzk_curve_get(CUZK_CURVE_BN254);
    uint32_t n_values = (uint32_t)n + (is_xors ? LAG : 1);
    FILE *circuit = create(argv[3]), *witness = create(argv[4]);
    write_circuit(circuit, is_xors, (uint32_t)n, n_values);
    uint64_t n_bytes = cuzk_wtns_file_bytes((uint64_t)n_values + 1);
    uint8_t *bytes = malloc(n_bytes);
    if (bytes == NULL) {
        fprintf(stderr, "make_circuit: out of memory\n");
        return 1;
    }
    uint8_t *values = bytes + n_bytes - 32 * ((uint64_t)n_values + 1);
    fill_values(values, is_xors, n_values);
    cuzk_wtns_write(bytes, curve, values, (uint64_t)n_values + 1);
    bool written = fwrite(bytes, 1, n_bytes, witness) == n_bytes;
    written = fclose(witness) == 0 && written;
    written = fclose(circuit) == 0 && written;
    free(bytes);
    if (!written) {
        fprintf(stderr, "make_circuit: %s, %s: not written\n", argv[3], argv[4]);
        return 1;
    }
    return 0;
}
