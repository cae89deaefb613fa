/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Buckets, pairs and selections: bucket.h. All are bound by memory; bytes a point: pairs 16. Blocks
 * of CUZK_BUCKET_BLOCK threads. */
#include "backend/cuda/bucket_block.cuh"
#include "backend/cuda/point_add.h"

/* ---- buckets ---- */

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) bucket_bounds(cuzk_bucket_args a)
{
    uint32_t b = thread_number();
    if (b < CUZK_TOTALS) { /* there is a whole block */
        a.totals[b] = 0;
    }
    if (b > a.n_buckets) {
        return;
    }
    uint32_t from = 0, to = *a.n_entries; /* the first entry with key b or more is in from … to */
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (a.entries[middle].key < b) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    a.next[b] = from;
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) bucket_totals(cuzk_bucket_args a)
{
    __shared__ uint32_t shared[CUZK_TOTALS];
    if (threadIdx.x < CUZK_TOTALS) {
        shared[threadIdx.x] = 0;
    }
    __syncthreads();
    uint32_t totals[CUZK_ROUNDS_MAX], largest = 0;
#pragma unroll
    for (int r = 0; r < CUZK_ROUNDS_MAX; r++) {
        totals[r] = 0;
    }
    for (uint32_t b = thread_number(); b < a.n_buckets; b += gridDim.x * BUCKET_BLOCK) {
        uint32_t count = a.begin[b + 1] - a.begin[b];
        largest = count > largest ? count : largest;
#pragma unroll
        for (int r = 0; r < CUZK_ROUNDS_MAX; r++) {
            count = count - count / 2;
            totals[r] += count;
        }
    }
#pragma unroll
    for (int r = 0; r < CUZK_ROUNDS_MAX; r++) {
        atomicAdd(&shared[r], totals[r]);
    }
    atomicMax(&shared[CUZK_TOTALS_LARGEST], largest);
    __syncthreads();
    if (threadIdx.x < CUZK_ROUNDS_MAX) {
        atomicAdd(&a.totals[threadIdx.x], shared[threadIdx.x]);
    } else if (threadIdx.x == CUZK_TOTALS_LARGEST) {
        atomicMax(&a.totals[CUZK_TOTALS_LARGEST], shared[CUZK_TOTALS_LARGEST]);
    } else if (threadIdx.x == CUZK_TOTALS_ENTRIES && blockIdx.x == 0) {
        a.totals[CUZK_TOTALS_ENTRIES] = a.begin[a.n_buckets];
    }
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) bucket_counts(cuzk_bucket_args a)
{
    __shared__ uint32_t warp_sums[BUCKET_WARPS];
    uint32_t of_thread = 0;
#pragma unroll
    for (uint32_t j = 0; j < SCAN_RUN; j++) {
        uint32_t b = scan_place(j);
        uint32_t count = b < a.n_buckets ? a.begin[b + 1] - a.begin[b] : 0;
        if (b <= a.n_buckets) {
            a.next[b] = count - count / 2;
        }
        of_thread += count - count / 2;
    }
    uint32_t sum = block_sum(of_thread, warp_sums);
    if (threadIdx.x == 0) {
        a.sums[blockIdx.x] = sum;
    }
}

/* Where the round before put point `place` of a bucket that began at `begin` then, and ended with
 * n_before points: pairs' sums first, then the points that had no partner. */
static __device__ __forceinline__ uint32_t point_of(const cuzk_bucket_args &a, uint32_t before,
                                                    uint32_t n_before, uint32_t begin,
                                                    uint32_t place)
{
    return place < n_before / 2 ? before - begin + place : a.n_pairs_before + 2 * begin - before;
}

/* What a thread has of one point, and of its bucket. */
typedef struct {
    uint32_t i, key;
    uint32_t first, second; /* of the first round: entries' values */
    uint32_t begin, end, next;
    uint32_t before, before_end; /* of later rounds */
    bool leads;                  /* the first of a pair, or without a partner */
} pair_work;

template <bool FIRST>
static __device__ __forceinline__ void write_pair(const cuzk_bucket_args &a, const pair_work &w)
{
    uint32_t place = w.i - w.begin, first = w.first, second = w.second;
    if (!FIRST) {
        uint32_t n_before = w.before_end - w.before;
        first = point_of(a, w.before, n_before, w.begin, place) << 1;
        second = point_of(a, w.before, n_before, w.begin, place + 1) << 1;
    }
    a.next_keys[w.next + place / 2] = w.key;
    if (w.i + 1 < w.end) {
        uint2 pair;
        pair.x = first;
        pair.y = second;
        ((uint2 *)a.list)[w.begin - w.next + place / 2] = pair;
    } else {
        a.list[2 * (size_t)a.n_pairs + (2 * w.next - w.begin)] = first;
    }
}

