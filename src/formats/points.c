/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/points.h"

#include "base/bytes.h"
#include "curve/encoding_batch.h"

#include <inttypes.h>
#include <stdatomic.h>

enum { CHUNK = 1024 };

typedef struct {
    const cuzk_curve *curve;
    const cuzk_group *group;
    const uint8_t *in;
    uint8_t *out;               /* NULL: check in memory form, else decode */
    cuzk_decode_batch_fn batch; /* for most of them; NULL: one by one */
    uint64_t n;
    int flags;
    _Atomic uint64_t first_bad; /* lowest bad index so far, n for none */
    _Atomic uint64_t n_infinity;
} job;

static cuzk_point_status check_one(const job *j, const uint8_t *p)
{
    const cuzk_group *g = j->group;
    if (g->affine_is_infinity(p)) {
        return CUZK_POINT_OK;
    }
    if (!g->affine_is_reduced(p)) {
        return CUZK_POINT_NOT_REDUCED;
    }
    if ((j->flags & CUZK_POINTS_COORDINATES) != 0) {
        return CUZK_POINT_OK;
    }
    if (!g->on_curve(p)) {
        return CUZK_POINT_NOT_ON_CURVE;
    }
    if ((j->flags & CUZK_POINTS_SUBGROUP) != 0 && !g->in_subgroup(p)) {
        return CUZK_POINT_NOT_IN_SUBGROUP;
    }
    return CUZK_POINT_OK;
}

/* Checks or decodes point i. *infinity tells whether it is valid and infinity. */
static cuzk_point_status handle_one(const job *j, uint64_t i, bool *infinity)
{
    const cuzk_group *g = j->group;
    const uint8_t *in = j->in + i * g->affine_bytes;
    cuzk_point_status s;
    const uint8_t *memory_form = in;
    if (j->out != NULL) {
        uint8_t *out = j->out + i * g->affine_bytes;
        s = g->decode(out, in, CUZK_POINT_UNCOMPRESSED, (j->flags & CUZK_POINTS_SUBGROUP) != 0);
        memory_form = out;
    } else {
        s = check_one(j, in);
    }
    *infinity = s == CUZK_POINT_OK && g->affine_is_infinity(memory_form);
    return s;
}

static bool is_bad(const job *j, cuzk_point_status s, bool infinity)
{
    int allow = CUZK_POINTS_ALLOW_INFINITY | CUZK_POINTS_COORDINATES;
    return s != CUZK_POINT_OK || (infinity && (j->flags & allow) == 0);
}

/* Whether the highest of every `limbs` words is below `limit`. Only constant strides make this loop
 * as fast as memory. */
static inline bool high_words_below(const uint8_t *in, size_t n_values, unsigned limbs,
                                    uint64_t limit)
{
    bool below = true;
    for (size_t i = 0; i < n_values; i++) {
        below &= cuzk_load_u64_le(in + 8 * (limbs * i + limbs - 1)) < limit;
    }
    return below;
}

bool cuzk_points_plainly_reduced(const cuzk_curve *curve, cuzk_group_id group, const void *points,
                                 size_t n)
{
    size_t n_values = n * (curve->g[group].affine_bytes / curve->fp_bytes);
    return curve->fp_limbs == 4 ? high_words_below(points, n_values, 4, curve->p[3])
                                : high_words_below(points, n_values, 6, curve->p[5]);
}

/* Decode the first of n points eight at a time; how many that were, 0 if one of them needs a closer
 * look. */
static uint64_t decode_batch(const job *j, uint64_t first, uint64_t n)
{
    size_t bytes = j->group->affine_bytes;
    n -= n % 8;
    return j->batch != NULL && j->batch(j->out + first * bytes, j->in + first * bytes, (size_t)n)
               ? n
               : 0;
}

