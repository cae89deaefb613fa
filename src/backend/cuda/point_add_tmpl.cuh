/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The three kernels of point_add.h over one coordinate field. Include it once per group after
 * defining
 *   PA(name)      kernel and function names, for example g1_##name
 *   CF(name)      verbs of the coordinate field
 *   CF_TYPE       its type
 *   PA_PRODUCT    o, a, b: *o = a·b, loose, for loose operands of type PA(held)
 *   PA_CALL       __noinline__ or __forceinline__: how that is called
 *   PA_IN_SHARED  whether values that live through multiplications lie in shared memory
 *   PA_BLOCKS     blocks per SM that prefix and finish are compiled for (bounds the registers)
 * and it undefines them at its end.
 *
 * Launch: blocks of CUZK_ADD_BLOCK threads, one thread per column of pairs.
 * Floor per pair: prefix 1 multiplication, inverse next to nothing, finish 4 and a square; bytes:
 * both x (prefix), both points, one prefix product and the sum (finish).
 * With PA_IN_SHARED registers hold one multiplication and nothing else, and coordinates are read
 * again (from cache) rather than kept: so twice as many warps fit, which hide the multiplier's
 * latency. Values between are loose (field/loose_ptx.h).
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

static __device__ __forceinline__ void PA(read_y_loose)(CF_TYPE *o, const PA(operands) * p,
                                                        size_t index, bool negate)
{
    PA(read)(o, p->y, index);
    if (negate) {
        CF(neg_loose)(o, o);
    }
}

#if PA_IN_SHARED
/* A value of this thread in shared memory: 16-byte pieces, one of each thread side by side. */
struct PA(held) {
    char *place;
    __device__ __forceinline__ void put(const CF_TYPE *a) const
    {
        cuzk_write_shared(place, (const uint64_t *)a, sizeof(CF_TYPE) / 8, PA_STRIDE);
    }
    __device__ __forceinline__ void get(CF_TYPE *o) const
    {
        cuzk_read_shared((uint64_t *)o, place, sizeof(CF_TYPE) / 8, PA_STRIDE);
    }
    /* the coordinates of an element of fp2 */
    __device__ __forceinline__ void c0(fp *o) const
    {
        cuzk_read_shared(o->l, place, FP_LIMBS, PA_STRIDE);
    }
    __device__ __forceinline__ void c1(fp *o) const
    {
        cuzk_read_shared(o->l, place + FP_LIMBS / 2 * PA_STRIDE, FP_LIMBS, PA_STRIDE);
    }
};
#define PA_HOLD(n)                                                                                 \
    __shared__ __align__(16) char memory[(n) * sizeof(CF_TYPE) * CUZK_ADD_BLOCK];                  \
    char *memory_here = memory + 16 * threadIdx.x
#define PA_HELD(name, i)                                                                           \
    const PA(held) name = {memory_here + (i) * sizeof(CF_TYPE) * CUZK_ADD_BLOCK}
#else
/* A value of this thread in registers. */
struct PA(held) {
    CF_TYPE *value;
    __device__ __forceinline__ void put(const CF_TYPE *a) const
    {
        *value = *a;
    }
    __device__ __forceinline__ void get(CF_TYPE *o) const
    {
        *o = *value;
    }
};
#define PA_HOLD(n)       CF_TYPE values[n]
#define PA_HELD(name, i) const PA(held) name = {&values[i]}
#endif

/* o = a·b */
static __device__ PA_CALL void PA(multiply)(PA(held) o, PA(held) a, PA(held) b)
{
    CF_TYPE t;
    PA_PRODUCT(&t, a, b);
    o.put(&t);
}

template <int SOURCE> static __device__ __forceinline__ void PA(prefix)(const cuzk_add_args &a)
{
    PA_HOLD(2);
    PA_HELD(product, 0);
    PA_HELD(denominator, 1);
    uint32_t t = blockIdx.x * CUZK_ADD_BLOCK + threadIdx.x;
    if (t >= a.n_threads) {
        return;
    }
    CF_TYPE u;
    CF(set_one)(&u);
    product.put(&u);
#pragma unroll 1
    for (uint32_t slot = t; slot < a.n_pairs; slot += a.n_threads) {
        PA(operands) p = PA(locate)<SOURCE>(a, slot);
        CF_TYPE x1, x2;
        if (p.is_single) {
            continue;
        }
        PA(read)(&x1, p.x, p.first);
        PA(read)(&x2, p.x, p.second);
        CF(sub_loose)(&u, &x2, &x1);
        if (CF(eq)(&x1, &x2) || CF(is_zero)(&x1) || CF(is_zero)(&x2)) {
            PA(rare_slot) v;
            v.x1 = x1;
            v.x2 = x2;
            PA(read_y)(&v.y1, &p, p.first, p.negate_first);
            PA(read_y)(&v.y2, &p, p.second, p.negate_second);
            PA(classify)(&v);
            u = v.denominator;
        }
        denominator.put(&u);
        product.get(&u);
        PA(write)(a.prefix, slot, &u);
        PA(multiply)(product, product, denominator);
    }
    product.get(&u);
    CF(reduce_loose)(&u, &u);
    PA(write)(a.totals, t, &u);
}

