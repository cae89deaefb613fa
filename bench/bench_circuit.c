/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Processor seconds of what lies in front of the prover, as CSV.
 *
 *   bench_circuit [KIND SIZE [REPETITIONS]]     porep, window, winning or update; 2k … 64g;
 * default: all kinds at 32GiB, 3 repetitions
 *
 * Rows: shape (compile the circuit), witness (from a vanilla proof already read; a made-up sector),
 * rows_a and rows_b (A·w and B·w from shape and witness, into
 * memory in use). floor_s, for the witness: as many
 * Poseidon permutations with all their values and SHA-256 compressions as it takes, by themselves,
 * in this run. One thread; the fastest repetition. */
#include "base/pages.h"
#include "base/sha256.h"
#include "filecoin/circuit_porep.h"
#include "filecoin/circuit_post.h"
#include "filecoin/circuit_update.h"
#include "filecoin/synthetic.h"
#include "gadget/poseidon.h"
#include "r1cs/satisfy.h"

#include "bench_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
    cuzk_registered_proof proof;
    cuzk_porep_vanilla porep;
    cuzk_post_vanilla post;
    cuzk_update_vanilla update;
    cuzk_update_statement statement;
};

static void make_input(struct input *in)
{
    cuzk_error err = {0};
    uint8_t randomness[32];
    cuzk_synthetic_params params = {.proof = in->proof, .seed = 1, .miner_id = 1000};
    if (in->proof.kind == CUZK_PROOF_POREP) {
        check(cuzk_synthetic_porep(&in->porep, &params, &err), &err);
    } else if (in->proof.kind == CUZK_PROOF_UPDATE) {
        check(cuzk_synthetic_update(&in->update, &in->statement, &params, &err), &err);
    } else {
        params.n_sectors =
            in->proof.kind == CUZK_PROOF_WINDOW ? cuzk_window_sectors(in->proof.sector) : 1;
        check(cuzk_synthetic_post(&in->post, randomness, &params, &err), &err);
    }
}

static cuzk_shape *make_shape(const struct input *in)
{
    cuzk_error err = {0};
    cuzk_shape *s = NULL;
    const cuzk_sector *sector = in->proof.sector;
    if (in->proof.kind == CUZK_PROOF_POREP) {
        check(cuzk_porep_circuit_shape(&s, sector, &err), &err);
    } else if (in->proof.kind == CUZK_PROOF_UPDATE) {
        check(cuzk_update_circuit_shape(&s, sector, &err), &err);
    } else {
        check(cuzk_post_circuit_shape(&s, in->proof.kind, sector, &err), &err);
    }
    return s;
}

static cuzk_witness *make_witness(const struct input *in, const cuzk_shape *s)
{
    cuzk_error err = {0};
    cuzk_witness *w = NULL;
    if (in->proof.kind == CUZK_PROOF_POREP) {
        check(cuzk_porep_circuit_witness(&w, s, &in->porep, 0, NULL, &err), &err);
    } else if (in->proof.kind == CUZK_PROOF_UPDATE) {
        check(cuzk_update_circuit_witness(&w, s, &in->update, &in->statement, 0, NULL, &err), &err);
    } else {
        check(cuzk_post_circuit_witness(&w, s, &in->post, NULL, &err), &err);
    }
    return w;
}

/* Permutations (nearly all of arity 8 or 11) and compressions of one witness. */
static void count_hashes(const struct input *in, double *permutations, double *compressions)
{
    const cuzk_sector *sector = in->proof.sector;
    unsigned levels = cuzk_tree_levels(cuzk_tree_poseidon(sector));
    *compressions = 0;
    if (in->proof.kind == CUZK_PROOF_POREP) {
        cuzk_porep_shape p = in->porep.shape;
        unsigned columns = CUZK_PARENTS + 1;
        *permutations = p.challenges * ((columns + 1.0) * levels + columns) + 1;
        *compressions = p.challenges * (2.0 * sector->lg_nodes + 20.0 * p.layers);
    } else if (in->proof.kind == CUZK_PROOF_UPDATE) {
        cuzk_update_shape u = in->update.shape;
        *permutations = u.challenges * (2.0 * levels + 1) + u.digests + 3;
        *compressions = 2.0 * ((1u << u.apex_bits) - 1 + u.partition_bits +
                               u.challenges * (u.random_bits - u.apex_bits));
    } else if (in->proof.kind == CUZK_PROOF_WINDOW) {
        *permutations = cuzk_window_sectors(sector) * (1.0 + CUZK_WINDOW_CHALLENGES * levels);
    } else {
        *permutations = CUZK_WINNING_CHALLENGES * (1.0 + levels);
    }
}

