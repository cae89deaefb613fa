/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/align_guess.h"

#include <stdlib.h>
#include <string.h>

enum { CORNERS_MAX = 1 << 17, PARTS = 8, PARTS_LEAST = 4, LEVELS_MAX = 64 };
static const int64_t AROUND_HINT = 250000000;
static const double DRIFT_MOST = 1e-3;

/* The overlap's slope changes here. */
typedef struct {
    int64_t at, by;
} corner;

/* Offsets [lo, hi] of equal, greatest agreement. */
typedef struct {
    int64_t lo, hi, agreement;
} peak;

/* Agreement at an offset: the overlap, less what theirs has in the time of ours where ours has
 * nothing; that is twice the overlap less all of theirs in that time. Overlap alone would be
 * greatest where theirs is busiest. */
typedef struct {
    cuzk_align_track *tracks; /* copies with gaps closed; their intervals are owned */
    size_t n_tracks;
    cuzk_interval whole; /* the time of ours */
    corner *corners;
} search;

enum { WEIGHTS = 2 };
static const int64_t weights[WEIGHTS] = {2, -1}; /* of the overlap; of theirs in the whole */

static int by_place(const void *a, const void *b)
{
    int64_t x = ((const corner *)a)->at, y = ((const corner *)b)->at;
    return (x > y) - (x < y);
}

/* Edge i of a set: begins have even numbers. */
static int64_t edge(const cuzk_interval_set *set, size_t i)
{
    return i % 2 == 0 ? set->v[i / 2].begin : set->v[i / 2].end;
}

/* The first edge at or after `at`. */
static size_t first_edge(const cuzk_interval_set *set, int64_t at)
{
    size_t lo = 0, hi = 2 * set->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (edge(set, middle) < at) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo;
}

/* What weight w is of: track i, or theirs of it in the whole time. */
static cuzk_align_track weighed(search *s, size_t i, int w)
{
    cuzk_align_track t = s->tracks[i];
    if (w == 1) {
        t.ours = (cuzk_interval_set){&s->whole, 1};
    }
    return t;
}

/* Corners of offsets in (lo, hi]; put where `corners` is not NULL. Stops beyond CORNERS_MAX. */
static size_t corners_of(const cuzk_align_track *t, int64_t weight, corner *corners, int64_t lo,
                         int64_t hi)
{
    size_t n = 0;
    for (size_t b = 0; b < 2 * t->theirs.n && n <= CORNERS_MAX; b++) {
        int64_t theirs = edge(&t->theirs, b);
        size_t first = first_edge(&t->ours, theirs + lo + 1);
        size_t last = first_edge(&t->ours, theirs + hi + 1);
        for (size_t a = first; a < last && corners != NULL; a++) {
            /* a begin of ours under an end of theirs: from here on the overlap grows */
            corners[n + a - first] =
                (corner){edge(&t->ours, a) - theirs, a % 2 == b % 2 ? -weight : weight};
        }
        n += last - first;
    }
    return n;
}

/* Of everything. */
static size_t all_corners(search *s, corner *corners, int64_t lo, int64_t hi)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_tracks; i++) {
        for (int w = 0; w < WEIGHTS && n <= CORNERS_MAX; w++) {
            cuzk_align_track t = weighed(s, i, w);
            n += corners_of(&t, weights[w], corners != NULL ? corners + n : NULL, lo, hi);
        }
    }
    return n;
}

/* The overlap at an offset and its slope behind it, added. */
static void overlap_at(const cuzk_align_track *t, int64_t weight, int64_t offset, int64_t *overlap,
                       int64_t *slope)
{
    const cuzk_interval_set *ours = &t->ours, *theirs = &t->theirs;
    size_t a = 0;
    for (size_t b = 0; b < theirs->n; b++) {
        int64_t begin = theirs->v[b].begin + offset, end = theirs->v[b].end + offset;
        while (a < ours->n && ours->v[a].end <= begin) {
            a++;
        }
        for (size_t k = a; k < ours->n && ours->v[k].begin < end; k++) {
            int64_t from = ours->v[k].begin > begin ? ours->v[k].begin : begin;
            int64_t to = ours->v[k].end < end ? ours->v[k].end : end;
            *overlap += weight * (to - from);
        }
        /* odd: the first edge behind it is an end, it lies inside */
        *slope += weight * (int64_t)(first_edge(ours, end + 1) % 2);
        *slope -= weight * (int64_t)(first_edge(ours, begin + 1) % 2);
    }
}

