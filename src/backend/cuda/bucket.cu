/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernels of bucket.h. All are bound by memory; bytes an entry: digits 32/windows + 8, a pass
 * of the sort 24, pairs 16. Blocks of CUZK_BUCKET_BLOCK threads. */
#include "backend/cuda/bucket.h"
#include "backend/cuda/device_words.cuh"
#include "backend/cuda/point_add.h"

enum { BLOCK = CUZK_BUCKET_BLOCK, WARPS = BLOCK / 32, ROUNDS = CUZK_RADIX_TILE / BLOCK };

static __device__ __forceinline__ uint32_t thread_number(void)
{
    return blockIdx.x * BLOCK + threadIdx.x;
}

/* ---- signed digits ---- */

/* `bits` bits of x beginning at bit `at`; words beyond the last are zero. */
static __device__ __forceinline__ uint32_t bits_at(const uint64_t *x, uint32_t at, uint32_t bits)
{
    uint64_t low = 0, high = 0;
#pragma unroll
    for (uint32_t i = 0; i < 5; i++) { /* no run-time index: x stays in registers */
        low = i == at / 64 ? x[i] : low;
        high = i == at / 64 + 1 ? x[i] : high;
    }
    uint64_t v = at % 64 == 0 ? low : low >> (at % 64) | high << (64 - at % 64);
    return (uint32_t)v & ((1u << bits) - 1);
}

CUZK_KERNEL __launch_bounds__(BLOCK) bucket_digits(cuzk_digits_args a)
{
    uint32_t i = thread_number();
    if (i >= a.n) {
        return;
    }
    uint64_t k[5], carry = 0;
    cuzk_read_words(k, a.scalars + 4 * (size_t)i, 4);
    k[4] = 0;
#pragma unroll
    for (int j = 0; j < 5; j++) {
        uint64_t sum = k[j] + carry;
        carry = sum < carry;
        k[j] = sum + a.offset[j];
        carry += k[j] < sum;
    }
    uint32_t value = (a.index == NULL ? i : a.index[i]) << 1;
    uint32_t half = 1u << (a.bits - 1);
#pragma unroll 1
    for (uint32_t v = 0; v < a.n_windows; v++) {
        uint32_t digit = bits_at(k, (a.first + v) * a.bits, a.bits);
        bool negative = digit < half;
        uint32_t size = negative ? half - digit : digit - half;
        cuzk_bucket_entry e;
        e.key = size == 0 ? a.none : (v << (a.bits - 1)) + size - 1;
        e.value = value | (negative ? 1 : 0);
        a.entries[(size_t)v * a.n + i] = e;
    }
}

/* ---- radix sort ---- */

static __device__ __forceinline__ uint32_t radix_of(uint32_t key, uint32_t shift)
{
    return key >> shift & ((1u << CUZK_RADIX_BITS) - 1);
}

