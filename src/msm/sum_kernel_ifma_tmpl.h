/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sums of segments of points on eight lanes, written once for G1 and G2.
 *
 * A re-includable header; sum_kernel_ifma.c binds
 *   KN(name)   the prefix of every type and function
 *   KD         degree of the coordinate field over fp: 1 or 2
 *
 * Segments are cut into short units, units are laid out on lanes (sum_plan.h), and a plan's rows
 * are added up in rounds that halve the rows of every group: row i + row i + h. Partial sums stay
 * in lanes, in blocks of eight points; only the given points are transposed. A round is done in
 * batches that share one inversion (Montgomery's trick on CHAINS × 8 lanes): the forward pass
 * multiplies the divisors up, the backward pass, CHAINS steps at a time so that multiplications
 * that depend on each other are never neighbours, takes them apart and forms the sums: λ = (yb -
 * ya)/(xb - xa),  x3 = λ² - xa - xb,  y3 = λ(xa - x3) - ya:  5M + 1S. In G2 the divisor that is
 * inverted is the norm of dx, in fp: then λ = dy·conj(dx)/norm, which replaces three
 * multiplications in fp2 by one, three in fp and a sum of two squares.
 *
 * Exceptions. Infinity is a mark of each row's lanes; such lanes get the divisor 1 and are mended
 * at the end. Equal abscissae make the product of the batch zero, which is tested before it is
 * inverted; then the lanes at fault are found, their divisors replaced (2y for equal points, 1 for
 * opposite ones), and the products formed again.
 *
 * Everything is read through byte pointers: bases may have any alignment. */

/* One coordinate of eight points. */
typedef struct {
    fpx8 c[KD];
} KN(coord);

/* Eight points. */
typedef struct {
    KN(coord) x, y;
} KN(block);

enum {
    /* steps of the backward pass at a time, and independent chains of products */
    KN(CHAINS) = KD == 1 ? 4 : 2,
    KN(COORD_WORDS) = KD * FP_LIMBS,
    KN(BASE_BYTES) = 16 * KN(COORD_WORDS),
    /* words of a coordinate in a kernel point: 64-bit words below 2^256 (bn254) or limbs */
    KN(POINT_COORD_WORDS) = KD * (FPX8_LIMBS == 5 ? FP_LIMBS : FPX8_LIMBS),
    /* points of a plan, steps of a batch: a plan's blocks, a batch's products and the bases of this
     * plan and the next one share L2 */
    KN(POINTS) = KD * FPX8_LIMBS == 5 ? 8192 : 4096,
    KN(BATCH) = KD * FPX8_LIMBS == 16 ? 128 : 256
};

/* x, y in the coordinates of the scaled curve; all zero is infinity. */
typedef struct {
    uint64_t word[2 * KN(POINT_COORD_WORDS)];
} KN(point);

/* What the forward pass leaves of a step: digits; dx carried in G2. */
typedef struct {
    fpx8 divisor;
#if KD == 2
    KN(coord) dx;
#endif
} KN(step);

typedef struct {
    fpx8 prefix[KN(BATCH) + KN(CHAINS)]; /* prefix[k]: product of the divisors before step k */
    KN(step) steps[KN(BATCH)];
    KN(block) blocks[SUM_BLOCKS_MAX + 1]; /* the last one is for steps that pad a batch */
    multiples times;
    step_marks marks[KN(BATCH)];
    step_rows list[SUM_ROWS_MAX / 2 + KN(CHAINS)]; /* the steps of a round */
    const step_rows *rows;                         /* those of the batch in work */
    v8_mask infinite[SUM_BLOCKS_MAX + 1];          /* of the blocks */
    struct sum_plan plans[2];
    struct sum_unit units[SUM_UNITS_MAX];
    struct sum_cutter cutter;
    fetch_ahead ahead;
    uint32_t slot_entries[SUM_SLOTS];
    int side;                               /* the slots in use */
    KN(point) slots[2][SUM_SLOTS] V8_ALIGN; /* sums of the pieces of long segments */
} KN(workspace);

/* ---- reading and writing points ---- */

/* The points of a row; y may be NULL. x carried, y raw of either sign. */
V8_FN void KN(load)(KN(coord) * x, KN(coord) * y, point_source from, const uint64_t *tags)
{
    if (from == FROM_POINTS && FPX8_LIMBS == 8) {
        V8_UNROLL
        for (int c = 0; c < KD; c++) {
            gather_words(x->c[c].l, tags, 8 * (size_t)c);
            if (y != NULL) {
                gather_words(y->c[c].l, tags, 8 * (size_t)(KD + c));
            }
        }
    } else {
        enum { WORDS = 2 * KN(COORD_WORDS) };
        v8 w[WORDS];
        V8_UNROLL
        for (size_t k = 0; k < WORDS; k += 8) {
            size_t first = k + 8 <= WORDS ? k : WORDS - 8; /* never beyond the record */
            if (y != NULL || k < KN(COORD_WORDS)) {
                gather_words(w + first, tags, first);
            }
        }
        V8_UNROLL
        for (int c = 0; c < KD; c++) {
            fpx8_from_words(&x->c[c], w + c * FP_LIMBS, from == FROM_BASES ? X_SHIFT : 0);
            if (y != NULL) {
                fpx8_from_words(&y->c[c], w + KN(COORD_WORDS) + c * FP_LIMBS,
                                from == FROM_BASES ? Y_SHIFT : 0);
            }
        }
    }
    if (y != NULL) {
        v8_mask negate = v8_test(v8_load(tags), v8_set1(1));
        V8_UNROLL
        for (int c = 0; c < KD; c++) {
            V8_UNROLL
            for (int j = 0; j < FPX8_LIMBS; j++) {
                y->c[c].l[j] = v8_neg_masked(negate, y->c[c].l[j]);
            }
        }
    }
}

/* Lanes of a row that are infinite, given its x. */
V8_FN v8_mask KN(infinite_lanes)(const KN(coord) * x, const uint64_t *tags, size_t record_bytes)
{
    v8 any = x->c[0].l[0];
    V8_UNROLL
    for (int c = 0; c < KD; c++) {
        V8_UNROLL
        for (int j = 0; j < FPX8_LIMBS; j++) {
            any = v8_or(any, x->c[c].l[j]);
        }
    }
    v8_mask zero = v8_testn(any, any);
    /* some curves have points with x = 0: the whole record decides */
    return __builtin_expect(zero != 0, 0) ? zero_records(zero, tags, record_bytes) : 0;
}

V8_FN size_t KN(record_bytes)(point_source from)
{
    return from == FROM_BASES ? (size_t)KN(BASE_BYTES) : sizeof(KN(point));
}

/* The sums of a group's lanes to their places. */
static void KN(write_sums)(const KN(workspace) * ws, const struct sum_group *g)
{
    KN(block) b = ws->blocks[g->block];
    const v8 zero = v8_zero();
    v8_mask infinite = ws->infinite[g->block];
    v8 w[2 * KN(POINT_COORD_WORDS)];
    for (int c = 0; c < KD; c++) {
        fpx8 *x = &b.x.c[c], *y = &b.y.c[c];
        normalise(x, OUT_X_TIMES);
        normalise(y, OUT_Y_TIMES);
#if FPX8_LIMBS == 5
        fpx8_to_words(w + FP_LIMBS * c, x);
        fpx8_to_words(w + FP_LIMBS * (KD + c), y);
#else
        memcpy(w + FPX8_LIMBS * c, x, sizeof *x);
        memcpy(w + FPX8_LIMBS * (KD + c), y, sizeof *y);
#endif
    }
    for (int k = 0; k < 2 * KN(POINT_COORD_WORDS); k++) {
        w[k] = v8_blend(infinite, w[k], zero);
    }
    for (size_t k = 0; k < 2 * KN(POINT_COORD_WORDS); k += 8) {
        scatter_words(g->out, g->n_lanes, 8 * k, w + k);
    }
}

/* A row that has no partner in the first round, to its block. */
V8_FN void KN(convert)(KN(workspace) * ws, point_source from, const uint64_t *tags, uint32_t out)
{
    KN(block) *b = &ws->blocks[out];
    KN(load)(&b->x, &b->y, from, tags);
    ws->infinite[out] = KN(infinite_lanes)(&b->x, tags, KN(record_bytes)(from));
    for (int c = 0; c < KD; c++) {
        fpx8_carry(&b->y.c[c]);
    }
}

/* ---- the forward pass ---- */

/* Divisor of a step, once dx is known. In G2 its norm, two steps at a time; dx is carried. */
V8_FN void KN(divisors)(KN(step) * s)
{
#if KD == 2
    fpx8_sqr2_sum(&s[0].divisor, &s[0].dx.c[0], &s[0].dx.c[1], &s[1].divisor, &s[1].dx.c[0],
                  &s[1].dx.c[1]);
#else
    (void)s;
#endif
}

V8_FN fpx8 *KN(dx)(KN(step) * s, int c)
{
#if KD == 2
    return &s->dx.c[c];
#else
    (void)c;
    return &s->divisor;
#endif
}

/* dx of a step, raw to what the step keeps; 1 in the lanes of ones. */
V8_FN void KN(keep_dx)(KN(step) * s, KN(coord) * dx, v8_mask ones)
{
    if (__builtin_expect(ones != 0, 0)) {
        KN(coord) one;
        fpx8_set_one(&one.c[0]);
        if (KD == 2) {
            fpx8_set_zero(&one.c[KD - 1]);
        }
        for (int c = 0; c < KD; c++) {
            fpx8_blend(&dx->c[c], ones, &dx->c[c], &one.c[c]);
        }
    }
    V8_UNROLL
    for (int c = 0; c < KD; c++) {
        if (KD == 1) {
            fpx8_carry_digits(&dx->c[c]);
        } else {
            fpx8_carry(&dx->c[c]);
        }
        *KN(dx)(s, c) = dx->c[c];
    }
}

V8_FN void KN(forward_step)(KN(workspace) * ws, point_source from, const struct sum_plan *plan,
                            size_t k)
{
    const step_rows *r = &ws->rows[k];
    KN(coord) ta, tb, dx;
    const KN(coord) *xa = &ta, *xb = &tb;
    step_marks m = {0, 0, 0, 0};
    if (from == FROM_BLOCKS) {
        xa = &ws->blocks[r->a].x;
        xb = &ws->blocks[r->b].x;
        m.a_infinite = ws->infinite[r->a];
        m.b_infinite = ws->infinite[r->b];
    } else {
        const uint64_t *a = plan->tags[r->a], *b = plan->tags[r->b];
        KN(load)(&ta, NULL, from, a);
        KN(load)(&tb, NULL, from, b);
        m.a_infinite = KN(infinite_lanes)(xa, a, KN(record_bytes)(from));
        m.b_infinite = KN(infinite_lanes)(xb, b, KN(record_bytes)(from));
    }
    V8_UNROLL
    for (int c = 0; c < KD; c++) {
        fpx8_sub_limbs(&dx.c[c], &xb->c[c], &xa->c[c], ws->times.dx);
    }
    KN(keep_dx)(&ws->steps[k], &dx, m.a_infinite | m.b_infinite);
    ws->marks[k] = m;
}

/* prefix[k + CHAINS] = prefix[k]·divisor[k] for CHAINS steps from k on. */
V8_FN void KN(multiply_up)(KN(workspace) * ws, size_t k)
{
    for (size_t i = k; i < k + KN(CHAINS); i += 2) {
        fpx8_mul2_digits(&ws->prefix[i + KN(CHAINS)], &ws->prefix[i], &ws->steps[i].divisor,
                         &ws->prefix[i + KN(CHAINS) + 1], &ws->prefix[i + 1],
                         &ws->steps[i + 1].divisor);
    }
}

V8_FN void KN(forward)(KN(workspace) * ws, point_source from, const struct sum_plan *plan, size_t n)
{
    for (size_t k = 0; k < n; k += KN(CHAINS)) {
        V8_UNROLL
        for (size_t i = 0; i < KN(CHAINS); i++) {
            KN(forward_step)(ws, from, plan, k + i);
        }
        KN(divisors)(&ws->steps[k]);
        KN(multiply_up)(ws, k);
    }
}

/* The product of all divisors is zero: find the steps at fault and give their lanes other divisors;
 * then all products again. Rare, so the source of the points is not a constant here. */
static void KN(mend)(KN(workspace) * ws, point_source from, const struct sum_plan *plan, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        KN(step) *s = &ws->steps[k];
        v8_mask zero = fpx8_is_zero(&s->divisor);
        if (zero == 0) {
            continue;
        }
        const step_rows *r = &ws->rows[k];
        KN(block) a, b;
        KN(coord) dx;
        v8_mask opposite = zero;
        switch (from) {
        case FROM_BLOCKS:
            a = ws->blocks[r->a];
            b = ws->blocks[r->b];
            break;
        case FROM_POINTS:
            KN(load)(&a.x, &a.y, FROM_POINTS, plan->tags[r->a]);
            KN(load)(&b.x, &b.y, FROM_POINTS, plan->tags[r->b]);
            break;
        case FROM_BASES:
            KN(load)(&a.x, &a.y, FROM_BASES, plan->tags[r->a]);
            KN(load)(&b.x, &b.y, FROM_BASES, plan->tags[r->b]);
            break;
        }
        /* ya + yb: zero for opposite points, 2y for equal ones */
        for (int c = 0; c < KD; c++) {
            fpx8 sum, nothing;
            fpx8_add(&sum, &a.y.c[c], &b.y.c[c]);
            fpx8_set_zero(&nothing);
            fpx8_sub(&sum, &sum, &nothing, DY_TIMES);
            fpx8_fold_top(&sum);
            fpx8_carry(&sum);
            opposite &= fpx8_is_zero(&sum);
            for (int j = 0; j < FPX8_LIMBS; j++) { /* digits to carried */
                dx.c[c].l[j] = v8_and(KN(dx)(s, c)->l[j], v8_set1(V8_LOW52));
            }
            fpx8_blend(&dx.c[c], zero, &dx.c[c], &sum);
        }
        ws->marks[k].doubled = zero & (v8_mask)~opposite;
        ws->marks[k].opposite = opposite;
        KN(keep_dx)(s, &dx, opposite);
    }
    for (size_t k = 0; k < n; k += KN(CHAINS)) {
        KN(divisors)(&ws->steps[k]);
        KN(multiply_up)(ws, k);
    }
}