/* The highest place in [lo, hi], whose corners fit. */
static peak highest(search *s, int64_t lo, int64_t hi)
{
    size_t n = all_corners(s, s->corners, lo, hi);
    qsort(s->corners, n, sizeof *s->corners, by_place);
    int64_t agreement = 0, slope = 0, at = lo;
    for (size_t i = 0; i < s->n_tracks; i++) {
        for (int w = 0; w < WEIGHTS; w++) {
            cuzk_align_track t = weighed(s, i, w);
            overlap_at(&t, weights[w], lo, &agreement, &slope);
        }
    }
    peak best = {lo, lo, agreement};
    for (size_t i = 0; i <= n; i++) {
        int64_t next = i < n ? s->corners[i].at : hi;
        agreement += slope * (next - at);
        if (agreement > best.agreement) {
            best = (peak){next, next, agreement};
        } else if (agreement == best.agreement && slope == 0 && best.hi == at) {
            best.hi = next;
        }
        at = next;
        slope += i < n ? s->corners[i].by : 0;
    }
    return best;
}

static void copy_joined(cuzk_interval_set *to, const cuzk_interval_set *from, int64_t join)
{
    if (from->n > 0) {
        memcpy(to->v, from->v, from->n * sizeof *to->v);
    }
    to->n = cuzk_intervals_unite(to->v, from->n, join);
}

static void join_tracks(search *s, const cuzk_align_track *tracks, int64_t join)
{
    for (size_t i = 0; i < s->n_tracks; i++) {
        copy_joined(&s->tracks[i].ours, &tracks[i].ours, join);
        copy_joined(&s->tracks[i].theirs, &tracks[i].theirs, join);
    }
}

/* Close as short gaps as can be so that the corners fit. */
static int64_t join_to_fit(search *s, const cuzk_align_track *tracks, int64_t lo, int64_t hi)
{
    int64_t join = 0;
    join_tracks(s, tracks, 0);
    while (all_corners(s, NULL, lo, hi) > CORNERS_MAX) {
        join = join == 0 ? 1000 : 2 * join;
        join_tracks(s, tracks, join);
    }
    return join;
}

/* The highest place in [lo, hi], by ever shorter gaps. */
static peak find(search *s, const cuzk_align_track *tracks, cuzk_interval whole, int64_t lo,
                 int64_t hi)
{
    s->whole = whole;
    int64_t join = join_to_fit(s, tracks, lo, hi);
    peak best = highest(s, lo, hi);
    for (int level = 0; join > 0 && level < LEVELS_MAX; level++) {
        int64_t around = 4 * join + (best.hi - best.lo);
        int64_t from = best.lo - around > lo ? best.lo - around : lo;
        int64_t to = best.hi + around < hi ? best.hi + around : hi;
        if (to - from >= hi - lo) { /* closing gaps told nothing: take half */
            int64_t quarter = (hi - lo) / 4, middle = best.lo + (best.hi - best.lo) / 2;
            from = middle - quarter > lo ? middle - quarter : lo;
            to = middle + quarter < hi ? middle + quarter : hi;
        }
        lo = from;
        hi = to;
        join = join_to_fit(s, tracks, lo, hi);
        best = highest(s, lo, hi);
    }
    return best;
}

static int64_t middle_of(const peak *p)
{
    return p->lo + (p->hi - p->lo) / 2;
}

/* ---- all of it ---- */

typedef struct {
    int64_t begin, end; /* of what either side has */
    int64_t total;      /* added up over tracks */
} extent;

static extent extent_of(const cuzk_align_track *tracks, size_t n, bool of_ours)
{
    extent e = {INT64_MAX, INT64_MIN, 0};
    for (size_t i = 0; i < n; i++) {
        const cuzk_interval_set *set = of_ours ? &tracks[i].ours : &tracks[i].theirs;
        if (set->n > 0) {
            e.begin = set->v[0].begin < e.begin ? set->v[0].begin : e.begin;
            e.end = set->v[set->n - 1].end > e.end ? set->v[set->n - 1].end : e.end;
            e.total += cuzk_intervals_cover(set, set->v[0].begin, set->v[set->n - 1].end);
        }
    }
    return e;
}

static int64_t at_most(const extent *a, const extent *b)
{
    return a->total < b->total ? a->total : b->total;
}

/* What of a set is in [begin, end). `to` has room for all of it. */
static void clip(cuzk_interval_set *to, const cuzk_interval_set *from, int64_t begin, int64_t end)
{
    size_t first = first_edge(from, begin + 1) / 2; /* of those that end behind begin */
    to->n = 0;
    for (size_t i = first; i < from->n && from->v[i].begin < end; i++) {
        cuzk_interval v = from->v[i];
        v.begin = v.begin > begin ? v.begin : begin;
        v.end = v.end < end ? v.end : end;
        to->v[to->n++] = v;
    }
}

