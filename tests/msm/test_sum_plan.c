/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How the eight-lane kernels lay out lists of points (msm/sum_plan.h): every entry stands in
 * exactly one place, lists are cut as promised, and the bounds on rows, blocks and slots hold for
 * the worst mixtures of lengths. */
#include "msm_test.h"

#include "msm/sum_plan.h"

#include <stdlib.h>
#include <string.h>

enum { STRIDE = 96, POINT_BYTES = 64 };

static const char *const bases = (const char *)0x10000; /* addresses only, nothing is read */
static struct sum_plan plan;
static struct sum_unit units[SUM_UNITS_MAX];
static struct sum_cutter cutter;

/* The plan holds the units: each lane the entries of one unit in order, then infinity; groups by
 * length; blocks, rows and steps counted right and within their bounds. */
static void check_plan(size_t n)
{
    static uint8_t seen[SUM_UNITS_MAX];
    size_t row = 0, block = 0, steps = 0;
    uint32_t before = SUM_PIECE;
    const uint64_t zero = sum_tag((const char *)sum_zero_record, 0);
    sum_plan_make(&plan, units, n, bases, STRIDE);
    memset(seen, 0, sizeof seen);
    assert_int_equal(plan.n_groups, (n + 7) / 8);
    for (size_t i = 0; i < plan.n_groups; i++) {
        const struct sum_group *g = &plan.groups[i];
        assert_int_equal(g->row, row);
        assert_int_equal(g->block, block);
        assert_true(g->n_rows >= 1 && g->n_rows <= before); /* longest first */
        assert_int_equal(g->n_lanes, n - 8 * i < 8 ? n - 8 * i : 8);
        before = g->n_rows;
        for (uint32_t lane = 0; lane < 8; lane++) {
            uint32_t length = 0;
            if (lane < g->n_lanes) {
                size_t u = (size_t)(g->out[lane] - bases) / POINT_BYTES; /* its own address */
                assert_true(u < n && !seen[u]);
                seen[u] = 1;
                length = units[u].n;
                for (uint32_t k = 0; k < length; k++) {
                    uint64_t tag = plan.tags[g->row + k][lane];
                    uint32_t entry = units[u].entries[k];
                    assert_ptr_equal(sum_tag_record(tag), bases + (size_t)(entry >> 1) * STRIDE);
                    assert_int_equal(tag & 1, entry & 1);
                }
            }
            assert_true(length <= g->n_rows && (lane != 0 || length == g->n_rows));
            for (uint32_t k = length; k < g->n_rows; k++) {
                assert_true(plan.tags[g->row + k][lane] == zero);
            }
        }
        row += g->n_rows;
        block += (g->n_rows + 1) / 2;
        steps += g->n_rows - 1;
    }
    for (size_t u = 0; u < n; u++) {
        assert_int_equal(seen[u], 1);
    }
    assert_int_equal(plan.n_rows, row);
    assert_int_equal(plan.n_blocks, block);
    assert_int_equal(plan.n_steps, steps);
    assert_true(row <= SUM_ROWS_MAX && block <= SUM_BLOCKS_MAX);
    for (int lane = 0; lane < 8; lane++) {
        assert_true(plan.tags[row][lane] == zero);
    }
}

/* Units of lengths that `length` says, as many as a plan takes. */
static size_t make_units(uint32_t (*length)(size_t i), size_t n_max)
{
    static uint32_t entries[SUM_POINTS_MAX];
    size_t n = 0, points = 0;
    for (; n < n_max; n++) {
        uint32_t l = length(n);
        if (points + l > SUM_POINTS_MAX) {
            break;
        }
        units[n] = (struct sum_unit){entries + points, l, (char *)bases + n * POINT_BYTES};
        for (uint32_t k = 0; k < l; k++) {
            entries[points + k] = (uint32_t)msm_test_random();
        }
        points += l;
    }
    return n;
}

static uint32_t all_one(size_t i)
{
    (void)i;
    return 1;
}

static uint32_t all_longest(size_t i)
{
    (void)i;
    return SUM_PIECE;
}

static uint32_t falling(size_t i) /* a lane of every length in every group */
{
    return SUM_PIECE - (uint32_t)(i % SUM_PIECE);
}

static uint32_t one_long(size_t i) /* one in eight fills its group with infinity */
{
    return i % 8 == 0 ? SUM_PIECE : 1;
}

static uint32_t odd(size_t i) /* odd lengths take half a block more than they need */
{
    return 3 + 2 * (uint32_t)(i % 2);
}

static uint32_t any(size_t i)
{
    (void)i;
    return 1 + (uint32_t)msm_test_below(msm_test_below(4) ? 6 : SUM_PIECE);
}

static void test_plans(void **state)
{
    (void)state;
    uint32_t (*const kinds[])(size_t) = {all_one, all_longest, falling, one_long, odd, any};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (size_t n = 0; n <= 67; n++) {
            check_plan(make_units(kinds[k], n));
        }
        check_plan(make_units(kinds[k], SUM_UNITS_MAX));
        check_plan(make_units(kinds[k], SUM_UNITS_MAX - 1));
    }
    for (int i = 0; i < 50; i++) {
        check_plan(make_units(any, SUM_UNITS_MAX));
    }
}

/* ---- cutting ---- */

/* Cut segments of the given lengths completely, emptying the slots whenever no unit comes, as the
 * kernel does, and check where every entry goes. */