/* ---- the backward pass ---- */

/* 3xa²: the numerator of the slope where a point is doubled. Raw. */
static void KN(tangent)(KN(coord) * o, const KN(coord) * xa)
{
    KN(coord) x, t;
    for (int c = 0; c < KD; c++) {
        fpx8_set_zero(&t.c[c]);
        fpx8_sub(&x.c[c], &xa->c[c], &t.c[c], DX_TIMES); /* not negative */
        fpx8_carry(&x.c[c]);
    }
#if KD == 1
    fpx8_sqr(&t.c[0], &x.c[0]);
#else
    fpx8 sum, difference, twice;
    fpx8_add(&sum, &x.c[0], &x.c[1]);
    fpx8_sub(&difference, &x.c[0], &x.c[1], 2 * DX_TIMES);
    fpx8_add(&twice, &x.c[0], &x.c[0]);
    fpx8_carry_digits(&sum);
    fpx8_carry_digits(&difference);
    fpx8_carry_digits(&twice);
    fpx8_mul2(&t.c[0], &sum, &difference, &t.c[1], &twice, &x.c[1]);
#endif
    for (int c = 0; c < KD; c++) {
        fpx8_add(&o->c[c], &t.c[c], &t.c[c]);
        fpx8_add(&o->c[c], &o->c[c], &t.c[c]);
    }
}

