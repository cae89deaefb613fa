/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bucket reduction: sums Σ b·B_b by splitting the weight into a high and a low half.
 *
 * The usual running sums are serial; row and column sums cost the same 2 additions a bucket, but
 * are plain segment sums of the kernel: every batch is full whatever the number of windows. After
 * ⌈log2 k⌉ splits only weights 1 and 2 are left, which the caller's doublings take care of. */
#include "msm/msm_internal.h"

unsigned cuzk_weighted_next(unsigned k)
{
    return k > 1 ? (k + 1) / 2 : 1;
}

unsigned cuzk_weighted_levels(unsigned k)
{
    unsigned levels = 1;
    while ((k = cuzk_weighted_next(k)) > 1) {
        levels++;
    }
    return levels;
}

struct split {
    const cuzk_sum_kernel *kernel;
    const cuzk_weighted *in, *out;
    const cuzk_thread_ws *threads;
    size_t slots_per_task;
};

/* Entries of one output slot: column i sums the weights j·2^low + i, row j the weights
 * j·2^low + i; slot s stands for i = s + 1 or j = s + 1. */
static size_t slot_entries(const struct split *s, size_t slot, uint32_t *entries)
{
    unsigned low = s->in->k - s->out->k;
    size_t top = (size_t)1 << s->in->k, problem = slot >> s->out->k;
    size_t at = (slot & (((size_t)1 << s->out->k) - 1)) + 1;
    size_t base = (problem >> 1) << s->in->k; /* of weight 1 */
    size_t first, step, end;                  /* weights */
    if ((problem & 1) != 0) {
        first = at << low;
        step = 1;
        end = first + ((size_t)1 << low) < top + 1 ? first + ((size_t)1 << low) : top + 1;
    } else {
        first = at;
        step = (size_t)1 << low;
        end = at < step ? top + 1 : 0;
    }
    size_t n = 0;
    for (size_t b = first; b < end; b += step) {
        entries[n] = (uint32_t)(base + b - 1) << 1;
        n += s->in->full[base + b - 1];
    }
    return n;
}

static void split_task(void *ctx, size_t task, unsigned thread)
{
    const struct split *s = ctx;
    const cuzk_thread_ws *ws = &s->threads[thread];
    size_t first = task * s->slots_per_task, end = first + s->slots_per_task;
    size_t n_slots = s->out->n_problems << s->out->k;
    end = end < n_slots ? end : n_slots;
    uint32_t n = 0;
    ws->bounds[0] = 0;
    for (size_t slot = first; slot < end; slot++) {
        n += (uint32_t)slot_entries(s, slot, ws->entries + n);
        ws->bounds[slot - first + 1] = n;
        s->out->full[slot] = n > ws->bounds[slot - first];
    }
    s->kernel->segment_sums((char *)s->out->points + first * s->kernel->point_bytes, s->in->points,
                            true, ws->entries, ws->bounds, end - first, ws->kernel);
}

void cuzk_weighted_split(const cuzk_sum_kernel *kernel, const cuzk_weighted *in,
                         const cuzk_weighted *out, const cuzk_thread_ws *threads, cuzk_pool *pool)
{
    /* A slot takes 2^out->k entries at most, plus one that slot_entries writes and drops. */
    size_t per_slot = (size_t)1 << out->k, n_slots = out->n_problems << out->k;
    size_t slots = CUZK_WEIGHTED_TASK / per_slot;
    struct split s = {kernel, in, out, threads, slots != 0 ? slots : 1};
    cuzk_pool_for(pool, (n_slots + s.slots_per_task - 1) / s.slots_per_task, split_task, &s);
}