static void run_chunk(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    job *j = ctx;
    uint64_t begin = (uint64_t)chunk * CHUNK;
    uint64_t end = j->n - begin < CHUNK ? j->n : begin + CHUNK;
    /* relaxed: a stale value only means work that need not have been done */
    if (begin > atomic_load_explicit(&j->first_bad, memory_order_relaxed)) {
        return;
    }
    if ((j->flags & CUZK_POINTS_COORDINATES) != 0 &&
        cuzk_points_plainly_reduced(j->curve, j->group->id, j->in + begin * j->group->affine_bytes,
                                    (size_t)(end - begin))) {
        return;
    }
    begin += decode_batch(j, begin, end - begin);
    for (uint64_t i = begin; i < end; i++) {
        bool infinity;
        cuzk_point_status s = handle_one(j, i, &infinity);
        if (is_bad(j, s, infinity)) {
            /* the pool's join orders the last store before the caller's load */
            uint64_t seen = atomic_load_explicit(&j->first_bad, memory_order_relaxed);
            while (i < seen && !atomic_compare_exchange_weak_explicit(&j->first_bad, &seen, i,
                                                                      memory_order_relaxed,
                                                                      memory_order_relaxed)) {
            }
            return;
        }
    }
}

static cuzk_status run(job *j, uint64_t first, const char *what, cuzk_pool *pool, cuzk_error *err)
{
    atomic_init(&j->first_bad, j->n);
    cuzk_pool_for(pool, (size_t)((j->n + CHUNK - 1) / CHUNK), run_chunk, j);
    uint64_t bad = atomic_load(&j->first_bad);
    if (bad == j->n) {
        return CUZK_OK;
    }
    bool infinity;
    cuzk_point_status s = handle_one(j, bad, &infinity);
    return CUZK_FAIL(err, CUZK_E_FORMAT, "%s: point %" PRIu64 ": %s", what, first + bad,
                     s == CUZK_POINT_OK ? "point at infinity" : cuzk_point_status_text(s));
}

const char *cuzk_point_status_text(cuzk_point_status status)
{
    switch (status) {
    case CUZK_POINT_OK:
        return "valid";
    case CUZK_POINT_BAD_FLAGS:
        return "flag bits do not fit an encoded point";
    case CUZK_POINT_NOT_REDUCED:
        return "coordinate is not below the field modulus";
    case CUZK_POINT_NOT_ON_CURVE:
        return "not on the curve";
    case CUZK_POINT_NOT_IN_SUBGROUP:
        return "not in the subgroup of order r";
    }
    return "unknown";
}

cuzk_status cuzk_points_check(const cuzk_curve *curve, cuzk_group_id group, const void *points,
                              uint64_t n, uint64_t first, int flags, const char *what,
                              cuzk_pool *pool, cuzk_error *err)
{
    job j = {.curve = curve, .group = &curve->g[group], .in = points, .n = n, .flags = flags};
    return run(&j, first, what, pool, err);
}

cuzk_status cuzk_points_decode(const cuzk_curve *curve, cuzk_group_id group, void *out,
                               const uint8_t *in, uint64_t n, uint64_t first, int flags,
                               const char *what, cuzk_pool *pool, cuzk_error *err)
{
    CUZK_FAIL_IF(curve->g[group].decode == NULL, err, CUZK_E_ARGUMENT,
                 "%s: %s has no big-endian point encoding", what, curve->snarkjs_name);
    job j = {
        .curve = curve, .group = &curve->g[group], .in = in, .out = out, .n = n, .flags = flags};
    if ((flags & CUZK_POINTS_SUBGROUP) == 0) {
        j.batch = cuzk_decode_batch_get(curve->id, group);
    }
    return run(&j, first, what, pool, err);
}

static void count_chunk(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    job *j = ctx;
    uint64_t begin = (uint64_t)chunk * CHUNK;
    uint64_t end = j->n - begin < CHUNK ? j->n : begin + CHUNK;
    uint64_t found = 0;
    for (uint64_t i = begin; i < end; i++) {
        found += j->group->affine_is_infinity(j->in + i * j->group->affine_bytes);
    }
    /* relaxed: only the sum matters, read after the join */
    atomic_fetch_add_explicit(&j->n_infinity, found, memory_order_relaxed);
}

uint64_t cuzk_points_count_infinity(const cuzk_curve *curve, cuzk_group_id group,
                                    const void *points, uint64_t n, cuzk_pool *pool)
{
    job j = {.curve = curve, .group = &curve->g[group], .in = points, .n = n};
    cuzk_pool_for(pool, (size_t)((n + CHUNK - 1) / CHUNK), count_chunk, &j);
    return atomic_load(&j.n_infinity);
}