/* What a step needs besides what the forward pass left. */
typedef struct {
    KN(coord) xa_store, xa_minus; /* place for xa; - xa - xb (plus a multiple of p) */
    KN(coord) ya_minus;           /* - ya, raw */
    KN(coord) numerator, slope;   /* digits; carried */
    KN(coord) x3, difference;     /* x of the sum; xa - x3, digits */
    fpx8 inverse;                 /* of the divisor, digits */
    const KN(coord) * xa;
} KN(work);

V8_FN void KN(prepare)(KN(work) * w, const KN(workspace) * ws, point_source from,
                       const struct sum_plan *plan, size_t k)
{
    const step_rows *r = &ws->rows[k];
    KN(block) tb;
    KN(coord) ya;
    const KN(coord) *xb = &tb.x, *yb = &tb.y, *pya = &ya;
    if (from == FROM_BLOCKS) {
        w->xa = &ws->blocks[r->a].x;
        pya = &ws->blocks[r->a].y;
        xb = &ws->blocks[r->b].x;
        yb = &ws->blocks[r->b].y;
    } else {
        w->xa = &w->xa_store;
        KN(load)(&w->xa_store, &ya, from, plan->tags[r->a]);
        KN(load)(&tb.x, &tb.y, from, plan->tags[r->b]);
    }
    V8_UNROLL
    for (int c = 0; c < KD; c++) {
        fpx8_add(&w->xa_minus.c[c], &w->xa->c[c], &xb->c[c]);
        neg_limbs(&w->xa_minus.c[c], &w->xa_minus.c[c], ws->times.x3);
        fpx8_neg(&w->ya_minus.c[c], &pya->c[c], 0);
        fpx8_sub_limbs(&w->numerator.c[c], &yb->c[c], &pya->c[c], ws->times.dy);
    }
    v8_mask doubled = ws->marks[k].doubled;
    if (__builtin_expect(doubled != 0, 0)) {
        KN(coord) t;
        KN(tangent)(&t, w->xa);
        for (int c = 0; c < KD; c++) {
            fpx8_blend(&w->numerator.c[c], doubled, &w->numerator.c[c], &t.c[c]);
        }
    }
    V8_UNROLL
    for (int c = 0; c < KD; c++) {
        fpx8_carry_digits(&w->numerator.c[c]);
    }
}

