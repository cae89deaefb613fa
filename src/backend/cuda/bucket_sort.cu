/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Digits, the sort of entries, and scans: bucket.h. All are bound by memory; bytes an entry: digits
 * 32/windows + 4 (of halves 16/windows + 4), the first pass of the sort 16, others 24. Blocks of
 * CUZK_BUCKET_BLOCK threads. */
#include "backend/cuda/bucket_block.cuh"
#include "backend/cuda/point_add.h"
#include "field/fields.h"
#include "field/halves_consts.h"

enum {
    ROUNDS = CUZK_RADIX_TILE / BUCKET_BLOCK,
    RADIX = 1 << CUZK_RADIX_BITS /* one a thread of a block */
};

/* ---- signed digits ---- */

/* x, shifted down by n < 64 bits. */
template <int WORDS> static __device__ __forceinline__ void shift_down(uint64_t *x, uint32_t n)
{
    if (n == 0) {
        return;
    }
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        x[j] = x[j] >> n | (j == WORDS - 1 ? 0 : x[j + 1] << (64 - n));
    }
}

/* k <- order - k where that is less; whether it was. */
static __device__ __forceinline__ bool take_smaller(uint64_t *k, const uint64_t *order)
{
    uint64_t rest[4], borrow = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        uint64_t t = order[j] - borrow;
        borrow = order[j] < borrow;
        rest[j] = t - k[j];
        borrow |= t < k[j];
    }
    bool less = false;
#pragma unroll
    for (int j = 0; j < 4; j++) { /* the highest words that differ decide */
        less = rest[j] < k[j] || (rest[j] == k[j] && less);
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
        k[j] = less ? rest[j] : k[j];
    }
    return less;
}

/* The codes of k, which is used up, to codes[v·n + i]. flip: 1 if -k is meant. */
template <int WORDS>
static __device__ __forceinline__ void write_codes(const cuzk_digits_args &a, uint64_t *k,
                                                   uint32_t flip, uint32_t *codes, size_t n)
{
    uint64_t carry = 0;
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        k[j] = cuzk_adc(k[j], a.offset[j], &carry);
    }
    uint32_t skip = a.first_bit;
#pragma unroll 1
    for (; skip >= 64; skip -= 64) { /* no run-time index: k stays in registers */
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            k[j] = j == WORDS - 1 ? 0 : k[j + 1];
        }
    }
    shift_down<WORDS>(k, skip);
#pragma unroll 1
    for (uint32_t v = 0; v < a.n_windows; v++) {
        uint32_t bits = a.first + v < a.n_narrow ? a.bits : a.bits + 1, half = 1u << (bits - 1);
        uint32_t digit = (uint32_t)k[0] & ((1u << bits) - 1);
        shift_down<WORDS>(k, bits);
        bool negative = digit < half;
        uint32_t size = negative ? half - digit : digit - half;
        codes[v * n] = size << 1 | (negative ? 1 ^ flip : flip);
    }
}

/* Scalar number i, or its negative where that is smaller; whether it is that. */
static __device__ __forceinline__ bool read_scalar(const cuzk_digits_args &a, uint32_t i,
                                                   uint64_t *k)
{
    cuzk_read_words(k, a.scalars + 4 * (size_t)(a.which == NULL ? i : a.which[i]), 4);
    return take_smaller(k, a.order);
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) bucket_digits(cuzk_digits_args a)
{
    uint32_t i = thread_number();
    if (i < a.n) {
        uint64_t k[4];
        uint32_t flip = read_scalar(a, i, k) ? 1 : 0;
        write_codes<4>(a, k, flip, a.codes + i, a.n);
    }
}

/* c = k·n / 2^256 to the nearest. */
static __device__ __forceinline__ void take_quotient(uint64_t *c, const uint64_t *k,
                                                     const uint64_t *n)
{
    uint64_t product[7] = {0};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint64_t carry = 0;
#pragma unroll
        for (int j = 0; j < 3; j++) {
            product[i + j] = cuzk_mac(k[i], n[j], product[i + j], &carry);
        }
        product[i + 3] = carry;
    }
    uint64_t carry = product[3] >> 63;
    c[0] = cuzk_adc(product[4], 0, &carry);
    c[1] = product[5] + carry;
}