CUZK_KERNEL __launch_bounds__(BLOCK) radix_count(cuzk_radix_args a)
{
    __shared__ uint32_t counts[BLOCK];
    counts[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 4
    for (uint32_t j = 0; j < ROUNDS; j++) {
        uint32_t i = blockIdx.x * CUZK_RADIX_TILE + j * BLOCK + threadIdx.x;
        if (i < a.n) {
            atomicAdd(&counts[radix_of(a.entries[i].key, a.shift)], 1);
        }
    }
    __syncthreads();
    a.counts[threadIdx.x * a.n_tiles + blockIdx.x] = counts[threadIdx.x];
}

/* The sum of v over the threads before this one. All threads of the block take part. */
static __device__ __forceinline__ uint32_t block_scan(uint32_t v, uint32_t *warp_sums)
{
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = v;
#pragma unroll
    for (uint32_t by = 1; by < 32; by *= 2) {
        uint32_t other = __shfl_up_sync(0xffffffffu, sum, by);
        sum += lane >= by ? other : 0;
    }
    if (lane == 31) {
        warp_sums[warp] = sum;
    }
    __syncthreads();
    uint32_t before = 0;
#pragma unroll
    for (uint32_t i = 0; i < WARPS; i++) {
        before += i < warp ? warp_sums[i] : 0;
    }
    __syncthreads();
    return before + sum - v;
}

/* Entries keep their order within a tile: a warp takes a run of the tile, 32 entries at a time, and
 * counts those of the same radix before each. They are ordered in shared memory, so that those of
 * one radix leave as a run. */
CUZK_KERNEL __launch_bounds__(BLOCK) radix_scatter(cuzk_radix_args a)
{
    __shared__ cuzk_bucket_entry ordered[CUZK_RADIX_TILE];
    __shared__ uint32_t counts[WARPS][BLOCK], warp_sums[WARPS], move[BLOCK];
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t tile = blockIdx.x * CUZK_RADIX_TILE;
    cuzk_bucket_entry held[ROUNDS];
    uint32_t rank[ROUNDS];
#pragma unroll
    for (uint32_t w = 0; w < WARPS; w++) {
        counts[w][threadIdx.x] = 0;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < ROUNDS; j++) {
        uint32_t i = tile + (warp * ROUNDS + j) * 32 + lane;
        uint32_t radix = BLOCK; /* none */
        if (i < a.n) {
            held[j] = a.entries[i];
            radix = radix_of(held[j].key, a.shift);
        }
        uint32_t same = __match_any_sync(0xffffffffu, radix);
        uint32_t before = (uint32_t)__popc(same & ((1u << lane) - 1));
        uint32_t base = i < a.n ? counts[warp][radix] : 0;
        __syncwarp();
        if (i < a.n && before == 0) {
            counts[warp][radix] = base + (uint32_t)__popc(same);
        }
        __syncwarp();
        rank[j] = base + before;
    }
    __syncthreads();
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t w = 0; w < WARPS; w++) {
        uint32_t count = counts[w][threadIdx.x];
        counts[w][threadIdx.x] = sum;
        sum += count;
    }
    uint32_t start = block_scan(sum, warp_sums);
#pragma unroll
    for (uint32_t w = 0; w < WARPS; w++) {
        counts[w][threadIdx.x] += start;
    }
    move[threadIdx.x] = a.counts[threadIdx.x * a.n_tiles + blockIdx.x] - start;
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < ROUNDS; j++) {
        if (tile + (warp * ROUNDS + j) * 32 + lane < a.n) {
            ordered[counts[warp][radix_of(held[j].key, a.shift)] + rank[j]] = held[j];
        }
    }
    __syncthreads();
    for (uint32_t j = threadIdx.x; j < CUZK_RADIX_TILE && j < a.n - tile; j += BLOCK) {
        cuzk_bucket_entry e = ordered[j];
        a.sorted[move[radix_of(e.key, a.shift)] + j] = e;
    }
}

/* ---- scan ---- */

enum { RUN = CUZK_SCAN_TILE / BLOCK };

static __device__ __forceinline__ uint32_t read_run(uint32_t *v, const cuzk_scan_args &a)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t j = 0; j < RUN; j++) {
        uint32_t i = thread_number() * RUN + j;
        v[j] = i < a.n ? a.a[i] : 0;
        sum += v[j];
    }
    return sum;
}

CUZK_KERNEL __launch_bounds__(BLOCK) scan_sums(cuzk_scan_args a)
{
    __shared__ uint32_t warp_sums[WARPS];
    uint32_t v[RUN];
    uint32_t sum = read_run(v, a), before = block_scan(sum, warp_sums);
    if (threadIdx.x == BLOCK - 1) {
        a.sums[blockIdx.x] = before + sum;
    }
}

