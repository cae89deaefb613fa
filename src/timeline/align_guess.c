/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/align_guess.h"

#include <stdlib.h>
#include <string.h>

enum { BINS = 1 << 14 }; /* of both sides together, and two */

typedef struct {
    float *ours, *theirs; /* in each bin: -1 idle … 1 active; 0 idle … 1 active */
    float *sums;          /* by offset: n_ours + n_theirs of them */
    size_t n_ours, n_theirs;
    int64_t width;
} bins;

/* The active share of each bin. */
static void fill(float *share, size_t n, const cuzk_interval_set *set, int64_t begin, int64_t width)
{
    memset(share, 0, n * sizeof *share);
    for (size_t i = 0; i < set->n; i++) {
        for (int64_t at = set->v[i].begin; at < set->v[i].end;) {
            size_t bin = (size_t)((at - begin) / width);
            int64_t end = begin + (int64_t)(bin + 1) * width;
            int64_t to = set->v[i].end < end ? set->v[i].end : end;
            share[bin] += (float)(to - at) / (float)width;
            at = to;
        }
    }
}

static void turn_round(float *v, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        float other = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = other;
    }
}

static void add_track(bins *b, const cuzk_align_track *t, cuzk_interval ours, cuzk_interval theirs)
{
    fill(b->ours, b->n_ours, &t->ours, ours.begin, b->width);
    fill(b->theirs, b->n_theirs, &t->theirs, theirs.begin, b->width);
    turn_round(b->theirs, b->n_theirs);
    for (size_t i = 0; i < b->n_ours; i++) { /* bin j of theirs belongs to place n_theirs + i - j */
        float signed_share = 2 * b->ours[i] - 1;
        float *restrict sums = b->sums + i + 1;
        const float *restrict share = b->theirs;
        for (size_t j = 0; j < b->n_theirs; j++) {
            sums[j] += signed_share * share[j];
        }
    }
}

/* The greatest sums, none beside one that was taken. */
static void take_greatest(cuzk_align_guesses *out, bins *b, int64_t first)
{
    const size_t n_sums = b->n_ours + b->n_theirs;
    for (out->n = 0; out->n < CUZK_ALIGN_GUESSES; out->n++) {
        size_t best = 1;
        for (size_t i = 1; i < n_sums; i++) {
            best = b->sums[i] > b->sums[best] ? i : best;
        }
        if (b->sums[best] <= 0) {
            return;
        }
        out->offsets[out->n] = first + ((int64_t)best - (int64_t)b->n_theirs) * b->width;
        for (size_t i = best > 3 ? best - 2 : 1; i <= best + 2 && i < n_sums; i++) {
            b->sums[i] = 0;
        }
    }
}

cuzk_status cuzk_align_guess(cuzk_align_guesses *out, const cuzk_align_track *tracks,
                             size_t n_tracks, cuzk_interval ours, cuzk_interval theirs,
                             cuzk_error *err)
{
    int64_t length = (ours.end - ours.begin) + (theirs.end - theirs.begin);
    bins b = {.width = length / BINS + 1};
    b.n_ours = (size_t)((ours.end - ours.begin) / b.width) + 1;
    b.n_theirs = (size_t)((theirs.end - theirs.begin) / b.width) + 1;
    *out = (cuzk_align_guesses){.width_ns = b.width};
    b.ours = malloc(b.n_ours * sizeof *b.ours);
    b.theirs = malloc(b.n_theirs * sizeof *b.theirs);
    b.sums = calloc(b.n_ours + b.n_theirs, sizeof *b.sums);
    bool has_memory = b.ours != NULL && b.theirs != NULL && b.sums != NULL;
    if (has_memory) {
        for (size_t i = 0; i < n_tracks; i++) {
            add_track(&b, &tracks[i], ours, theirs);
        }
        take_greatest(out, &b, ours.begin - theirs.begin);
    }
    free(b.ours);
    free(b.theirs);
    free(b.sums);
    CUZK_FAIL_IF(!has_memory, err, CUZK_E_MEMORY, "tying two clocks: out of memory");
    return CUZK_OK;
}