/* x <- x ± c·b modulo 2^128. */
template <bool SUBTRACT>
static __device__ __forceinline__ void add_product(uint64_t *x, const uint64_t *c,
                                                   const uint64_t *b)
{
    cuzk_u128 sum = (cuzk_u128)x[1] << 64 | x[0], product = (cuzk_u128)c[0] * b[0];
    product += (cuzk_u128)(c[0] * b[1] + c[1] * b[0]) << 64;
    sum = SUBTRACT ? sum - product : sum + product;
    x[0] = (uint64_t)sum;
    x[1] = (uint64_t)(sum >> 64);
}

/* A number of 128 bits with a sign, to its size; whether it was negative. */
static __device__ __forceinline__ bool take_size(uint64_t *x)
{
    bool negative = x[1] >> 63 != 0;
    uint64_t mask = negative ? ~UINT64_C(0) : 0, carry = negative ? 1 : 0;
    x[0] = cuzk_adc(x[0] ^ mask, 0, &carry);
    x[1] = (x[1] ^ mask) + carry;
    return negative;
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) bucket_digits_halves(cuzk_digits_args a)
{
    CUZK_LOCAL_TABLE uint64_t n1[3] = CUZK_CC(GLV_N1), n2[3] = CUZK_CC(GLV_N2);
    CUZK_LOCAL_TABLE uint64_t a1[2] = CUZK_CC(GLV_A1), b1[2] = CUZK_CC(GLV_B1);
    CUZK_LOCAL_TABLE uint64_t a2[2] = CUZK_CC(GLV_A2), b2[2] = CUZK_CC(GLV_B2);
    uint32_t i = thread_number();
    if (i >= a.n) {
        return;
    }
    uint64_t k[4], c1[2], c2[2], other[2] = {0, 0};
    bool flip = read_scalar(a, i, k);
    take_quotient(c1, k, n1);
    take_quotient(c2, k, n2);
    add_product<true>(k, c1, a1);
    add_product<true>(k, c2, a2);
    add_product<false>(other, c1, b1);
    add_product<true>(other, c2, b2);
    bool negative = take_size(k);
    write_codes<2>(a, k, flip != negative ? 1 : 0, a.codes + i, 2 * (size_t)a.n);
    negative = take_size(other);
    write_codes<2>(a, other, flip != negative ? 1 : 0, a.codes + a.n + i, 2 * (size_t)a.n);
}

/* ---- radix sort ---- */

/* A tile: entries, or codes of one window. */
typedef struct {
    uint32_t first, end; /* of entries; of the window's scalars */
    uint32_t window, number;
} radix_tile;

template <bool CODES> static __device__ __forceinline__ radix_tile tile_of(const cuzk_radix_args &a)
{
    radix_tile t;
    t.window = blockIdx.x / a.tiles;
    t.number = blockIdx.x - t.window * a.tiles;
    t.first = t.number * CUZK_RADIX_TILE;
    t.end = a.n;
    if (!CODES) {
        t.first += a.segments[t.window];
        t.end = a.segments[t.window + 1];
    }
    return t;
}

/* Whether there is an entry i of the tile, and what it is. */
template <bool CODES>
static __device__ __forceinline__ bool entry_at(const cuzk_radix_args &a, const radix_tile &t,
                                                uint32_t i, cuzk_bucket_entry *e)
{
    e->key = 0;
    e->value = 0;
    if (i >= t.end) {
        return false;
    }
    if (!CODES) {
        *e = a.entries[i];
        return true;
    }
    uint32_t code = a.codes[(size_t)t.window * a.n + i];
    if (code < 2) {
        return false;
    }
    e->key = (t.window << a.lg_buckets) + (code >> 1) - 1;
    bool is_image = i >= a.n_bases;
    const uint32_t *index = is_image ? a.images : a.index;
    uint32_t of = is_image ? i - a.n_bases : i;
    of = index == NULL ? of : index[of];
    e->value = of << 1 | (code & 1) | (is_image ? CUZK_ADD_IMAGE : 0);
    return true;
}

static __device__ __forceinline__ uint32_t radix_of(const cuzk_radix_args &a, uint32_t key)
{
    return (key & ((1u << a.lg_buckets) - 1)) >> a.shift & ((1u << a.bits) - 1);
}

static __device__ __forceinline__ size_t count_place(const cuzk_radix_args &a, const radix_tile &t,
                                                     uint32_t radix)
{
    return (size_t)((t.window << a.bits) + radix) * a.tiles + t.number;
}

