/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The three kernels of point_add.h over one coordinate field. Include it once per group after
 * defining
 *   PA(name)      kernel and function names, for example g1_##name
 *   CF(name)      verbs of the coordinate field
 *   CF_TYPE       its type
 *   PA_BLOCKS     blocks per SM that prefix and finish are compiled for (bounds the registers)
 * and it undefines them at its end.
 *
 * Launch: blocks of CUZK_ADD_BLOCK threads, one thread per column of pairs; no shared memory.
 * Floor per pair: prefix 1 multiplication, inverse next to nothing, finish 4 and a square; bytes:
 * both x (prefix), both points, one prefix product and the sum (finish).
 * Slots without a second operand are left out: they need no inverse. Rare cases are classified in a
 * function that is not inlined, so that they cost the common path three comparisons and no
 * registers. */

/* Operands of a rare slot, and what the classification makes of them. */
typedef struct {
    CF_TYPE x1, y1, x2, y2;
    CF_TYPE denominator, numerator; /* of the slope */
    CF_TYPE x3, y3;                 /* the sum, where is_sum */
    bool is_sum;                    /* no slope: denominator is 1 */
} PA(rare_slot);

/* An infinite operand, or x1 = x2: sum at once, or slope of the tangent. Other operands (x = 0 and
 * finite) get the slope of the chord. */
static __device__ __noinline__ void PA(classify)(PA(rare_slot) * v)
{
    bool infinite1 = CF(is_zero)(&v->x1) && CF(is_zero)(&v->y1);
    bool infinite2 = CF(is_zero)(&v->x2) && CF(is_zero)(&v->y2);
    v->is_sum = true;
    CF(set_one)(&v->denominator);
    CF(set_zero)(&v->numerator);
    CF(set_zero)(&v->x3);
    CF(set_zero)(&v->y3);
    if (infinite1) {
        v->x3 = v->x2;
        v->y3 = v->y2;
        return;
    }
    if (infinite2) {
        v->x3 = v->x1;
        v->y3 = v->y1;
        return;
    }
    if (CF(eq)(&v->x1, &v->x2)) {
        if (!CF(eq)(&v->y1, &v->y2) || CF(is_zero)(&v->y1)) {
            return; /* opposite, or of order two */
        }
        CF_TYPE square;
        CF(sqr)(&square, &v->x1);
        CF(dbl)(&v->numerator, &square);
        CF(add)(&v->numerator, &v->numerator, &square);
        CF(dbl)(&v->denominator, &v->y1);
    } else {
        CF(sub)(&v->denominator, &v->x2, &v->x1);
        CF(sub)(&v->numerator, &v->y2, &v->y1);
    }
    v->is_sum = false;
}

static __device__ __forceinline__ void PA(read)(CF_TYPE *o, const void *array, size_t index)
{
    cuzk_read_words((uint64_t *)o, (const CF_TYPE *)array + index, sizeof(CF_TYPE) / 8);
}

static __device__ __forceinline__ void PA(write)(void *array, size_t index, const CF_TYPE *a)
{
    cuzk_write_words((CF_TYPE *)array + index, (const uint64_t *)a, sizeof(CF_TYPE) / 8);
}

/* Both operands of a slot: their coordinates' places and signs. */
typedef struct {
    const void *x, *y;    /* arrays of coordinates */
    size_t first, second; /* indices into both */
    bool negate_first, negate_second;
    bool is_single; /* no second operand: the sum is the first */
} PA(operands);

/* Where the point of an entry begins. */
static __device__ __forceinline__ size_t PA(gathered)(const cuzk_add_args &a, uint32_t entry)
{
    return 2 * (size_t)(entry >> 1 & 0x3fffffff) +
           ((entry & CUZK_ADD_IMAGE) != 0 ? a.at[1] : a.at[0]);
}

template <int SOURCE>
static __device__ __forceinline__ PA(operands) PA(locate)(const cuzk_add_args &a, uint32_t slot)
{
    PA(operands) p;
    if (SOURCE == CUZK_ADD_PAIRS) {
        p.x = a.in_x;
        p.y = a.in_y;
        p.first = (size_t)slot * 2;
        p.second = (size_t)slot * 2 + 1;
        p.negate_first = false;
        p.negate_second = false;
        p.is_single = false;
    } else {
        uint2 entry = __ldg((const uint2 *)a.list + slot);
        p.x = SOURCE == CUZK_ADD_GATHER ? a.bases : a.in_x;
        p.y = SOURCE == CUZK_ADD_GATHER ? (const CF_TYPE *)a.bases + 1 : a.in_y;
        p.first = SOURCE == CUZK_ADD_GATHER ? PA(gathered)(a, entry.x) : entry.x >> 1;
        p.second = SOURCE == CUZK_ADD_GATHER ? PA(gathered)(a, entry.y) : entry.y >> 1;
        p.negate_first = (entry.x & 1) != 0;
        p.negate_second = (entry.y & 1) != 0;
        p.is_single = entry.y == CUZK_ADD_NONE;
    }
    return p;
}

static __device__ __forceinline__ void PA(read_y)(CF_TYPE *o, const PA(operands) * p, size_t index,
                                                  bool negate)
{
    PA(read)(o, p->y, index);
    if (negate) {
        CF(neg)(o, o);
    }
}