/* Seconds of one permutation with its values, and of one compression. */
static void measure_hashes(double *permutation, double *compression)
{
    enum { N = 512, BLOCKS = 4096 };
    static uint8_t preimage[N][8][32], message[64 * BLOCKS];
    unsigned n_values = cuzk_poseidon_n_values(8);
    uint8_t *values = malloc((size_t)N * n_values * 32), digest[32];
    void *out[N];
    *permutation = *compression = 1;
    for (int i = 0; i < N && values != NULL; i++) {
        out[i] = values + (size_t)i * n_values * 32;
    }
    for (int r = 0; r < 10 && values != NULL; r++) {
        double start = cpu_seconds();
        cuzk_poseidon_values(8, cuzk_poseidon_merkle_tag(8), out, preimage, N);
        double middle = cpu_seconds();
        cuzk_sha256_digest(digest, message, sizeof message);
        double end = cpu_seconds(), p = (middle - start) / N, c = (end - middle) / BLOCKS;
        *permutation = p < *permutation ? p : *permutation;
        *compression = c < *compression ? c : *compression;
    }
    free(values);
}

struct best {
    double shape, witness, rows[2];
    size_t rows_bytes;
};

static void keep(double *best, double seconds)
{
    *best = *best == 0 || seconds < *best ? seconds : *best;
}

static void measure(const struct input *in, struct best *best, bool with_rows, cuzk_fr **rows)
{
    double start = cpu_seconds();
    cuzk_shape *s = make_shape(in);
    keep(&best->shape, cpu_seconds() - start);
    start = cpu_seconds();
    cuzk_witness *w = make_witness(in, s);
    keep(&best->witness, cpu_seconds() - start);
    uint64_t n = cuzk_shape_n_rows(s);
    size_t n_bytes = (size_t)n * sizeof **rows;
    if (with_rows && *rows == NULL && (*rows = cuzk_pages_alloc(n_bytes)) != NULL) {
        memset(*rows, 1, n_bytes); /* the system's page faults are not measured */
    }
    for (int k = 0; k < 2 && *rows != NULL; k++) {
        start = cpu_seconds();
        cuzk_shape_eval_rows(s, w, (cuzk_matrix)k, *rows, n, NULL);
        keep(&best->rows[k], cpu_seconds() - start);
    }
    best->rows_bytes = n_bytes;
    cuzk_witness_destroy(w);
    cuzk_shape_destroy(s);
}

static const char *const kinds[] = {"", "porep", "update", "window", "winning"};

/* Window's rows would take 8 GB. */
static void run(cuzk_proof_kind kind, const cuzk_sector *sector, int n_repetitions)
{
    struct input in = {0};
    cuzk_error err = {0};
    uint64_t number = kind == CUZK_PROOF_WINDOW ? 10 : kind == CUZK_PROOF_POREP ? 5 : 0;
    check(cuzk_registered_proof_get(&in.proof, kind, number, &err), &err);
    check(cuzk_registered_proof_resize(&in.proof, sector, &err), &err);
    make_input(&in);
    double permutations, compressions, permutation, compression;
    count_hashes(&in, &permutations, &compressions);
    measure_hashes(&permutation, &compression);
    struct best best = {0};
    cuzk_fr *rows = NULL;
    for (int r = 0; r < n_repetitions; r++) {
        measure(&in, &best, kind != CUZK_PROOF_WINDOW, &rows);
    }
    printf("%s,%s,shape,%.4f,\n", kinds[kind], sector->name, best.shape);
    printf("%s,%s,witness,%.4f,%.4f\n", kinds[kind], sector->name, best.witness,
           permutations * permutation + compressions * compression);
    if (rows != NULL) {
        printf("%s,%s,rows_a,%.4f,\n", kinds[kind], sector->name, best.rows[0]);
        printf("%s,%s,rows_b,%.4f,\n", kinds[kind], sector->name, best.rows[1]);
    }
    fflush(stdout);
    cuzk_pages_free(rows, best.rows_bytes);
    cuzk_porep_vanilla_clear(&in.porep);
    cuzk_post_vanilla_clear(&in.post);
    cuzk_update_vanilla_clear(&in.update);
}

int main(int argc, char **argv)
{
    const cuzk_sector *sector = cuzk_sector_by_name("32g", 3);
    int only = 0, n_repetitions = argc > 3 ? atoi(argv[3]) : 3;
    for (int i = 1; i < 5 && argc > 2; i++) {
        only = strcmp(argv[1], kinds[i]) == 0 ? i : only;
    }
    if (argc > 2) {
        sector = cuzk_sector_by_name(argv[2], strlen(argv[2]));
    }
    if (argc == 2 || (argc > 2 && only == 0) || sector == NULL) {
        fprintf(stderr, "usage: bench_circuit [porep|window|winning|update SIZE [REPETITIONS]]\n");
        return 2;
    }
    printf("kind,size,step,cpu_s,floor_s\n");
    for (int i = 1; i < 5; i++) {
        if (only == 0 || only == i) {
            run((cuzk_proof_kind)i, sector, n_repetitions);
        }
    }
    return 0;
}