template <bool CODES> static __device__ __forceinline__ void count_tile(const cuzk_radix_args &a)
{
    __shared__ uint32_t counts[RADIX];
    radix_tile t = tile_of<CODES>(a);
    counts[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < ROUNDS; j++) {
        cuzk_bucket_entry e;
        if (entry_at<CODES>(a, t, t.first + j * BUCKET_BLOCK + threadIdx.x, &e)) {
            atomicAdd(&counts[radix_of(a, e.key)], 1);
        }
    }
    __syncthreads();
    if (threadIdx.x >> a.bits == 0) {
        a.counts[count_place(a, t, threadIdx.x)] = counts[threadIdx.x];
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) { /* the scan makes it the number of entries */
        a.counts[(size_t)(a.n_windows << a.bits) * a.tiles] = 0;
    }
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) radix_count(cuzk_radix_args a)
{
    count_tile<false>(a);
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) radix_count_codes(cuzk_radix_args a)
{
    count_tile<true>(a);
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) radix_segments(cuzk_radix_args a)
{
    uint32_t v = thread_number();
    if (v <= a.n_windows) {
        a.segments[v] = a.counts[(size_t)(v << a.bits) * a.tiles];
    }
}

/* The lanes that exist and have this lane's radix of so many bits. One vote a bit: __match_any_sync
 * takes longer the more different values there are. */
static __device__ __forceinline__ uint32_t lanes_like(bool exists, uint32_t radix, uint32_t bits)
{
    uint32_t same = __ballot_sync(0xffffffffu, exists);
#pragma unroll
    for (uint32_t bit = 0; bit < CUZK_RADIX_BITS; bit++) {
        if (bit < bits) {
            bool is_set = (radix >> bit & 1) != 0;
            uint32_t votes = __ballot_sync(0xffffffffu, is_set);
            same &= is_set ? votes : ~votes;
        }
    }
    return same;
}

/* What a block of the scatter shares. */
typedef struct {
    cuzk_bucket_entry ordered[CUZK_RADIX_TILE];
    uint16_t counts[BUCKET_WARPS][RADIX];
    uint32_t move[RADIX], warp_sums[BUCKET_WARPS], total;
} scatter_shared;

/* Counts of the warps to where their entries of each radix begin in the tile; `move`: from there to
 * where they begin in memory. */
static __device__ __forceinline__ void place_counts(const cuzk_radix_args &a, const radix_tile &t,
                                                    scatter_shared *s)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t w = 0; w < BUCKET_WARPS; w++) {
        uint32_t count = s->counts[w][threadIdx.x];
        s->counts[w][threadIdx.x] = (uint16_t)sum;
        sum += count;
    }
    uint32_t start = block_scan(sum, s->warp_sums);
    if (threadIdx.x == BUCKET_BLOCK - 1) {
        s->total = start + sum;
    }
#pragma unroll
    for (uint32_t w = 0; w < BUCKET_WARPS; w++) {
        s->counts[w][threadIdx.x] = (uint16_t)(s->counts[w][threadIdx.x] + start);
    }
    if (threadIdx.x >> a.bits == 0) {
        s->move[threadIdx.x] = a.counts[count_place(a, t, threadIdx.x)] - start;
    }
}

/* Entries keep their order within a tile: a warp takes a run of the tile, 32 entries at a time, and
 * counts those of the same radix before each. They are ordered in shared memory, so that those of
 * one radix leave as a run. */