/* The products of two steps, in the order of the backward pass; between two calls with the same
 * steps those of the other steps come. */
#if KD == 1
V8_FN void KN(slopes)(KN(work) * w, KN(step) * s, const multiples *times)
{
    (void)s;
    (void)times;
    fpx8_mul2(&w[0].slope.c[0], &w[0].numerator.c[0], &w[0].inverse, &w[1].slope.c[0],
              &w[1].numerator.c[0], &w[1].inverse);
}

V8_FN void KN(x_sums)(KN(work) * w, const multiples *times)
{
    (void)times;
#if FPX8_LIMBS == 5
    fpx8_sqr2_add_folded(&w[0].x3.c[0], &w[0].slope.c[0], &w[0].xa_minus.c[0], &w[1].x3.c[0],
                         &w[1].slope.c[0], &w[1].xa_minus.c[0]);
#else
    fpx8_sqr2_add(&w[0].x3.c[0], &w[0].slope.c[0], &w[0].xa_minus.c[0], &w[1].x3.c[0],
                  &w[1].slope.c[0], &w[1].xa_minus.c[0]);
#endif
}

V8_FN void KN(y_sums)(KN(coord) * y0, KN(coord) * y1, KN(work) * w, const multiples *times)
{
    (void)times;
    fpx8_mul2_add(&y0->c[0], &w[0].slope.c[0], &w[0].difference.c[0], &w[0].ya_minus.c[0],
                  &y1->c[0], &w[1].slope.c[0], &w[1].difference.c[0], &w[1].ya_minus.c[0]);
}
#else
/* numerator·conj(dx), then times the inverse of the norm. */
V8_FN void KN(slopes)(KN(work) * w, KN(step) * s, const multiples *times)
{
    for (int i = 0; i < 2; i++) {
        fpx8 minus;
        const KN(coord) *n = &w[i].numerator;
        neg_limbs(&minus, &s[i].dx.c[1], times->neg);
        fpx8_carry_digits(&minus);
        const fpx8_product p[2] = {
            {&w[i].slope.c[0], {&n->c[0], &n->c[1]}, {&s[i].dx.c[0], &s[i].dx.c[1]}, NULL, false},
            {&w[i].slope.c[1], {&n->c[1], &n->c[0]}, {&s[i].dx.c[0], &minus}, NULL, false}};
        fpx8_mul2_sum_digits(p);
    }
    for (int i = 0; i < 2; i++) {
        fpx8_mul2(&w[i].slope.c[0], &w[i].slope.c[0], &w[i].inverse, &w[i].slope.c[1],
                  &w[i].slope.c[1], &w[i].inverse);
    }
}

