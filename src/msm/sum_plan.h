/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Laying out short lists of points on eight lanes, for the eight-lane sum kernels.
 *
 * A unit is a list of 1 … SUM_PIECE points with one sum. Eight units of (nearly) equal length form
 * a group: lane j belongs to unit j, row k holds the k-th point of each. So every addition of a
 * group's tree adds two rows, lane by lane, and partial sums never change lanes. Units are sorted
 * by length first; a lane whose unit is shorter than the group is filled with infinity.
 *
 * A row is eight tags: the address of the point's record times two, plus one where the point is to
 * be negated. */
#ifndef CUZK_MSM_SUM_PLAN_H
#define CUZK_MSM_SUM_PLAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    SUM_PIECE = 32,        /* longest unit: five rounds; bounds of the arithmetic rest on it */
    SUM_POINTS_MAX = 8192, /* points of a plan, at most */
    SUM_UNITS_MAX = 2048,  /* units of a plan, at most */
    SUM_RECORD_MAX = 256,  /* bytes of the longest point record */
    SUM_GROUPS_MAX = SUM_UNITS_MAX / 8,
    /* sorted by length, all but the longest unit's length is filled at least once */
    SUM_ROWS_MAX = (SUM_POINTS_MAX + SUM_PIECE) / 8 + SUM_PIECE,
    SUM_BLOCKS_MAX = (SUM_ROWS_MAX + SUM_GROUPS_MAX) / 2 + 1
};

struct sum_unit {
    const uint32_t *entries; /* index << 1 | negate */
    uint32_t n;
    char *out; /* where the sum goes */
};

struct sum_group {
    uint32_t row;    /* first of its rows; once added up, the first of its blocks */
    uint32_t block;  /* first of the blocks that hold its partial sums */
    uint32_t n_rows; /* rows left to add */
    uint32_t n_lanes;
    char *out[8];
};

struct sum_plan {
    uint64_t tags[SUM_ROWS_MAX + 1][8] __attribute__((aligned(64)));
    struct sum_group groups[SUM_GROUPS_MAX];
    size_t n_groups, n_rows, n_blocks, n_steps; /* steps: additions of two rows */
};

/* The point at infinity of every form of record. */
static const uint64_t sum_zero_record[SUM_RECORD_MAX / 8] __attribute__((aligned(64)));

static inline uint64_t sum_tag(const char *record, unsigned negate)
{
    return (uint64_t)(uintptr_t)record << 1 | negate;
}

static inline const char *sum_tag_record(uint64_t tag)
{
    return (const char *)(uintptr_t)(tag >> 1);
}

/** Fill a plan from n units, of SUM_POINTS_MAX points or less; records of stride bytes at bases. */
static inline void sum_plan_make(struct sum_plan *plan, const struct sum_unit *units, size_t n,
                                 const char *bases, size_t stride)
{
    uint16_t order[SUM_UNITS_MAX];
    uint32_t start[SUM_PIECE + 2] = {0};
    for (size_t i = 0; i < n; i++) {
        start[SUM_PIECE - units[i].n + 1]++;
    }
    for (size_t k = 1; k < SUM_PIECE + 2; k++) {
        start[k] += start[k - 1];
    }
    for (size_t i = 0; i < n; i++) {
        order[start[SUM_PIECE - units[i].n]++] = (uint16_t)i;
    }
    const uint64_t zero = sum_tag((const char *)sum_zero_record, 0);
    plan->n_groups = plan->n_rows = plan->n_blocks = plan->n_steps = 0;
    for (size_t first = 0; first < n; first += 8) {
        struct sum_group *g = &plan->groups[plan->n_groups++];
        g->row = (uint32_t)plan->n_rows;
        g->block = (uint32_t)plan->n_blocks;
        g->n_rows = units[order[first]].n;
        g->n_lanes = (uint32_t)(n - first < 8 ? n - first : 8);
        for (uint32_t j = 0; j < 8; j++) {
            uint64_t(*row)[8] = &plan->tags[g->row];
            uint32_t k = 0;
            if (j < g->n_lanes) {
                const struct sum_unit *u = &units[order[first + j]];
                g->out[j] = u->out;
                for (; k < u->n; k++) {
                    uint32_t e = u->entries[k];
                    row[k][j] = sum_tag(bases + (size_t)(e >> 1) * stride, e & 1);
                }
            }
            for (; k < g->n_rows; k++) {
                row[k][j] = zero;
            }
        }
        plan->n_rows += g->n_rows;
        plan->n_blocks += (g->n_rows + 1) / 2;
        plan->n_steps += g->n_rows - 1;
    }
    /* the row that pads a batch */
    for (int j = 0; j < 8; j++) {
        plan->tags[plan->n_rows][j] = zero;
    }
}

/* Segments cut into units. A segment longer than SUM_PIECE becomes several, whose sums go to slots
 * of a table of pieces; sum_pieces lists which segment owns which slots. */
enum { SUM_SLOTS = 1024 };

struct sum_pieces {
    size_t segment;
    uint32_t first, end; /* slots */
};

struct sum_cutter {
    const uint32_t *entries, *bounds;
    size_t n_segments, segment;
    uint32_t taken; /* entries of the current segment already cut off */
    struct sum_pieces pieces[SUM_SLOTS];
    size_t n_pieces;
    uint32_t n_slots;
};

/** Cut the next units off, of at most n_points points; returns how many. Sums of whole segments go
 * to out + segment·point_bytes, those of pieces to the slots. Stops early when no slot is free.
 * Empty segments become zero records. */
static inline size_t sum_cut(struct sum_cutter *c, struct sum_unit *units, size_t n_points,
                             char *out, char *slots, size_t point_bytes)
{
    size_t n = 0, points = 0;
    while (n < SUM_UNITS_MAX && c->segment < c->n_segments) {
        uint32_t first = c->bounds[c->segment] + c->taken;
        uint32_t left = c->bounds[c->segment + 1] - first;
        char *to = out + c->segment * point_bytes;
        if (left == 0) {
            if (c->taken == 0) {
                memset(to, 0, point_bytes);
            }
            c->segment++;
            c->taken = 0;
            continue;
        }
        uint32_t length = left;
        if (left > SUM_PIECE || c->taken > 0) {
            if (c->n_slots == SUM_SLOTS) {
                break;
            }
            uint32_t parts = left / SUM_PIECE + (left % SUM_PIECE != 0);
            length = left / parts + (left % parts != 0);
        }
        if (points + length > n_points) {
            break;
        }
        if (length < left || c->taken > 0) {
            struct sum_pieces *p = c->n_pieces > 0 ? &c->pieces[c->n_pieces - 1] : NULL;
            if (p == NULL || p->segment != c->segment) {
                p = &c->pieces[c->n_pieces++];
                p->segment = c->segment;
                p->first = p->end = c->n_slots;
            }
            to = slots + (size_t)c->n_slots++ * point_bytes;
            p->end++;
            c->taken += length;
        } else {
            c->segment++;
        }
        units[n].entries = c->entries + first;
        units[n].n = length;
        units[n].out = to;
        n++;
        points += length;
    }
    return n;
}

#endif