template <bool CODES> static __device__ __forceinline__ void scatter_tile(const cuzk_radix_args &a)
{
    __shared__ scatter_shared s;
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, present = 0;
    radix_tile t = tile_of<CODES>(a);
    cuzk_bucket_entry held[ROUNDS];
    uint32_t ranks[(ROUNDS + 1) / 2]; /* two of 16 bits each */
#pragma unroll
    for (uint32_t j = 0; j < ROUNDS; j++) {
        uint32_t i = t.first + (warp * ROUNDS + j) * 32 + lane;
        present |= (uint32_t)entry_at<CODES>(a, t, i, &held[j]) << j;
    }
#pragma unroll
    for (uint32_t i = threadIdx.x; i < BUCKET_WARPS * RADIX / 2; i += BUCKET_BLOCK) {
        ((uint32_t *)s.counts)[i] = 0;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < ROUNDS; j++) {
        uint32_t rank = 0;
        if (t.first + (warp * ROUNDS + j) * 32 < t.end) {
            bool exists = (present >> j & 1) != 0;
            uint32_t radix = radix_of(a, held[j].key);
            uint32_t same = lanes_like(exists, radix, a.bits);
            uint32_t before = (uint32_t)__popc(same & ((1u << lane) - 1));
            uint32_t base = s.counts[warp][radix];
            __syncwarp();
            if (exists && before == 0) {
                s.counts[warp][radix] = (uint16_t)(base + (uint32_t)__popc(same));
            }
            __syncwarp();
            rank = base + before;
        }
        ranks[j / 2] = j % 2 == 0 ? rank : ranks[j / 2] | rank << 16;
    }
    __syncthreads();
    place_counts(a, t, &s);
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < ROUNDS; j++) {
        if ((present >> j & 1) != 0) {
            uint32_t rank = ranks[j / 2] >> (j % 2 * 16) & 0xffff;
            s.ordered[s.counts[warp][radix_of(a, held[j].key)] + rank] = held[j];
        }
    }
    __syncthreads();
#pragma unroll 4
    for (uint32_t j = threadIdx.x; j < s.total; j += BUCKET_BLOCK) {
        cuzk_bucket_entry e = s.ordered[j];
        a.sorted[s.move[radix_of(a, e.key)] + j] = e;
    }
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK, 4) radix_scatter(cuzk_radix_args a)
{
    scatter_tile<false>(a);
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK, 4) radix_scatter_codes(cuzk_radix_args a)
{
    scatter_tile<true>(a);
}

/* ---- scan ---- */

static __device__ __forceinline__ uint32_t read_run(uint32_t *v, const cuzk_scan_args &a)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t j = 0; j < SCAN_RUN; j++) {
        uint32_t i = scan_place(j);
        v[j] = i < a.n ? a.a[i] : 0;
        sum += v[j];
    }
    return sum;
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) scan_sums(cuzk_scan_args a)
{
    __shared__ uint32_t warp_sums[BUCKET_WARPS];
    uint32_t v[SCAN_RUN];
    uint32_t sum = read_run(v, a), before = block_scan(sum, warp_sums);
    if (threadIdx.x == BUCKET_BLOCK - 1) {
        a.sums[blockIdx.x] = before + sum;
    }
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) scan_top(cuzk_scan_args a)
{
    __shared__ uint32_t warp_sums[BUCKET_WARPS], total;
    uint32_t done = 0;
#pragma unroll 1
    for (uint32_t first = 0; first < a.n_tiles; first += BUCKET_BLOCK) {
        uint32_t i = first + threadIdx.x;
        uint32_t v = i < a.n_tiles ? a.sums[i] : 0;
        uint32_t before = block_scan(v, warp_sums);
        if (i < a.n_tiles) {
            a.sums[i] = done + before;
        }
        if (threadIdx.x == BUCKET_BLOCK - 1) {
            total = before + v;
        }
        __syncthreads();
        done += total;
        __syncthreads();
    }
}

/* The sum of the tiles before this one's. */
static __device__ __forceinline__ uint32_t before_tile(const cuzk_scan_args &a, uint32_t *warp_sums)
{
    if (a.n_tiles > CUZK_SCAN_FEW) { /* scan_top has added them up */
        return a.sums[blockIdx.x];
    }
    uint32_t sum = 0;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < blockIdx.x; i += BUCKET_BLOCK) {
        sum += a.sums[i];
    }
    return block_sum(sum, warp_sums);
}

CUZK_KERNEL __launch_bounds__(BUCKET_BLOCK) scan_apply(cuzk_scan_args a)
{
    __shared__ uint32_t warp_sums[BUCKET_WARPS];
    uint32_t v[SCAN_RUN];
    uint32_t sum = read_run(v, a), tile = before_tile(a, warp_sums);
    uint32_t before = tile + __shfl_sync(0xffffffffu, block_scan(sum, warp_sums), 0);
#pragma unroll
    for (uint32_t j = 0; j < SCAN_RUN; j++) {
        uint32_t i = scan_place(j), up_to = warp_scan(v[j]);
        if (i < a.n) {
            a.a[i] = before + up_to - v[j];
        }
        before += __shfl_sync(0xffffffffu, up_to, 31);
    }
}