/* What both have, by their clock. */
static cuzk_interval common_time(const cuzk_align_track *tracks, size_t n, int64_t offset)
{
    extent ours = extent_of(tracks, n, true), theirs = extent_of(tracks, n, false);
    return (cuzk_interval){ours.begin - offset > theirs.begin ? ours.begin - offset : theirs.begin,
                           ours.end - offset < theirs.end ? ours.end - offset : theirs.end};
}

/* A part's offset, by its middle, both as differences to the first guess of `a`. */
typedef struct {
    double at, offset;
} dot;

/* The offset of part i of the time; false where it does not show clearly. */
static bool dot_of_part(dot *out, search *s, search *part, const cuzk_align_track *tracks,
                        const cuzk_alignment *a, int64_t first_offset, cuzk_interval time,
                        int64_t around)
{
    int64_t middle = time.begin + (time.end - time.begin) / 2;
    int64_t guess = cuzk_align_to_ours(a, middle) - middle;
    cuzk_interval whole = {time.begin + guess - around, time.end + guess + around};
    for (size_t k = 0; k < s->n_tracks; k++) {
        cuzk_interval_set *theirs = &part->tracks[k].theirs;
        clip(theirs, &tracks[k].theirs, time.begin, time.end);
        for (size_t i = 0; i < theirs->n; i++) { /* without the drift that is known */
            theirs->v[i].begin += (int64_t)(a->drift * (double)(theirs->v[i].begin - middle));
            theirs->v[i].end += (int64_t)(a->drift * (double)(theirs->v[i].end - middle));
        }
        clip(&part->tracks[k].ours, &tracks[k].ours, whole.begin, whole.end);
    }
    extent ours = extent_of(part->tracks, s->n_tracks, true);
    extent theirs = extent_of(part->tracks, s->n_tracks, false);
    if (at_most(&ours, &theirs) == 0) {
        return false;
    }
    peak p = find(s, part->tracks, whole, guess - around, guess + around);
    *out = (dot){(double)(middle - a->middle_ns), (double)(middle_of(&p) - first_offset)};
    /* at an end of where it was looked for, or broad: it says nothing */
    return p.lo > guess - around && p.hi < guess + around && p.hi - p.lo < around / 4 &&
           2 * p.agreement >= at_most(&ours, &theirs);
}

/* A line through the parts' offsets. */
static void fit(cuzk_alignment *a, int64_t first_offset, const dot *dots, unsigned n)
{
    double mean_at = 0, mean = 0, xx = 0, xy = 0, error = 0;
    for (unsigned i = 0; i < n; i++) {
        mean_at += dots[i].at / n;
        mean += dots[i].offset / n;
    }
    for (unsigned i = 0; i < n; i++) {
        xx += (dots[i].at - mean_at) * (dots[i].at - mean_at);
        xy += (dots[i].at - mean_at) * (dots[i].offset - mean);
    }
    double slope = xx > 0 ? xy / xx : 0;
    for (unsigned i = 0; i < n; i++) {
        double off = dots[i].offset - (mean + slope * (dots[i].at - mean_at));
        error = off > error ? off : -off > error ? -off : error;
    }
    a->offset_ns = first_offset + (int64_t)(mean - slope * mean_at);
    a->drift = slope;
    a->error_ns = (int64_t)error;
    a->n_parts = n;
}

/* Twice: with room for any drift, then for what the first line leaves. */
static void find_drift(search *s, search *part, const cuzk_align_track *tracks, cuzk_alignment *a)
{
    int64_t first_offset = a->offset_ns;
    cuzk_interval common = common_time(tracks, s->n_tracks, first_offset);
    int64_t length = (common.end - common.begin) / PARTS + 1;
    int64_t around = (int64_t)(DRIFT_MOST * (double)(common.end - common.begin) / 2) + 50000;
    a->middle_ns = common.begin + (common.end - common.begin) / 2;
    for (int round = 0; round < 2; round++) {
        dot dots[PARTS];
        unsigned n = 0;
        for (int i = 0; i < PARTS; i++) {
            cuzk_interval time = {common.begin + i * length, common.begin + (i + 1) * length};
            n += dot_of_part(&dots[n], s, part, tracks, a, first_offset, time, around);
        }
        if (n < PARTS_LEAST) {
            return;
        }
        fit(a, first_offset, dots, n);
        around = around / 8 + 2 * a->error_ns + 50000;
    }
}