/* (λ0 + λ1)(λ0 - λ1) and 2λ0·λ1. */
V8_FN void KN(x_sums)(KN(work) * w, const multiples *times)
{
    for (int i = 0; i < 2; i++) {
        fpx8 sum, difference, twice;
        const fpx8 *l = w[i].slope.c;
        fpx8_add(&sum, &l[0], &l[1]);
        fpx8_sub_limbs(&difference, &l[0], &l[1], times->slope);
        fpx8_add(&twice, &l[0], &l[0]);
        fpx8_carry_digits(&sum);
        fpx8_carry_digits(&difference);
        fpx8_carry_digits(&twice);
#if FPX8_LIMBS == 5
        fpx8_mul2_add_folded(&w[i].x3.c[0], &sum, &difference, &w[i].xa_minus.c[0], &w[i].x3.c[1],
                             &twice, &l[1], &w[i].xa_minus.c[1]);
#else
        fpx8_mul2_add(&w[i].x3.c[0], &sum, &difference, &w[i].xa_minus.c[0], &w[i].x3.c[1], &twice,
                      &l[1], &w[i].xa_minus.c[1]);
#endif
    }
}

V8_FN void KN(y_sums)(KN(coord) * y0, KN(coord) * y1, KN(work) * w, const multiples *times)
{
    KN(coord) * y[2] = {y0, y1};
    for (int i = 0; i < 2; i++) {
        fpx8 minus;
        const fpx8 *l = w[i].slope.c, *d = w[i].difference.c;
        neg_limbs(&minus, &l[1], times->slope);
        fpx8_carry_digits(&minus);
        const fpx8_product p[2] = {
            {&y[i]->c[0], {&d[0], &d[1]}, {&l[0], &minus}, &w[i].ya_minus.c[0], true},
            {&y[i]->c[1], {&d[1], &d[0]}, {&l[0], &l[1]}, &w[i].ya_minus.c[1], true}};
        fpx8_mul2_sum_add(p);
    }
}
#endif

/* Exceptional lanes of a sum that has been formed as if they were not. */
static void KN(mend_sum)(KN(workspace) * ws, const KN(work) * w, point_source from,
                         const struct sum_plan *plan, size_t k, const KN(coord) * xa)
{
    const step_rows *r = &ws->rows[k];
    const step_marks *m = &ws->marks[k];
    KN(block) *o = &ws->blocks[r->out], b;
    switch (from) {
    case FROM_BLOCKS:
        b = ws->blocks[r->b];
        break;
    case FROM_POINTS:
        KN(load)(&b.x, &b.y, FROM_POINTS, plan->tags[r->b]);
        break;
    case FROM_BASES:
        KN(load)(&b.x, &b.y, FROM_BASES, plan->tags[r->b]);
        break;
    }
    for (int c = 0; c < KD; c++) {
        fpx8 ya;
        fpx8_neg(&ya, &w->ya_minus.c[c], 0);
        fpx8_carry(&ya);
        fpx8_carry(&b.y.c[c]);
        fpx8_blend(&o->x.c[c], m->b_infinite, &o->x.c[c], &xa->c[c]);
        fpx8_blend(&o->y.c[c], m->b_infinite, &o->y.c[c], &ya);
        fpx8_blend(&o->x.c[c], m->a_infinite, &o->x.c[c], &b.x.c[c]);
        fpx8_blend(&o->y.c[c], m->a_infinite, &o->y.c[c], &b.y.c[c]);
    }
    ws->infinite[r->out] = (m->a_infinite & m->b_infinite) | m->opposite;
}

