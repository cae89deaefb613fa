/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sorting entries by buckets and pairing the points of each bucket, round by round: what kernels
 * and host share.
 *
 * An entry is a key (its bucket) and a value: 2·(index of a base) + (1 if it is to be negated), and
 * CUZK_ADD_IMAGE (point_add.h) where the base's image under the endomorphism is meant.
 * Signed digits: of k and -k the smaller is taken, at most half the order. Windows are w bits wide,
 * the last ones w + 1: together as many bits as are needed. With C = Σ 2^(highest bit of window i),
 * window i of k + C less half of its range is a digit of k in -2^(w-1) … 2^(w-1) - 1, and no carry
 * runs. Buckets of a group of windows are numbered (window in the group)·2^lg_buckets + |digit| -
 * 1, lg_buckets of a wide window; digits that are 0 make no entry.
 * Halves: k = k_1 + k_2·LAMBDA mod the order with both parts of half the length, and the sum is
 * over twice as many of them: first all k_1, then all k_2, whose bases are images.
 * Digits of many windows are made in one pass over the scalars, as codes: 2·|digit| + (1 if
 * negative). The sort of a group is a radix sort of up to 8 bits a pass, least significant first,
 * of each window by itself: count, scan, scatter; its first pass makes the entries from the codes.
 * A round adds the points of each bucket in pairs, so that c points become ⌈c/2⌉; the last of an
 * odd number is copied. Rounds end when no bucket holds two. All kernels but that of
 * halves are the same for both curves. */
#ifndef CUZK_BACKEND_CUDA_BUCKET_H
#define CUZK_BACKEND_CUDA_BUCKET_H

#include <stdint.h>

enum {
    CUZK_BUCKET_BLOCK = 256,  /* threads of every kernel here */
    CUZK_RADIX_BITS = 8,      /* of a pass at most: one value of each thread of a block */
    CUZK_RADIX_TILE = 4096,   /* entries of a block of the sort */
    CUZK_SCAN_TILE = 2048,    /* elements of a block of the scan */
    CUZK_SCAN_FEW = 2048,     /* tiles, at most, of which scan_apply adds up those before its own */
    CUZK_PAIRS_EACH = 4,      /* points of a thread of bucket_pairs: their loads overlap */
    CUZK_ROUNDS_MAX = 32,     /* totals that bucket_totals gives */
    CUZK_TOTALS_LARGEST = 32, /* then the largest count … */
    CUZK_TOTALS_ENTRIES = 33, /* … and the number of entries with a bucket */
    CUZK_TOTALS = 34
};

typedef struct {
    uint32_t key, value;
} cuzk_bucket_entry;

/* bucket_digits, one thread a scalar: codes[v·n + i] for the windows first + v.
 * bucket_digits_halves: codes[v·2n + i] of k_1, codes[v·2n + n + i] of k_2, which are below 2^127
 * in size: k_1 = k - c_1·A1 - c_2·A2, k_2 = c_1·B1 - c_2·B2, with c_i = k·N_i / 2^256 to the
 * nearest (field/halves_consts.h), for k up to half the order. */
typedef struct {
    uint32_t *codes;
    const uint64_t *scalars; /* 4 words each, plain, below the order */
    const uint32_t *which;   /* the numbers of the n scalars, or NULL for 0 … n-1 */
    uint64_t order[4];
    uint64_t offset[4]; /* C */
    uint32_t n;
    uint32_t first, n_windows, first_bit; /* of window `first` */
    uint32_t bits;                        /* w … */
    uint32_t n_narrow; /* … of the windows before this one, w + 1 of the others */
} cuzk_digits_args;

/* radix_count: counts[(window·2^bits + value)·tiles + tile]; radix_scatter: entries to
 * `sorted`, counts scanned. The windows' entries lie one behind the other: those of window v from
 * segments[v] on, all of them before segments[n_windows]. radix_count_codes, radix_scatter_codes:
 * the first pass, from n codes a window; radix_segments, after its scan, tells where the windows
 * begin. */
typedef struct {
    const cuzk_bucket_entry *entries;
    const uint32_t *codes;
    const uint32_t *index; /* of the codes before n_bases: their bases, or NULL for i … */
    const uint32_t
        *images; /* … of those behind: of which bases the images, or NULL for i - n_bases */
    cuzk_bucket_entry *sorted;
    uint32_t *counts;
    uint32_t *segments;
    uint32_t n, n_bases, n_windows;
    uint32_t tiles;       /* of a window of n entries */
    uint32_t shift, bits; /* of the pass, in the number of a bucket in its window */
    uint32_t lg_buckets;  /* of a window */
} cuzk_radix_args;

/* scan_sums, scan_top (one block; only for more than CUZK_SCAN_FEW tiles), scan_apply: a <- its
 * exclusive prefix sums. */
typedef struct {
    uint32_t *a;
    uint32_t *sums; /* one for each tile of a */
    uint32_t n, n_tiles;
} cuzk_scan_args;

/* The rest. "begin": n_buckets + 1 positions; bucket b holds begin[b] … begin[b + 1] - 1.
 * bucket_bounds: begin of sorted entries, and totals of 0. bucket_totals: points after each round,
 * the largest count and begin[n_buckets], added to these. bucket_counts: next[b] = ⌈count/2⌉,
 * next[n_buckets] = 0. bucket_pairs, one thread for CUZK_PAIRS_EACH points: for the next round keys
 * of its points in the order of buckets; for the additions the list. Pairs come first in it, pair k
 * of bucket b as number begin[b] - next[b]
 * + k (scanned: the pairs in the buckets before b), then the n_pairs'th word on the points without
 * a partner, that of b as number 2·next[b] - begin[b]. The additions write in the same order, so
 * that no thread idles beside one that adds. */
typedef struct {
    const cuzk_bucket_entry *entries; /* first round; NULL later */
    const uint32_t *keys;             /* later rounds: the bucket of each point */
    const uint32_t *before;           /* later rounds: begin of the round before */
    const uint32_t *begin;
    uint32_t *next;
    uint32_t *list;
    uint32_t *next_keys;
    uint32_t *totals;
    uint32_t *sums;                   /* of next's tiles of CUZK_SCAN_TILE, for the scan */
    const uint32_t *n_entries;        /* of bucket_bounds */
    uint32_t n;                       /* points */
    uint32_t n_pairs, n_pairs_before; /* of this round and of the one before */
    uint32_t n_buckets;
} cuzk_bucket_args;

/* Variables of a witness that are selected by a bitmap, from `first` on; with a support only those
 * in it. The base of a variable is its number less first, or, with support_rank, its number among
 * the support's variables.
 * select_totals: how many words and value words select, added to totals[0] and totals[1].
 * select_counts: counts[i] = variables selected in word i, counts[n_words] = 0. Then, with counts
 * scanned: bit_list, the list of bases (point_add.h) in order and CUZK_ADD_NONE behind an odd
 * number of them; field_list, bases to index and numbers of the values to which. */
typedef struct {
    const uint64_t *words;
    const uint64_t *support;      /* NULL: all variables */
    const uint32_t *support_rank; /* support variables before each word, or NULL */
    const uint32_t *value_rank;   /* of field_list: words' variables before each word */
    const uint64_t *value_words;  /* of select_totals */
    uint32_t *totals;
    uint32_t *counts;
    uint32_t *list;
    uint32_t *index, *which;
    uint32_t n_words, first;
} cuzk_select_args;

#endif