CUZK_KERNEL __launch_bounds__(BLOCK) scan_top(cuzk_scan_args a)
{
    __shared__ uint32_t warp_sums[WARPS], total;
    uint32_t done = 0;
#pragma unroll 1
    for (uint32_t first = 0; first < a.n_tiles; first += BLOCK) {
        uint32_t i = first + threadIdx.x;
        uint32_t v = i < a.n_tiles ? a.sums[i] : 0;
        uint32_t before = block_scan(v, warp_sums);
        if (i < a.n_tiles) {
            a.sums[i] = done + before;
        }
        if (threadIdx.x == BLOCK - 1) {
            total = before + v;
        }
        __syncthreads();
        done += total;
        __syncthreads();
    }
}

CUZK_KERNEL __launch_bounds__(BLOCK) scan_apply(cuzk_scan_args a)
{
    __shared__ uint32_t warp_sums[WARPS];
    uint32_t v[RUN];
    uint32_t sum = read_run(v, a);
    uint32_t before = a.sums[blockIdx.x] + block_scan(sum, warp_sums);
#pragma unroll
    for (uint32_t j = 0; j < RUN; j++) {
        uint32_t i = thread_number() * RUN + j;
        if (i < a.n) {
            a.a[i] = before;
        }
        before += v[j];
    }
}

/* ---- buckets ---- */

CUZK_KERNEL __launch_bounds__(BLOCK) bucket_bounds(cuzk_bucket_args a)
{
    uint32_t b = thread_number();
    if (b > a.n_buckets) {
        return;
    }
    uint32_t from = 0, to = a.n; /* the first entry with key b or more is in from … to */
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

CUZK_KERNEL __launch_bounds__(BLOCK) bucket_totals(cuzk_bucket_args a)
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
    for (uint32_t b = thread_number(); b < a.n_buckets; b += gridDim.x * BLOCK) {
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

CUZK_KERNEL __launch_bounds__(BLOCK) bucket_counts(cuzk_bucket_args a)
{
    uint32_t b = thread_number();
    if (b <= a.n_buckets) {
        uint32_t count = b == a.n_buckets ? 0 : a.begin[b + 1] - a.begin[b];
        a.next[b] = count - count / 2;
    }
}

CUZK_KERNEL __launch_bounds__(BLOCK) bucket_pairs(cuzk_bucket_args a)
{
    uint32_t i = thread_number();
    if (i >= a.n) {
        return;
    }
    bool is_first_round = a.entries != NULL;
    uint32_t key = is_first_round ? a.entries[i].key : a.keys[i];
    uint32_t place = i - a.begin[key];
    if (place % 2 != 0) {
        return;
    }
    bool has_second = i + 1 < a.begin[key + 1];
    uint32_t slot = a.next[key] + place / 2;
    uint32_t first = is_first_round ? a.entries[i].value : i << 1, second = CUZK_ADD_NONE;
    if (has_second) {
        second = is_first_round ? a.entries[i + 1].value : (i + 1) << 1;
    }
    a.list[2 * (size_t)slot] = first;
    a.list[2 * (size_t)slot + 1] = second;
    a.next_keys[slot] = key;
}

/* ---- bits ---- */

CUZK_KERNEL __launch_bounds__(BLOCK) bit_counts(cuzk_bits_args a)
{
    uint32_t i = thread_number();
    if (i <= a.n_words) {
        a.counts[i] = i == a.n_words ? 0 : (uint32_t)__popcll(a.words[i]);
    }
}

CUZK_KERNEL __launch_bounds__(BLOCK) bit_entries(cuzk_bits_args a)
{
    uint32_t i = thread_number();
    if (i >= a.n_words) {
        return;
    }
    uint64_t word = a.words[i];
    uint32_t at = a.counts[i];
#pragma unroll 1
    for (; word != 0; word &= word - 1) {
        cuzk_bucket_entry e;
        e.key = 0;
        e.value = (64 * i + (uint32_t)__popcll((word & (0 - word)) - 1)) << 1;
        a.entries[at++] = e;
    }
}