static cuzk_status open_search(search *s, const cuzk_align_track *tracks, size_t n, cuzk_error *err)
{
    *s = (search){.tracks = calloc(n + 1, sizeof *s->tracks), .n_tracks = n};
    bool has_memory = s->tracks != NULL;
    for (size_t i = 0; i < n && has_memory; i++) {
        s->tracks[i].ours.v = malloc((tracks[i].ours.n + 1) * sizeof(cuzk_interval));
        s->tracks[i].theirs.v = malloc((tracks[i].theirs.n + 1) * sizeof(cuzk_interval));
        has_memory = s->tracks[i].ours.v != NULL && s->tracks[i].theirs.v != NULL;
    }
    CUZK_FAIL_IF(!has_memory, err, CUZK_E_MEMORY, "tying two clocks: out of memory");
    return CUZK_OK;
}

static void close_search(search *s)
{
    for (size_t i = 0; s->tracks != NULL && i < s->n_tracks; i++) {
        free(s->tracks[i].ours.v);
        free(s->tracks[i].theirs.v);
    }
    free(s->tracks);
    free(s->corners);
}

/* Anywhere: exactly where that is not too much, else near the best guesses. */
static cuzk_status find_anywhere(peak *out, search *s, const cuzk_align_track *tracks,
                                 const extent *ours, const extent *theirs, cuzk_error *err)
{
    cuzk_interval whole = {ours->begin, ours->end};
    int64_t lo = ours->begin - theirs->end, hi = ours->end - theirs->begin;
    s->whole = whole;
    join_tracks(s, tracks, 0);
    if (all_corners(s, NULL, lo, hi) <= CORNERS_MAX) {
        *out = highest(s, lo, hi);
        return CUZK_OK;
    }
    cuzk_align_guesses guesses;
    CUZK_TRY(cuzk_align_guess(&guesses, tracks, s->n_tracks, whole,
                              (cuzk_interval){theirs->begin, theirs->end}, err));
    *out = (peak){lo, lo, INT64_MIN};
    for (size_t i = 0; i < guesses.n; i++) {
        int64_t around = 2 * guesses.width_ns;
        peak p = find(s, tracks, whole, guesses.offsets[i] - around, guesses.offsets[i] + around);
        *out = p.agreement > out->agreement ? p : *out;
    }
    return CUZK_OK;
}

/* One offset for all: near the hint where that fits, else anywhere. */
static cuzk_status find_offset(cuzk_alignment *a, search *s, const cuzk_align_track *tracks,
                               const int64_t *hint, cuzk_error *err)
{
    extent ours = extent_of(tracks, s->n_tracks, true);
    extent theirs = extent_of(tracks, s->n_tracks, false);
    peak p = {0};
    if (hint != NULL) {
        cuzk_interval whole = {ours.begin, ours.end};
        p = find(s, tracks, whole, *hint - AROUND_HINT, *hint + AROUND_HINT);
        a->by_hint = 2 * p.agreement >= at_most(&ours, &theirs);
    }
    if (!a->by_hint) {
        CUZK_TRY(find_anywhere(&p, s, tracks, &ours, &theirs, err));
    }
    a->offset_ns = middle_of(&p);
    return CUZK_OK;
}

cuzk_status cuzk_align(cuzk_alignment *out, const cuzk_align_track *tracks, size_t n_tracks,
                       const int64_t *hint, cuzk_error *err)
{
    *out = (cuzk_alignment){0};
    extent ours = extent_of(tracks, n_tracks, true);
    extent theirs = extent_of(tracks, n_tracks, false);
    CUZK_FAIL_IF(at_most(&ours, &theirs) == 0, err, CUZK_E_ARGUMENT,
                 "tying two clocks: one side has no activity");
    search s = {0}, part = {0};
    cuzk_status status;
    CUZK_TRY_OUT(status, open_search(&s, tracks, n_tracks, err));
    CUZK_TRY_OUT(status, open_search(&part, tracks, n_tracks, err));
    s.corners = malloc((CORNERS_MAX + 1) * sizeof *s.corners);
    if (s.corners == NULL) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "tying two clocks: out of memory");
        goto out;
    }
    CUZK_TRY_OUT(status, find_offset(out, &s, tracks, hint, err));
    find_drift(&s, &part, tracks, out);
out:
    close_search(&part);
    close_search(&s);
    return status;
}

int64_t cuzk_align_to_ours(const cuzk_alignment *a, int64_t theirs_ns)
{
    return theirs_ns + a->offset_ns + (int64_t)(a->drift * (double)(theirs_ns - a->middle_ns));
}
