/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernels of bucket_reduce.h over one group. Include it once per group after defining
 *   BR(name)   kernel and function names and the group's own (curve/point_tmpl.h): g1_##name
 *   BR_TYPE    the coordinate field
 * and it undefines them at its end.
 *
 * points_spread is a copy, bound by memory. The folds are bound by the time that one addition
 * takes: a few in each thread, then seven one after the other. The additions are calls: copies of
 * them would not fit the instruction cache. Doubling an equal point is a call beside the addition,
 * not inside it: compiled into one function, nvcc 13.0's code for sm_90 read from address 0 there.
 */

static __device__ __noinline__ void BR(fold_double)(BR(xyzz) * o)
{
    BR(xyzz_dbl)(o, o);
}

static __device__ __noinline__ bool BR(fold_add_call)(BR(xyzz) * o, const BR(xyzz) * a)
{
    return BR(xyzz_add_unless_equal)(o, o, a);
}

static __device__ __noinline__ bool BR(fold_add_affine_call)(BR(xyzz) * o, const BR(affine) * a)
{
    return BR(xyzz_add_affine_unless_equal)(o, o, a);
}

static __device__ __forceinline__ void BR(copy_coordinate)(void *to, size_t i, const void *from,
                                                           size_t j)
{
    BR_TYPE c;
    cuzk_read_words((uint64_t *)&c, (const BR_TYPE *)from + j, sizeof(c) / 8);
    cuzk_write_words((BR_TYPE *)to + i, (const uint64_t *)&c, sizeof(c) / 8);
}

CUZK_KERNEL __launch_bounds__(CUZK_REDUCE_BLOCK) BR(points_spread)(cuzk_spread_args a)
{
    uint32_t out = blockIdx.x * CUZK_REDUCE_BLOCK + threadIdx.x, b;
    if (out >= a.n_buckets) {
        return;
    }
    uint32_t part = out >> a.lg_part;
    if (part < a.n_narrow) {
        b = (part << a.lg_buckets) + (out - (part << a.lg_part));
    } else { /* wide windows, which stand as they are */
        b = (a.n_narrow << a.lg_buckets) + (out - (a.n_narrow << a.lg_part));
    }
    uint32_t group = b / a.group_buckets;
    const uint32_t *before = a.before + b + group, *begin = a.begin + b + group;
    if (begin[0] != begin[1]) {
        bool is_sum = before[1] - before[0] > 1;
        size_t at = is_sum ? before[0] - begin[0] : a.pairs[group] + 2 * begin[0] - before[0];
        at += a.points_before[group];
        BR(copy_coordinate)(a.out_x, out, a.x, at);
        BR(copy_coordinate)(a.out_y, out, a.y, at);
        return;
    }
    BR_TYPE zero;
    memset(&zero, 0, sizeof(zero));
    cuzk_write_words((BR_TYPE *)a.out_x + out, (const uint64_t *)&zero, sizeof(zero) / 8);
    cuzk_write_words((BR_TYPE *)a.out_y + out, (const uint64_t *)&zero, sizeof(zero) / 8);
}

static __device__ __forceinline__ void BR(fold_point)(BR(xyzz) * sum, const void *x, const void *y,
                                                      size_t i)
{
    BR(affine) p;
    cuzk_read_words((uint64_t *)&p.x, (const BR_TYPE *)x + i, sizeof(BR_TYPE) / 8);
    cuzk_read_words((uint64_t *)&p.y, (const BR_TYPE *)y + i, sizeof(BR_TYPE) / 8);
    if (BR(fold_add_affine_call)(sum, &p)) {
        BR(fold_double)(sum);
    }
}

/* The sums of all threads of the block to out. The upper half hand theirs to the lower half, again
 * and again. */
static __device__ __forceinline__ void BR(fold_block)(BR(xyzz) * sum, void *out)
{
    __shared__ BR(xyzz) handed[CUZK_FOLD_BLOCK / 2];
    uint32_t t = threadIdx.x;
#pragma unroll 1
    for (uint32_t half = CUZK_FOLD_BLOCK / 2; half > 0; half /= 2) {
        if (t >= half && t < 2 * half) {
            handed[t - half] = *sum;
        }
        __syncthreads();
        if (t < half) {
            BR(xyzz) other = handed[t];
            if (BR(fold_add_call)(sum, &other)) {
                BR(fold_double)(sum);
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        BR(jac) o;
        BR(xyzz_to_jac)(&o, sum);
        cuzk_write_words(out, (const uint64_t *)&o, sizeof(o) / 8);
    }
}

CUZK_KERNEL __launch_bounds__(CUZK_FOLD_BLOCK) BR(points_fold)(cuzk_fold_args a)
{
    BR(xyzz) sum;
    BR(xyzz_set_infinity)(&sum);
#pragma unroll 1
    for (uint32_t i = blockIdx.x * CUZK_FOLD_BLOCK + threadIdx.x; i < a.n;
         i += gridDim.x * CUZK_FOLD_BLOCK) {
        BR(fold_point)(&sum, a.x, a.y, i);
    }
    BR(fold_block)(&sum, (BR(jac) *)a.sums + blockIdx.x);
}

CUZK_KERNEL __launch_bounds__(CUZK_FOLD_BLOCK) BR(points_bits)(cuzk_bits_fold_args a)
{
    uint32_t window = blockIdx.x / a.n_sums, o = blockIdx.x - window * a.n_sums;
    uint32_t section = o <= a.n_levels ? o : 0, left = 1u << a.lg_left;
    size_t first = ((size_t)section * a.n_windows + window) << a.lg_left;
    BR(xyzz) sum;
    BR(xyzz_set_infinity)(&sum);
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < left; i += CUZK_FOLD_BLOCK) {
        if (o <= a.n_levels || (i >> (o - 1 - a.n_levels) & 1) != 0) {
            BR(fold_point)(&sum, a.x, a.y, first + i);
        }
    }
    BR(fold_block)(&sum, (BR(jac) *)a.sums + blockIdx.x);
}

#undef BR
#undef BR_TYPE