/* Step by step for all points of the thread, so that their loads are under way together. */
template <bool FIRST> static __device__ __forceinline__ void list_pairs(const cuzk_bucket_args &a)
{
    pair_work w[CUZK_PAIRS_EACH];
#pragma unroll
    for (int j = 0; j < CUZK_PAIRS_EACH; j++) {
        w[j].i = (blockIdx.x * CUZK_PAIRS_EACH + (uint32_t)j) * BUCKET_BLOCK + threadIdx.x;
        bool exists = w[j].i < a.n;
        if (FIRST) {
            w[j].key = exists ? a.entries[w[j].i].key : 0;
            w[j].first = exists ? a.entries[w[j].i].value : 0;
            w[j].second = w[j].i + 1 < a.n ? a.entries[w[j].i + 1].value : 0;
        } else {
            w[j].key = exists ? a.keys[w[j].i] : 0;
        }
    }
#pragma unroll
    for (int j = 0; j < CUZK_PAIRS_EACH; j++) {
        w[j].begin = a.begin[w[j].key];
    }
#pragma unroll
    for (int j = 0; j < CUZK_PAIRS_EACH; j++) {
        w[j].leads = w[j].i < a.n && (w[j].i - w[j].begin) % 2 == 0;
        if (w[j].leads) {
            w[j].end = a.begin[w[j].key + 1];
            w[j].next = a.next[w[j].key];
            if (!FIRST) {
                w[j].before = a.before[w[j].key];
                w[j].before_end = a.before[w[j].key + 1];
            }
        }
    }
#pragma unroll
    for (int j = 0; j < CUZK_PAIRS_EACH; j++) {
        if (w[j].leads) {
            write_pair<FIRST>(a, w[j]);
        }
    }
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) bucket_pairs(cuzk_bucket_args a)
{
    if (a.entries != NULL) {
        list_pairs<true>(a);
    } else {
        list_pairs<false>(a);
    }
}

/* ---- selections ---- */

static __device__ __forceinline__ uint64_t selected(const cuzk_select_args &a, uint32_t i)
{
    uint64_t word = i < a.n_words ? a.words[i] : 0;
    if (a.support != NULL && i < a.n_words) {
        word &= a.support[i];
    }
    if (i <= a.first / 64) {
        word = i < a.first / 64 ? 0 : word >> a.first % 64 << a.first % 64;
    }
    return word;
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) select_totals(cuzk_select_args a)
{
    cuzk_select_args of_values = a;
    of_values.words = a.value_words;
    uint32_t n_words = 0, n_values = 0;
#pragma unroll 1
    for (uint32_t i = thread_number(); i < a.n_words; i += gridDim.x * BUCKET_BLOCK) {
        n_words += (uint32_t)__popcll(selected(a, i));
        n_values += (uint32_t)__popcll(selected(of_values, i));
    }
    n_words = warp_sum(n_words);
    n_values = warp_sum(n_values);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&a.totals[0], n_words);
        atomicAdd(&a.totals[1], n_values);
    }
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) select_counts(cuzk_select_args a)
{
    uint32_t i = thread_number();
    if (i <= a.n_words) {
        a.counts[i] = (uint32_t)__popcll(selected(a, i));
    }
}

static __device__ __forceinline__ uint32_t ones_below(uint64_t word, uint32_t bit)
{
    return (uint32_t)__popcll(word & ((UINT64_C(1) << bit) - 1));
}

static __device__ __forceinline__ uint64_t word_of_lane(uint64_t word, int lane)
{
    uint32_t low = __shfl_sync(0xffffffffu, (uint32_t)word, lane);
    uint32_t high = __shfl_sync(0xffffffffu, (uint32_t)(word >> 32), lane);
    return (uint64_t)high << 32 | low;
}

/* The base of variable `bit` of word `number`. support, rank: of that word. */
static __device__ __forceinline__ uint32_t base_of(const cuzk_select_args &a, uint64_t support,
                                                   uint32_t rank, uint32_t number, uint32_t bit)
{
    return a.support_rank != NULL ? rank + ones_below(support, bit) : 64 * number + bit - a.first;
}

/* A warp takes 32 words, one after the other: lane i the bits i and 32 + i of each. */
template <bool FIELD>
static __device__ __forceinline__ void list_selected(const cuzk_select_args &a)
{
    uint32_t lane = threadIdx.x % 32, first = thread_number() - lane;
    uint32_t mine = first + lane < a.n_words ? first + lane : a.n_words;
    bool exists = mine < a.n_words;
    uint64_t all = FIELD && exists ? a.words[mine] : 0, word = selected(a, mine);
    uint64_t support = a.support_rank != NULL && exists ? a.support[mine] : 0;
    uint32_t rank = a.support_rank != NULL && exists ? a.support_rank[mine] : 0;
    uint32_t at = a.counts[mine], values = FIELD && exists ? a.value_rank[mine] : 0;
#pragma unroll 2
    for (int j = 0; j < 32; j++) {
        uint64_t w = word_of_lane(word, j), s = word_of_lane(support, j), f = 0;
        uint32_t to = __shfl_sync(0xffffffffu, at, j), r = __shfl_sync(0xffffffffu, rank, j), v = 0;
        if (FIELD) {
            f = word_of_lane(all, j);
            v = __shfl_sync(0xffffffffu, values, j);
        }
#pragma unroll
        for (uint32_t bit = lane; bit < 64; bit += 32) {
            if ((w >> bit & 1) == 0) {
                continue;
            }
            uint32_t base = base_of(a, s, r, first + (uint32_t)j, bit);
            uint32_t place = to + ones_below(w, bit);
            if (FIELD) {
                a.index[place] = base;
                a.which[place] = v + ones_below(f, bit);
            } else {
                a.list[place] = base << 1;
            }
        }
    }
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) bit_list(cuzk_select_args a)
{
    list_selected<false>(a);
    if (thread_number() == 0 && a.counts[a.n_words] % 2 != 0) {
        a.list[a.counts[a.n_words]] = CUZK_ADD_NONE;
    }
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) field_list(cuzk_select_args a)
{
    list_selected<true>(a);
}
