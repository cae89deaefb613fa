/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sums of segments of points by batched affine additions, written once for G1 and G2.
 *
 * A re-includable header; sum_kernel_scalar.c binds
 *   KN(name)   the prefix of every type and function
 *   CF(name)   fp_##name or fp2_##name, CF_TYPE the type: the coordinate field
 * and what sum_pairs.h names.
 *
 * A kernel point is the packed affine point itself, all zero for infinity. Segments are taken in
 * chunks; inside a chunk every round halves all segments by adding neighbours, with one inversion
 * a round (Montgomery's trick): with dx = bx - ax the slope is (by - ay)/dx, 5M + 1S an addition.
 * The exact cases (equal, opposite, infinite) are noticed while the products are formed and carry
 * a mark of how the pair is to be finished. A segment longer than a chunk passes its partial sum on
 * to the next chunk.
 *
 * Points are read through byte pointers: bases may have any alignment. */

typedef struct {
    CF_TYPE x, y;
} CUZK_MAY_ALIAS KN(point);

typedef struct {
    KN(point) points[2][CHUNK]; /* the rounds go to and fro between the two */
    KN(point) carry;            /* partial sum of a segment that goes on in the next chunk */
    CF_TYPE divisor[CHUNK / 2], prefix[CHUNK / 2];
    struct pair pairs[CHUNK / 2];
    struct pair singles[CHUNK / 2 + 1]; /* points without a partner in the first round */
    struct piece pieces[CHUNK / 2 + 1];
    uint8_t how[CHUNK / 2];
    size_t n_pairs, n_singles, n_pieces, n_points;
} KN(workspace);

static CUZK_ALWAYS_INLINE const char *KN(at)(const char *bases, uint32_t entry)
{
    return bases + (size_t)(entry >> 1) * sizeof(KN(point));
}

/* ±y of an entry, without a branch on its random sign. */
static CUZK_ALWAYS_INLINE void KN(load_y)(CF_TYPE *o, const char *bases, uint32_t entry,
                                          bool with_sign)
{
    CF(load)(o, KN(at)(bases, entry) + sizeof(CF_TYPE));
    if (with_sign) {
        CF_TYPE negative;
        CF(neg)(&negative, o);
        uint64_t *y = (uint64_t *)o, *n = (uint64_t *)&negative;
        uint64_t mask = 0 - (uint64_t)(entry & 1);
        CUZK_UNROLL
        for (unsigned i = 0; i < sizeof(CF_TYPE) / 8; i++) {
            y[i] = (y[i] & ~mask) | (n[i] & mask);
        }
    }
}

static void KN(convert)(KN(point) * o, const char *bases, uint32_t entry)
{
    KN(point) t;
    CF(load)(&t.x, KN(at)(bases, entry));
    KN(load_y)(&t.y, bases, entry, true);
    *o = t;
}

static bool KN(is_infinity)(const char *bases, uint32_t entry)
{
    KN(point) t;
    memcpy(&t, KN(at)(bases, entry), sizeof(t));
    return CF(is_zero)(&t.x) && CF(is_zero)(&t.y);
}

/* A pair that may not be an ordinary one: how it is to be finished, and in dx (bx - ax on entry)
 * what stands for it in the product: 1, or 2y for a doubling. */
static uint8_t KN(classify)(CF_TYPE *dx, const char *bases, const struct pair *pair)
{
    CF_TYPE ya, yb;
    uint8_t how = CANCEL;
    if (KN(is_infinity)(bases, pair->a)) {
        how = TAKE_B;
    } else if (KN(is_infinity)(bases, pair->b)) {
        how = TAKE_A;
    } else if (!CF(is_zero)(dx)) {
        return ADD;
    } else {
        KN(load_y)(&ya, bases, pair->a, true);
        KN(load_y)(&yb, bases, pair->b, true);
        CF(dbl)(dx, &ya);
        if (CF(eq)(&ya, &yb) && !CF(is_zero)(dx)) {
            return DOUBLE;
        }
    }
    CF(set_one)(dx);
    return how;
}

/* First pass over the pairs: their divisors and the product of all divisors before each. Gives the
 * product of all. */
static void KN(products)(CF_TYPE *product, KN(workspace) * w, const char *bases)
{
    CF(set_one)(product);
    for (size_t k = 0; k < w->n_pairs; k++) {
        const struct pair *pair = &w->pairs[k];
        if (k + PREFETCH_PAIRS < w->n_pairs) {
            prefetch(KN(at)(bases, pair[PREFETCH_PAIRS].a), sizeof(KN(point)));
            prefetch(KN(at)(bases, pair[PREFETCH_PAIRS].b), sizeof(KN(point)));
        }
        CF_TYPE ax, bx, *dx = &w->divisor[k];
        CF(load)(&ax, KN(at)(bases, pair->a));
        CF(load)(&bx, KN(at)(bases, pair->b));
        CF(sub)(dx, &bx, &ax);
        /* The first word of each tells all but one in 2^62 of the ordinary pairs. */
        bool maybe = first_word(&ax) == 0 || first_word(&bx) == 0 || first_word(dx) == 0;
        w->how[k] = __builtin_expect(maybe, 0) ? KN(classify)(dx, bases, pair) : ADD;
        w->prefix[k] = *product;
        CF(mul)(product, product, dx);
    }
}

/* o = a + b with the slope given: x = slope² - ax - bx, y = slope (ax - x) - ay. */
static CUZK_ALWAYS_INLINE void KN(chord)(KN(point) * o, const CF_TYPE *slope, const CF_TYPE *ax,
                                         const CF_TYPE *ay, const CF_TYPE *bx)
{
    CF_TYPE x, t;
    CF(sqr)(&x, slope);
    CF(sub)(&x, &x, ax);
    CF(sub)(&x, &x, bx);
    CF(sub)(&t, ax, &x);
    CF(mul)(&t, &t, slope);
    CF(sub)(&o->y, &t, ay);
    o->x = x;
}

static void KN(finish_exact)(KN(point) * o, uint8_t how, const CF_TYPE *inverse, const char *bases,
                             const struct pair *pair)
{
    KN(point) a;
    CF_TYPE slope, t;
    switch (how) {
    case TAKE_A:
        KN(convert)(o, bases, pair->a);
        break;
    case TAKE_B:
        KN(convert)(o, bases, pair->b);
        break;
    case DOUBLE:
        KN(convert)(&a, bases, pair->a);
        CF(sqr)(&t, &a.x);
        CF(dbl)(&slope, &t);
        CF(add)(&slope, &slope, &t);
        CF(mul)(&slope, &slope, inverse); /* 3x²/2y */
        KN(chord)(o, &slope, &a.x, &a.y, &a.x);
        break;
    default: /* CANCEL */
        memset(o, 0, sizeof(*o));
        break;
    }
}

/* Second pass for the one pair k. inverse: of its chain's product up to and with it; then without.
 */
static void KN(quotient)(KN(point) * out, CF_TYPE *inverse, const KN(workspace) * w, size_t k,
                         const char *bases)
{
    const struct pair *pair = &w->pairs[k];
    CF_TYPE slope, ax, ay, bx, by;
    CF(mul)(&slope, inverse, &w->prefix[k]);
    CF(mul)(inverse, inverse, &w->divisor[k]);
    if (w->how[k] != ADD) {
        KN(finish_exact)(&out[pair->out], w->how[k], &slope, bases, pair);
        return;
    }
    CF(load)(&ax, KN(at)(bases, pair->a));
    CF(load)(&bx, KN(at)(bases, pair->b));
    KN(load_y)(&ay, bases, pair->a, true);
    KN(load_y)(&by, bases, pair->b, true);
    CF(sub)(&by, &by, &ay);
    CF(mul)(&slope, &slope, &by);
    KN(chord)(&out[pair->out], &slope, &ax, &ay, &bx);
}

/* Second pass for the BLOCK pairs from k on, all of them ordinary, the last first. Each step is
 * made for all pairs before the next one: the steps of one pair depend on each other. */
static CUZK_ALWAYS_INLINE void KN(quotients)(KN(point) * out, CF_TYPE *inverse,
                                             const KN(workspace) * w, size_t k, const char *bases,
                                             bool with_sign)
{
    const struct pair *pair = &w->pairs[k];
    for (size_t j = 1; j <= BLOCK && j <= k; j++) { /* the next ones */
        prefetch(KN(at)(bases, w->pairs[k - j].a), sizeof(KN(point)));
        prefetch(KN(at)(bases, w->pairs[k - j].b), sizeof(KN(point)));
    }
    CF_TYPE slope[BLOCK], ax[BLOCK], ay[BLOCK], bx[BLOCK], t[BLOCK];
    for (size_t j = BLOCK; j-- > 0;) {
        CF(mul)(&slope[j], inverse, &w->prefix[k + j]);
        CF(mul)(inverse, inverse, &w->divisor[k + j]);
    }
    for (size_t j = 0; j < BLOCK; j++) {
        CF(load)(&ax[j], KN(at)(bases, pair[j].a));
        CF(load)(&bx[j], KN(at)(bases, pair[j].b));
        KN(load_y)(&ay[j], bases, pair[j].a, with_sign);
        KN(load_y)(&t[j], bases, pair[j].b, with_sign);
        CF(sub)(&t[j], &t[j], &ay[j]);
        CF(mul)(&slope[j], &slope[j], &t[j]);
    }
    for (size_t j = 0; j < BLOCK; j++) {
        CF(sqr)(&t[j], &slope[j]);
    }
    for (size_t j = 0; j < BLOCK; j++) {
        KN(point) *o = &out[pair[j].out];
        CF(sub)(&t[j], &t[j], &ax[j]);
        CF(sub)(&o->x, &t[j], &bx[j]);
        CF(sub)(&t[j], &ax[j], &o->x);
        CF(mul)(&t[j], &t[j], &slope[j]);
    }
    for (size_t j = 0; j < BLOCK; j++) {
        CF(sub)(&out[pair[j].out].y, &t[j], &ay[j]);
    }
}

/* out[pair.out] = sum of each pair of w. */
static void KN(add_pairs)(KN(point) * out, KN(workspace) * w, const char *bases, bool with_sign)
{
    CF_TYPE product;
    if (w->n_pairs == 0) {
        return;
    }
    KN(products)(&product, w, bases);
    CF(inv)(&product, &product);
    size_t k = w->n_pairs;
    while (k > 0) {
        bool ordinary = k >= BLOCK;
        for (size_t j = 1; ordinary && j <= BLOCK; j++) {
            ordinary = w->how[k - j] == ADD;
        }
        if (!ordinary) {
            k--;
            KN(quotient)(out, &product, w, k, bases);
            continue;
        }
        k -= BLOCK;
        if (with_sign) {
            KN(quotients)(out, &product, w, k, bases, true);
        } else {
            KN(quotients)(out, &product, w, k, bases, false);
        }
    }
}

/* Put n_entries entries of segment `out` into the chunk as one piece, with the carry as one more
 * point. The first round's pairs and points without a partner go to lists; what the first pass does
 * not fetch ahead is asked for now. */
static void KN(take)(KN(workspace) * w, uint32_t out, const char *bases, const uint32_t *entries,
                     size_t n_entries, bool with_carry)
{
    struct piece *piece = &w->pieces[w->n_pieces++];
    piece->out = out;
    piece->first = (uint32_t)w->n_points;
    size_t i = 0;
    for (; i + 2 <= n_entries; i += 2) {
        if (w->n_pairs < PREFETCH_PAIRS) {
            prefetch(KN(at)(bases, entries[i]), sizeof(KN(point)));
            prefetch(KN(at)(bases, entries[i + 1]), sizeof(KN(point)));
        }
        w->pairs[w->n_pairs++] = (struct pair){entries[i], entries[i + 1], (uint32_t)w->n_points++};
    }
    if (i < n_entries) {
        prefetch(KN(at)(bases, entries[i]), sizeof(KN(point)));
        w->singles[w->n_singles++] = (struct pair){entries[i], 0, (uint32_t)w->n_points++};
    }
    if (with_carry) {
        w->points[0][w->n_points++] = w->carry;
    }
    piece->n_points = (uint32_t)(w->n_points - piece->first);
}

/* All rounds of a chunk; each piece's sum goes to its place in `out`, a piece marked CARRY to the
 * carry. */
static void KN(finish_chunk)(KN(point) * out, KN(workspace) * w, const char *bases)
{
    for (size_t i = 0; i < w->n_singles; i++) {
        KN(convert)(&w->points[0][w->singles[i].out], bases, w->singles[i].a);
    }
    w->n_singles = 0;
    KN(add_pairs)(w->points[0], w, bases, true);
    for (unsigned round = 0; w->n_pieces != 0; round++) {
        KN(point) *from = w->points[round % 2], *to = w->points[(round + 1) % 2];
        size_t left = 0, n_points = 0;
        w->n_pairs = 0;
        for (size_t p = 0; p < w->n_pieces; p++) {
            struct piece piece = w->pieces[p];
            if (piece.n_points == 1) {
                *(piece.out == CARRY ? &w->carry : &out[piece.out]) = from[piece.first];
                continue;
            }
            uint32_t first = (uint32_t)n_points, i = 0;
            for (; i + 2 <= piece.n_points; i += 2) {
                uint32_t a = (piece.first + i) << 1;
                w->pairs[w->n_pairs++] = (struct pair){a, a + 2, (uint32_t)n_points++};
            }
            if (i < piece.n_points) {
                to[n_points++] = from[piece.first + i];
            }
            w->pieces[left++] = (struct piece){piece.out, first, (uint32_t)(n_points - first)};
        }
        w->n_pieces = left;
        KN(add_pairs)(to, w, (const char *)from, false);
    }
    w->n_points = 0;
    w->n_pairs = 0;
}

static void KN(segment_sums)(void *out_points, const void *bases_points,
                             bool bases_are_kernel_points, const uint32_t *entries,
                             const uint32_t *bounds, size_t n_segments, void *ws)
{
    (void)bases_are_kernel_points; /* both are packed points */
    KN(workspace) *w = (KN(workspace) *)ws;
    KN(point) *out = (KN(point) *)out_points;
    const char *bases = (const char *)bases_points;
    size_t room = CHUNK; /* entries that still fit into the chunk */
    w->n_points = w->n_pairs = w->n_singles = w->n_pieces = 0;
    for (size_t s = 0; s < n_segments; s++) {
        const uint32_t *next = entries + bounds[s];
        size_t n = bounds[s + 1] - bounds[s];
        if (n == 0) {
            memset(&out[s], 0, sizeof(out[s]));
            continue;
        }
        if (n == 1) {
            KN(convert)(&out[s], bases, next[0]);
            continue;
        }
        if (n > room && room < CHUNK / 2) {
            KN(finish_chunk)(out, w, bases);
            room = CHUNK;
        }
        bool with_carry = false;
        while (n > room) {
            KN(take)(w, CARRY, bases, next, room, with_carry);
            next += room;
            n -= room;
            KN(finish_chunk)(out, w, bases);
            with_carry = true;
            room = CHUNK - 1; /* the carry takes one place */
        }
        KN(take)(w, (uint32_t)s, bases, next, n, with_carry);
        room -= n;
    }
    KN(finish_chunk)(out, w, bases);
}

static void KN(to_affine)(void *out, const void *points, size_t n)
{
    memcpy(out, points, n * sizeof(KN(point)));
}

#undef KN
#undef CF
#undef CF_TYPE