template <int SOURCE> static __device__ __forceinline__ void PA(finish)(const cuzk_add_args &a)
{
    PA_HOLD(3);
    PA_HELD(inverse, 0); /* of the product of the denominators up to the current slot's */
    PA_HELD(slope, 1);
    PA_HELD(factor, 2);
    uint32_t t = blockIdx.x * CUZK_ADD_BLOCK + threadIdx.x;
    if (t >= a.n_threads) {
        return;
    }
    CF_TYPE u;
    PA(read)(&u, a.totals, t);
    inverse.put(&u);
    uint32_t rows = (a.n_pairs - 1 - t) / a.n_threads + 1;
#pragma unroll 1
    for (uint32_t row = rows; row-- > 0;) {
        uint32_t slot = row * a.n_threads + t;
        PA(operands) p = PA(locate)<SOURCE>(a, slot);
        CF_TYPE x1, y1, x2, y2;
        if (p.is_single) {
            PA(read)(&x1, p.x, p.first);
            PA(read_y)(&y1, &p, p.first, p.negate_first);
            PA(write)(a.out_x, slot, &x1);
            PA(write)(a.out_y, slot, &y1);
            continue;
        }
        PA(read)(&u, a.prefix, slot);
        slope.put(&u);
        PA(read)(&x1, p.x, p.first);
        PA(read)(&x2, p.x, p.second);
        CF(sub_loose)(&u, &x2, &x1);
        bool rare = CF(eq)(&x1, &x2) || CF(is_zero)(&x1) || CF(is_zero)(&x2);
        PA(rare_slot) v;
        if (rare) {
            v.x1 = x1;
            v.x2 = x2;
            PA(read_y)(&v.y1, &p, p.first, p.negate_first);
            PA(read_y)(&v.y2, &p, p.second, p.negate_second);
            PA(classify)(&v);
            u = v.denominator;
        }
        factor.put(&u);
        PA(multiply)(slope, slope, inverse);
        PA(multiply)(inverse, inverse, factor);
        PA(read_y_loose)(&y1, &p, p.first, p.negate_first);
        PA(read_y_loose)(&y2, &p, p.second, p.negate_second);
        CF(sub_loose)(&u, &y2, &y1);
        if (rare) {
            u = v.numerator;
        }
        factor.put(&u);
        PA(multiply)(slope, slope, factor);
        slope.get(&u);
        CF(sqr_loose)(&u, &u);
#if PA_IN_SHARED
        PA(read)(&x1, p.x, p.first);
        PA(read)(&x2, p.x, p.second);
#endif
        CF(sub_loose)(&u, &u, &x1);
        CF(sub_loose)(&u, &u, &x2); /* below 1.77p + 2p */
        CF(reduce_sum)(&u, &u);
        if (rare && v.is_sum) {
            u = v.x3;
        }
        PA(write)(a.out_x, slot, &u);
        CF(sub_loose)(&u, &x1, &u);
        factor.put(&u);
        PA(multiply)(slope, slope, factor);
        slope.get(&u);
#if PA_IN_SHARED
        PA(read_y_loose)(&y1, &p, p.first, p.negate_first);
#endif
        CF(sub_loose)(&u, &u, &y1); /* at most 2p + p */
        CF(reduce_sum)(&u, &u);
        if (rare && v.is_sum) {
            u = v.y3;
        }
        PA(write)(a.out_y, slot, &u);
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

/* Copy number i: point_add.h. */
static __device__ __forceinline__ void PA(copy)(const cuzk_add_args &a, uint32_t i)
{
    PA(operands) p = {a.in_x, a.in_y, 2 * (size_t)i + 1, 0, false, false, true};
    if (a.copy_from != CUZK_ADD_PAIRS) {
        uint32_t entry = __ldg(a.list + 2 * (size_t)a.n_pairs + i);
        p.negate_first = (entry & 1) != 0;
        p.first = entry >> 1;
        if (a.copy_from == CUZK_ADD_GATHER) {
            p.x = a.bases;
            p.y = (const CF_TYPE *)a.bases + 1;
            p.first = PA(gathered)(a, entry);
        }
    }
    CF_TYPE x, y;
    PA(read)(&x, p.x, p.first);
    PA(read_y)(&y, &p, p.first, p.negate_first);
    PA(write)(a.out_x, (size_t)a.n_pairs + i, &x);
    PA(write)(a.out_y, (size_t)a.n_pairs + i, &y);
}

/* totals <- their inverses: one more level of prefix products, then one inversion per thread. The
 * blocks behind those copy. */
CUZK_KERNEL __launch_bounds__(CUZK_ADD_BLOCK) PA(add_inverse)(cuzk_add_args a)
{
    uint32_t inverting = (a.n_inverses + CUZK_ADD_BLOCK - 1) / CUZK_ADD_BLOCK;
    if (blockIdx.x >= inverting) {
        uint32_t i = (blockIdx.x - inverting) * CUZK_ADD_BLOCK + threadIdx.x;
        if (i < a.n_copies) {
            PA(copy)(a, i);
        }
        return;
    }
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
#undef PA_PRODUCT
#undef PA_CALL
#undef PA_IN_SHARED
#undef PA_HOLD
#undef PA_HELD
#undef PA_BLOCKS