/* The sums of a batch of n steps; inverse: of each chain's product of divisors. */
V8_FN void KN(backward)(KN(workspace) * ws, point_source from, const struct sum_plan *plan,
                        size_t n, fpx8 *inverse)
{
    KN(work) w[KN(CHAINS)];
    for (size_t k = n; k > 0;) {
        k -= KN(CHAINS);
        KN(step) *s = &ws->steps[k];
        fetch_some(&ws->ahead, KN(CHAINS));
        for (int i = 0; i < KN(CHAINS); i++) {
            KN(prepare)(&w[i], ws, from, plan, k + (size_t)i);
        }
        for (int i = 0; i < KN(CHAINS); i += 2) {
            fpx8_mul2_digits(&w[i].inverse, &inverse[i], &ws->prefix[k + (size_t)i],
                             &w[i + 1].inverse, &inverse[i + 1], &ws->prefix[k + (size_t)i + 1]);
        }
        for (int i = 0; i < KN(CHAINS); i += 2) {
            fpx8_mul2_digits(&inverse[i], &inverse[i], &s[i].divisor, &inverse[i + 1],
                             &inverse[i + 1], &s[i + 1].divisor);
        }
        for (int i = 0; i < KN(CHAINS); i += 2) {
            KN(slopes)(&w[i], &s[i], &ws->times);
        }
        for (int i = 0; i < KN(CHAINS); i += 2) {
            KN(x_sums)(&w[i], &ws->times);
        }
        KN(coord) xa[KN(CHAINS)]; /* the sum may lie where a lies */
        for (int i = 0; i < KN(CHAINS); i++) {
            KN(block) *o = &ws->blocks[ws->rows[k + (size_t)i].out];
            if (any_marks(&ws->marks[k + (size_t)i])) {
                xa[i] = *w[i].xa;
            }
            V8_UNROLL
            for (int c = 0; c < KD; c++) {
                fpx8_sub_limbs(&w[i].difference.c[c], &w[i].xa->c[c], &w[i].x3.c[c], ws->times.dx);
                fpx8_carry_digits(&w[i].difference.c[c]);
            }
            o->x = w[i].x3;
            ws->infinite[ws->rows[k + (size_t)i].out] = 0;
        }
        for (int i = 0; i < KN(CHAINS); i += 2) {
            KN(y_sums)
            (&ws->blocks[ws->rows[k + (size_t)i].out].y,
             &ws->blocks[ws->rows[k + (size_t)i + 1].out].y, &w[i], &ws->times);
        }
        for (int i = 0; i < KN(CHAINS); i++) {
            if (__builtin_expect(any_marks(&ws->marks[k + (size_t)i]), 0)) {
                KN(mend_sum)(ws, &w[i], from, plan, k + (size_t)i, &xa[i]);
            }
        }
    }
}

/* ---- rounds ---- */

/* inverse[c] = 1 / the product of chain c, which stands at prefix[n + c]. False if one is zero. */
static bool KN(invert_chains)(fpx8 *inverse, const fpx8 *prefix)
{
#if KD == 1
    fpx8 low, high, all, t;
    fpx8_mul2(&low, &prefix[0], &prefix[1], &high, &prefix[2], &prefix[3]);
    fpx8_mul(&all, &low, &high);
    if (!invert_lanes(&t, &all)) {
        return false;
    }
    fpx8_mul2(&high, &t, &high, &low, &t, &low); /* 1/low, 1/high */
    fpx8_mul2(&inverse[0], &high, &prefix[1], &inverse[1], &high, &prefix[0]);
    fpx8_mul2(&inverse[2], &low, &prefix[3], &inverse[3], &low, &prefix[2]);
#else
    fpx8 all, t;
    fpx8_mul(&all, &prefix[0], &prefix[1]);
    if (!invert_lanes(&t, &all)) {
        return false;
    }
    fpx8_mul2(&inverse[0], &t, &prefix[1], &inverse[1], &t, &prefix[0]);
#endif
    return true;
}

/* The additions of ws->rows[0 … n), n at most BATCH and a multiple of CHAINS. One body for each
 * source of points. */
V8_FN void KN(batch)(KN(workspace) * ws, point_source from, const struct sum_plan *plan, size_t n)
{
    fpx8 inverse[KN(CHAINS)];
    for (size_t c = 0; c < KN(CHAINS); c++) {
        fpx8_set_one(&ws->prefix[c]);
    }
    KN(forward)(ws, from, plan, n);
    if (!KN(invert_chains)(inverse, &ws->prefix[n])) {
        KN(mend)(ws, from, plan, n);
        KN(invert_chains)(inverse, &ws->prefix[n]);
    }
    KN(backward)(ws, from, plan, n, inverse);
}