template <int SOURCE> static __device__ __forceinline__ void PA(prefix)(const cuzk_add_args &a)
{
    uint32_t t = blockIdx.x * CUZK_ADD_BLOCK + threadIdx.x;
    if (t >= a.n_threads) {
        return;
    }
    CF_TYPE product;
    CF(set_one)(&product);
#pragma unroll 1
    for (uint32_t slot = t; slot < a.n_pairs; slot += a.n_threads) {
        PA(operands) p = PA(locate)<SOURCE>(a, slot);
        CF_TYPE x1, x2, d;
        if (p.is_single) {
            continue;
        }
        PA(read)(&x1, p.x, p.first);
        PA(read)(&x2, p.x, p.second);
        CF(sub)(&d, &x2, &x1);
        if (CF(is_zero)(&d) || CF(is_zero)(&x1) || CF(is_zero)(&x2)) {
            PA(rare_slot) v;
            v.x1 = x1;
            v.x2 = x2;
            PA(read_y)(&v.y1, &p, p.first, p.negate_first);
            PA(read_y)(&v.y2, &p, p.second, p.negate_second);
            PA(classify)(&v);
            d = v.denominator;
        }
        PA(write)(a.prefix, slot, &product);
        CF(mul)(&product, &product, &d);
    }
    PA(write)(a.totals, t, &product);
}

template <int SOURCE> static __device__ __forceinline__ void PA(finish)(const cuzk_add_args &a)
{
    uint32_t t = blockIdx.x * CUZK_ADD_BLOCK + threadIdx.x;
    if (t >= a.n_threads) {
        return;
    }
    CF_TYPE inverse; /* of the product of the denominators up to the current slot's */
    PA(read)(&inverse, a.totals, t);
    uint32_t rows = (a.n_pairs - 1 - t) / a.n_threads + 1;
#pragma unroll 1
    for (uint32_t row = rows; row-- > 0;) {
        uint32_t slot = row * a.n_threads + t;
        PA(operands) p = PA(locate)<SOURCE>(a, slot);
        CF_TYPE x1, y1, x2, y2, d, slope, x3;
        PA(read)(&x1, p.x, p.first);
        PA(read_y)(&y1, &p, p.first, p.negate_first);
        if (p.is_single) {
            PA(write)(a.out_x, slot, &x1);
            PA(write)(a.out_y, slot, &y1);
            continue;
        }
        PA(read)(&x2, p.x, p.second);
        PA(read_y)(&y2, &p, p.second, p.negate_second);
        CF(sub)(&d, &x2, &x1);
        bool rare = CF(is_zero)(&d) || CF(is_zero)(&x1) || CF(is_zero)(&x2);
        CF(sub)(&y2, &y2, &y1); /* the numerator from here on */
        PA(rare_slot) v;
        if (rare) {
            v.x1 = x1;
            v.x2 = x2;
            v.y1 = y1;
            CF(add)(&v.y2, &y2, &y1);
            PA(classify)(&v);
            d = v.denominator;
            y2 = v.numerator;
        }
        PA(read)(&slope, a.prefix, slot);
        CF(mul)(&slope, &slope, &inverse);
        CF(mul)(&inverse, &inverse, &d);
        CF(mul)(&slope, &slope, &y2);
        CF(sqr)(&x3, &slope);
        CF(sub)(&x3, &x3, &x1);
        CF(sub)(&x3, &x3, &x2);
        CF(sub)(&x1, &x1, &x3);
        CF(mul)(&slope, &slope, &x1);
        CF(sub)(&slope, &slope, &y1); /* y3 */
        if (rare && v.is_sum) {
            x3 = v.x3;
            slope = v.y3;
        }
        PA(write)(a.out_x, slot, &x3);
        PA(write)(a.out_y, slot, &slope);
    }
}

CUZK_KERNEL __launch_bounds__(CUZK_ADD_BLOCK, PA_BLOCKS) PA(add_prefix_gather)(cuzk_add_args a)
{
    PA(prefix)<CUZK_ADD_GATHER>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_ADD_BLOCK, PA_BLOCKS) PA(add_prefix_pairs)(cuzk_add_args a)
{
    PA(prefix)<CUZK_ADD_PAIRS>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_ADD_BLOCK, PA_BLOCKS) PA(add_finish_gather)(cuzk_add_args a)
{
    PA(finish)<CUZK_ADD_GATHER>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_ADD_BLOCK, PA_BLOCKS) PA(add_finish_pairs)(cuzk_add_args a)
{
    PA(finish)<CUZK_ADD_PAIRS>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_ADD_BLOCK, PA_BLOCKS) PA(add_prefix_listed)(cuzk_add_args a)
{
    PA(prefix)<CUZK_ADD_LISTED>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_ADD_BLOCK, PA_BLOCKS) PA(add_finish_listed)(cuzk_add_args a)
{
    PA(finish)<CUZK_ADD_LISTED>(a);
}

/* totals <- their inverses: one more level of prefix products, then one inversion per thread. */
CUZK_KERNEL __launch_bounds__(CUZK_ADD_BLOCK) PA(add_inverse)(cuzk_add_args a)
{
    uint32_t t = blockIdx.x * CUZK_ADD_BLOCK + threadIdx.x;
    if (t >= a.n_inverses) {
        return;
    }
    CF_TYPE product, total, out;
    CF(set_one)(&product);
#pragma unroll 1
    for (uint32_t i = t; i < a.n_threads; i += a.n_inverses) {
        PA(read)(&total, a.totals, i);
        PA(write)(a.total_prefix, i, &product);
        CF(mul)(&product, &product, &total);
    }
    CF(inv)(&product, &product);
    uint32_t rows = (a.n_threads - 1 - t) / a.n_inverses + 1;
#pragma unroll 1
    for (uint32_t row = rows; row-- > 0;) {
        uint32_t i = row * a.n_inverses + t;
        PA(read)(&total, a.totals, i);
        PA(read)(&out, a.total_prefix, i);
        CF(mul)(&out, &out, &product);
        CF(mul)(&product, &product, &total);
        PA(write)(a.totals, i, &out);
    }
}

#undef PA
#undef CF
#undef CF_TYPE
#undef PA_BLOCKS