static void check_cuts(const uint32_t *lengths, size_t n_segments, size_t n_points)
{
    size_t total = 0;
    for (size_t s = 0; s < n_segments; s++) {
        total += lengths[s];
    }
    uint32_t offset = (uint32_t)msm_test_below(9);
    uint32_t *bounds = malloc((n_segments + 1) * sizeof *bounds);
    uint32_t *entries = malloc((total + offset + 1) * sizeof *entries);
    uint8_t *done = calloc(total + offset + 1, 1);
    char *out = malloc((n_segments + 1) * POINT_BYTES);
    static char slots[(SUM_SLOTS + 1) * POINT_BYTES];
    memset(out, 0x5a, (n_segments + 1) * POINT_BYTES);
    bounds[0] = offset;
    for (size_t s = 0; s < n_segments; s++) {
        bounds[s + 1] = bounds[s] + lengths[s];
    }
    for (size_t i = 0; i < total + offset + 1; i++) {
        entries[i] = (uint32_t)i;
    }
    cutter.entries = entries;
    cutter.bounds = bounds;
    cutter.n_segments = n_segments;
    cutter.segment = cutter.n_pieces = 0;
    cutter.taken = cutter.n_slots = 0;
    size_t idle = 0;
    while (cutter.segment < n_segments) {
        uint32_t first_slot = cutter.n_slots;
        size_t n = sum_cut(&cutter, units, n_points, out, slots, POINT_BYTES), points = 0;
        assert_true(n <= SUM_UNITS_MAX && cutter.n_slots <= SUM_SLOTS);
        for (size_t u = 0; u < n; u++) {
            uint32_t at = units[u].entries[0];
            assert_true(units[u].n >= 1 && units[u].n <= SUM_PIECE);
            points += units[u].n;
            size_t s = 0; /* the segment that it is of */
            for (size_t low = 0, high = n_segments; low + 1 < high || s != low;) {
                size_t middle = (low + high) / 2;
                if (low + 1 >= high) {
                    s = low;
                } else if (bounds[middle] <= at) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            assert_true(at >= bounds[s] && at + units[u].n <= bounds[s + 1]);
            for (uint32_t k = 0; k < units[u].n; k++) {
                assert_true(done[at + k]++ == 0);
            }
            if (lengths[s] <= SUM_PIECE) {
                assert_int_equal(units[u].n, lengths[s]);
                assert_ptr_equal(units[u].out, out + s * POINT_BYTES);
            } else { /* a piece: the next slot, which its segment owns; about equal pieces */
                uint32_t slot = (uint32_t)((size_t)(units[u].out - slots) / POINT_BYTES);
                bool owned = false;
                assert_int_equal(slot, first_slot++);
                for (size_t k = 0; k < cutter.n_pieces; k++) {
                    const struct sum_pieces *p = &cutter.pieces[k];
                    owned = owned || (p->segment == s && slot >= p->first && slot < p->end);
                }
                assert_true(owned);
                assert_true(units[u].n >= SUM_PIECE / 2);
            }
        }
        assert_true(points <= n_points);
        assert_int_equal(first_slot, cutter.n_slots);
        idle = n == 0 ? idle + 1 : 0;
        assert_true(idle < 2); /* freed slots make progress */
        if (n == 0) {
            cutter.n_pieces = 0;
            cutter.n_slots = 0;
        }
    }
    assert_int_equal(sum_cut(&cutter, units, n_points, out, slots, POINT_BYTES), 0);
    for (size_t s = 0; s < n_segments; s++) {
        static const char zero[POINT_BYTES];
        char untouched[POINT_BYTES];
        memset(untouched, 0x5a, sizeof untouched);
        assert_memory_equal(out + s * POINT_BYTES, lengths[s] == 0 ? zero : untouched, POINT_BYTES);
        for (uint32_t i = bounds[s]; i < bounds[s + 1]; i++) {
            assert_int_equal(done[i], 1);
        }
    }
    free(out);
    free(done);
    free(entries);
    free(bounds);
}

static void test_cuts(void **state)
{
    (void)state;
    static uint32_t lengths[3000];
    static const uint32_t edges[] = {0, 1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 1000, 33000};
    enum { N_EDGES = sizeof edges / sizeof edges[0] };
    for (size_t i = 0; i < N_EDGES; i++) { /* one segment, two of them, one among empty ones */
        lengths[0] = edges[i];
        check_cuts(lengths, 1, SUM_POINTS_MAX);
        lengths[1] = edges[N_EDGES - 1 - i];
        check_cuts(lengths, 2, 40);
        memset(lengths, 0, 20 * sizeof lengths[0]);
        lengths[7] = edges[i];
        check_cuts(lengths, 20, SUM_PIECE);
    }
    for (uint32_t l = 0; l <= 200; l++) { /* every length, in one call and in very small ones */
        lengths[0] = lengths[1] = lengths[2] = l;
        check_cuts(lengths, 3, SUM_POINTS_MAX);
        check_cuts(lengths, 3, SUM_PIECE + l % 5);
    }
    for (int round = 0; round < 30; round++) {
        size_t n = 1 + msm_test_below(3000);
        for (size_t s = 0; s < n; s++) {
            size_t kind = msm_test_below(8);
            lengths[s] = kind < 3 ? 0 : kind < 7 ? (uint32_t)msm_test_below(40) : 300;
            lengths[s] += round % 5 == 0 && s == n / 2 ? 60000 : 0;
        }
        check_cuts(lengths, n, round % 2 ? SUM_POINTS_MAX : 100);
    }
}

int main(void)
{
    msm_test_state = 20261130;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_cuts),
    };
    return cmocka_run_group_tests_name("sum plan", tests, NULL, NULL);
}