V8_NOINLINE void KN(batch_of_bases)(KN(workspace) * ws, const struct sum_plan *plan, size_t n)
{
    KN(batch)(ws, FROM_BASES, plan, n);
}

V8_NOINLINE void KN(batch_of_points)(KN(workspace) * ws, const struct sum_plan *plan, size_t n)
{
    KN(batch)(ws, FROM_POINTS, plan, n);
}

V8_NOINLINE void KN(batch_of_blocks)(KN(workspace) * ws, const struct sum_plan *plan, size_t n)
{
    KN(batch)(ws, FROM_BLOCKS, plan, n);
}

/* The n additions of ws->list, in batches of equal size. */
static void KN(run)(KN(workspace) * ws, point_source from, const struct sum_plan *plan, size_t n)
{
    uint32_t pad = from == FROM_BLOCKS ? SUM_BLOCKS_MAX : (uint32_t)plan->n_rows;
    for (size_t i = 0; i < KN(CHAINS); i++) {
        ws->list[n + i] = (step_rows){pad, pad, SUM_BLOCKS_MAX};
    }
    size_t n_batches = (n + KN(BATCH) - 1) / KN(BATCH);
    size_t size = n_batches == 0 ? 0 : (n + n_batches - 1) / n_batches;
    size = (size + KN(CHAINS) - 1) / KN(CHAINS) * KN(CHAINS);
    for (size_t k = 0; k < n; k += size) {
        size_t m = n - k < size ? (n - k + KN(CHAINS) - 1) / KN(CHAINS) * KN(CHAINS) : size;
        ws->rows = ws->list + k;
        switch (from) {
        case FROM_BASES:
            KN(batch_of_bases)(ws, plan, m);
            break;
        case FROM_POINTS:
            KN(batch_of_points)(ws, plan, m);
            break;
        case FROM_BLOCKS:
            KN(batch_of_blocks)(ws, plan, m);
            break;
        }
    }
}

/* All sums of a plan, to where its units want them. */
static void KN(add_up)(KN(workspace) * ws, point_source from, struct sum_plan *plan)
{
    size_t n = 0;
    for (size_t k = 0; k < plan->n_groups; k++) {
        struct sum_group *g = &plan->groups[k];
        uint32_t half = (g->n_rows + 1) / 2;
        for (uint32_t i = 0; i < g->n_rows - half; i++) {
            ws->list[n++] = (step_rows){g->row + i, g->row + i + half, g->block + i};
        }
        if (g->n_rows % 2 != 0) {
            KN(convert)(ws, from, plan->tags[g->row + half - 1], g->block + half - 1);
        }
        g->n_rows = half;
    }
    KN(run)(ws, from, plan, n);
    do {
        n = 0;
        for (size_t k = 0; k < plan->n_groups; k++) {
            struct sum_group *g = &plan->groups[k];
            uint32_t half = (g->n_rows + 1) / 2;
            for (uint32_t i = 0; i < g->n_rows - half; i++) {
                ws->list[n++] = (step_rows){g->block + i, g->block + i + half, g->block + i};
            }
            g->n_rows = half;
        }
        KN(run)(ws, FROM_BLOCKS, plan, n);
    } while (n > 0);
    for (size_t k = 0; k < plan->n_groups; k++) {
        KN(write_sums)(ws, &plan->groups[k]);
    }
}

/* The pieces of long segments: sum them until each segment that is cut up completely is written,
 * and the one still being cut has a single slot. */
static void KN(join_pieces)(KN(workspace) * ws, char *out, struct sum_plan *plan)
{
    struct sum_cutter *c = &ws->cutter;
    ws->ahead.n = ws->ahead.at = 0;
    bool more;
    do {
        size_t n = 0, n_kept = 0;
        uint32_t n_slots = 0;
        more = false;
        for (size_t k = 0; k < c->n_pieces; k++) {
            struct sum_pieces p = c->pieces[k];
            uint32_t left = p.end - p.first, parts = (left + SUM_PIECE - 1) / SUM_PIECE;
            bool whole = parts == 1 && p.segment < c->segment;
            if (!whole) {
                c->pieces[n_kept].segment = p.segment;
                c->pieces[n_kept].first = n_slots;
                c->pieces[n_kept++].end = n_slots + parts;
                more |= parts > 1;
            }
            for (uint32_t first = p.first; first < p.end; n++) {
                uint32_t length = p.end - first < SUM_PIECE ? p.end - first : SUM_PIECE;
                ws->units[n].entries = &ws->slot_entries[first];
                ws->units[n].n = length;
                ws->units[n].out = whole ? out + p.segment * sizeof(KN(point))
                                         : (char *)&ws->slots[1 - ws->side][n_slots++];
                first += length;
            }
        }
        c->n_pieces = n_kept;
        c->n_slots = n_slots;
        sum_plan_make(plan, ws->units, n, (const char *)ws->slots[ws->side], sizeof(KN(point)));
        KN(add_up)(ws, FROM_POINTS, plan);
        ws->side = 1 - ws->side;
    } while (more);
}

