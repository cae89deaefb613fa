/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Vanilla proofs of 32GiB sectors read and checked, as CSV: processor seconds of one thread (the
 * fastest of three), bytes of input, bytes of heap that stay. Made-up sectors; see
 * docs/filecoin.md. Rows: c1 and c1_envelope (all 180 challenges of a PoRep from JSON),
 * porep_check, window (a full partition from bincode), window_check, snap (16 partitions),
 * snap_check. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "filecoin/synthetic.h"
#include "filecoin/vanilla_check.h"
#include "filecoin/vanilla_pieces.h"
#include "filecoin/vanilla_write.h"

#include "bench_util.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3 };

static size_t heap_bytes(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* A proof as the bytes of its file. */
typedef struct {
    char *data;
    size_t size;
} text;

static cuzk_synthetic_params params_of(cuzk_proof_kind kind, uint64_t number)
{
    cuzk_error err = {0};
    cuzk_synthetic_params p = {.seed = 1, .miner_id = 1000, .n_sectors = 1};
    check(cuzk_registered_proof_get(&p.proof, kind, number, &err), &err);
    if (kind == CUZK_PROOF_WINDOW) {
        p.n_sectors = cuzk_window_sectors(p.proof.sector);
    }
    return p;
}

static void row(const char *name, size_t bytes, double seconds, size_t heap)
{
    printf("%s,%zu,%.4f,%zu\n", name, bytes, seconds, heap);
    fflush(stdout);
}

static void bench_porep(void)
{
    cuzk_error err = {0};
    cuzk_synthetic_params params = params_of(CUZK_PROOF_POREP, 8);
    cuzk_porep_vanilla v;
    check(cuzk_synthetic_porep(&v, &params, &err), &err);
    text texts[2] = {{0}};
    for (int envelope = 0; envelope < 2; envelope++) {
        FILE *f = open_memstream(&texts[envelope].data, &texts[envelope].size);
        check(cuzk_porep_vanilla_write(f, &v, envelope != 0, &err), &err);
        fclose(f);
    }
    cuzk_porep_vanilla_clear(&v);
    double best_check = 0;
    for (int envelope = 0; envelope < 2; envelope++) {
        double best = 0;
        size_t heap = 0;
        for (int run = 0; run < RUNS; run++) {
            size_t before = heap_bytes();
            double begin = cpu_seconds();
            check(cuzk_porep_vanilla_read(&v, (uint8_t *)texts[envelope].data, texts[envelope].size,
                                          &err),
                  &err);
            double read = cpu_seconds();
            heap = heap_bytes() - before;
            cuzk_porep_statement s;
            cuzk_porep_statement_of(&s, &v);
            check(cuzk_porep_check(&v, &s, NULL, &err), &err);
            double checked = cpu_seconds() - read;
            best = best == 0 || read - begin < best ? read - begin : best;
            best_check = best_check == 0 || checked < best_check ? checked : best_check;
            cuzk_porep_vanilla_clear(&v);
        }
        row(envelope ? "c1_envelope" : "c1", texts[envelope].size, best, heap);
    }
    row("porep_check", texts[0].size, best_check, 0);
    free(texts[0].data);
    free(texts[1].data);
}

static void bench_window(void)
{
    cuzk_error err = {0};
    cuzk_synthetic_params params = params_of(CUZK_PROOF_WINDOW, 13);
    cuzk_post_vanilla v;
    cuzk_post_statement s = {.proof = params.proof, .n_sectors = params.n_sectors};
    check(cuzk_synthetic_post(&v, s.randomness, &params, &err), &err);
    uint64_t *ids = calloc(v.n_sectors, sizeof *ids);
    cuzk_digest *comm_r = calloc(v.n_sectors, sizeof *comm_r);
    cuzk_vanilla_span *spans = calloc(v.n_sectors, sizeof *spans);
    text all = {0};
    FILE *f = open_memstream(&all.data, &all.size);
    for (uint32_t i = 0; i < v.n_sectors; i++) {
        ids[i] = v.sectors[i].sector_id;
        comm_r[i] = v.sectors[i].comm_r;
        check(cuzk_post_sector_write(f, &v, i, &err), &err);
    }
    fclose(f);
    for (uint32_t i = 0; i < v.n_sectors; i++) {
        uint64_t each = all.size / v.n_sectors;
        spans[i] = (cuzk_vanilla_span){(uint8_t *)all.data + i * each, each};
    }
    cuzk_post_vanilla_clear(&v);
    s.sector_ids = ids;
    s.comm_r = comm_r;
    double best = 0, best_check = 0;
    size_t heap = 0;
    for (int run = 0; run < RUNS; run++) {
        size_t before = heap_bytes();
        double begin = cpu_seconds();
        check(cuzk_post_vanilla_read(&v, &s.proof, spans, s.n_sectors, &err), &err);
        double read = cpu_seconds();
        heap = heap_bytes() - before;
        check(cuzk_post_check(&v, &s, NULL, &err), &err);
        double checked = cpu_seconds() - read;
        best = best == 0 || read - begin < best ? read - begin : best;
        best_check = best_check == 0 || checked < best_check ? checked : best_check;
        cuzk_post_vanilla_clear(&v);
    }
    row("window", all.size, best, heap);
    row("window_check", all.size, best_check, 0);
    free(ids);
    free(comm_r);
    free(spans);
    free(all.data);
}

static void bench_snap(void)
{
    cuzk_error err = {0};
    cuzk_synthetic_params params = params_of(CUZK_PROOF_UPDATE, 3);
    cuzk_update_vanilla v;
    cuzk_update_statement s;
    check(cuzk_synthetic_update(&v, &s, &params, &err), &err);
    text all = {0};
    FILE *f = open_memstream(&all.data, &all.size);
    check(cuzk_update_vanilla_write(f, &v, &err), &err);
    fclose(f);
    cuzk_update_vanilla_clear(&v);
    double best = 0, best_check = 0;
    size_t heap = 0;
    for (int run = 0; run < RUNS; run++) {
        size_t before = heap_bytes();
        double begin = cpu_seconds();
        cuzk_vanilla_pieces p;
        check(cuzk_vanilla_pieces_read(&p, (uint8_t *)all.data, all.size, &err), &err);
        check(cuzk_update_vanilla_read(&v, &s.proof, p.spans, p.n, &err), &err);
        cuzk_vanilla_pieces_clear(&p);
        double read = cpu_seconds();
        heap = heap_bytes() - before;
        check(cuzk_update_check(&v, &s, NULL, &err), &err);
        double checked = cpu_seconds() - read;
        best = best == 0 || read - begin < best ? read - begin : best;
        best_check = best_check == 0 || checked < best_check ? checked : best_check;
        cuzk_update_vanilla_clear(&v);
    }
    row("snap", all.size, best, heap);
    row("snap_check", all.size, best_check, 0);
    free(all.data);
}

int main(void)
{
    printf("what,input_bytes,seconds,heap_bytes\n");
    bench_porep();
    bench_window();
    bench_snap();
    return 0;
}