/* Lay out the next plan. */
static void KN(next_plan)(KN(workspace) * ws, struct sum_plan *plan, char *out, const char *bases,
                          size_t stride)
{
    size_t n = sum_cut(&ws->cutter, ws->units, KN(POINTS), out, (char *)ws->slots[ws->side],
                       sizeof(KN(point)));
    sum_plan_make(plan, ws->units, n, bases, stride);
}

static void KN(segment_sums)(void *out, const void *bases, bool bases_are_kernel_points,
                             const uint32_t *entries, const uint32_t *bounds, size_t n_segments,
                             void *workspace)
{
    KN(workspace) *ws = (KN(workspace) *)workspace;
    point_source from = bases_are_kernel_points ? FROM_POINTS : FROM_BASES;
    size_t stride = KN(record_bytes)(from);
    struct sum_cutter *c = &ws->cutter;
    c->entries = entries;
    c->bounds = bounds;
    c->n_segments = n_segments;
    c->segment = c->n_pieces = 0;
    c->taken = c->n_slots = 0;
    ws->side = 0;
    for (uint32_t i = 0; i < SUM_SLOTS; i++) {
        ws->slot_entries[i] = i << 1;
    }
    memset(&ws->blocks[SUM_BLOCKS_MAX], 0, sizeof ws->blocks[0]);
    ws->infinite[SUM_BLOCKS_MAX] = 0xff;
    multiples_set(&ws->times);
    fetch_ahead_set(&ws->ahead, bases, stride);

    /* one plan ahead, so that its points are fetched while the one before it is added up */
    int now = 0;
    KN(next_plan)(ws, &ws->plans[now], out, bases, stride);
    while (ws->plans[now].n_groups > 0) {
        struct sum_plan *plan = &ws->plans[now], *next = &ws->plans[1 - now];
        KN(next_plan)(ws, next, out, bases, stride);
        ws->ahead.tags = &next->tags[0][0];
        ws->ahead.n = 8 * next->n_rows;
        ws->ahead.at = 0;
        ws->ahead.per_step = plan->n_steps == 0 ? 0 : ws->ahead.n / plan->n_steps + 1;
        KN(add_up)(ws, from, plan);
        while (next->n_groups == 0 && c->n_slots > 0) {
            KN(join_pieces)(ws, out, plan);
            if (c->segment < n_segments) {
                KN(next_plan)(ws, next, out, bases, stride);
            }
        }
        now = 1 - now;
    }
}

static void KN(to_affine)(void *out, const void *points, size_t n)
{
    enum { WORDS = 2 * KN(COORD_WORDS) };
    uint64_t x_factor[FPX8_LIMBS], y_factor[FPX8_LIMBS], tags[8] V8_ALIGN;
    const char *in = (const char *)points;
    char *to = (char *)out;
    power_of_half(x_factor, X_SHIFT);
    power_of_half(y_factor, Y_SHIFT);
    for (size_t k = 0; k < n; k += 8) {
        size_t m = n - k < 8 ? n - k : 8;
        for (size_t j = 0; j < 8; j++) {
            const char *p =
                j < m ? in + (k + j) * sizeof(KN(point)) : (const char *)sum_zero_record;
            tags[j] = sum_tag(p, 0);
        }
        KN(block) b;
        v8 w[(WORDS + 7) / 8 * 8];
        KN(load)(&b.x, &b.y, FROM_POINTS, tags);
        v8_mask infinite = KN(infinite_lanes)(&b.x, tags, sizeof(KN(point)));
        for (int c = 0; c < KD; c++) {
            fpx8_canonical_times(&b.x.c[c], &b.x.c[c], x_factor);
            fpx8_canonical_times(&b.y.c[c], &b.y.c[c], y_factor);
            fpx8_to_words(w + FP_LIMBS * c, &b.x.c[c]);
            fpx8_to_words(w + KN(COORD_WORDS) + FP_LIMBS * c, &b.y.c[c]);
        }
        for (int i = 0; i < (WORDS + 7) / 8 * 8; i++) {
            w[i] = i < WORDS ? v8_blend(infinite, w[i], v8_zero()) : v8_zero();
        }
        for (size_t i = 0; i < WORDS; i += 8) {
            v8_mask words = (v8_mask)(WORDS - i < 8 ? (1 << (WORDS - i)) - 1 : 0xff);
            v8_transpose(w + i);
            for (size_t j = 0; j < m; j++) {
                v8_storeu_masked(to + (k + j) * KN(BASE_BYTES) + 8 * i, words, w[i + j]);
            }
        }
    }
}

#undef KN
#undef KD
