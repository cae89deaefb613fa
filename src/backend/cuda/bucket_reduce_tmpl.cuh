/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernels of bucket_reduce.h over one group. Include it once per group after defining
 *   BR(name)   kernel and function names and the group's own (curve/point_tmpl.h): g1_##name
 *   BR_TYPE    the coordinate field
 * and it undefines them at its end.
 *
 * One thread a run, no shared memory. Floor per bucket: a mixed and a full addition. The additions
 * are calls: three copies of each would not fit the instruction cache. Doubling an equal point is a
 * call beside the addition, not inside it: compiled into one function, nvcc 13.0's code for sm_90
 * read from address 0 there. */

static __device__ __noinline__ void BR(reduce_double)(BR(xyzz) * o)
{
    BR(xyzz_dbl)(o, o);
}

static __device__ __noinline__ bool BR(reduce_add_call)(BR(xyzz) * o, const BR(xyzz) * a)
{
    return BR(xyzz_add_unless_equal)(o, o, a);
}

static __device__ __noinline__ bool BR(reduce_add_affine_call)(BR(xyzz) * o, const BR(affine) * a)
{
    return BR(xyzz_add_affine_unless_equal)(o, o, a);
}

static __device__ __forceinline__ void BR(reduce_add)(BR(xyzz) * o, const BR(xyzz) * a)
{
    if (BR(reduce_add_call)(o, a)) {
        BR(reduce_double)(o);
    }
}

static __device__ __forceinline__ void BR(reduce_add_affine)(BR(xyzz) * o, const BR(affine) * a)
{
    if (BR(reduce_add_affine_call)(o, a)) {
        BR(reduce_double)(o);
    }
}

static __device__ __forceinline__ void BR(reduce_read)(BR(xyzz) * o, const void *array, size_t i)
{
    cuzk_read_words((uint64_t *)o, (const BR(xyzz) *)array + i, sizeof(BR(xyzz)) / 8);
}

static __device__ __forceinline__ void BR(reduce_write)(void *array, size_t i, const BR(xyzz) * a)
{
    cuzk_write_words((BR(xyzz) *)array + i, (const uint64_t *)a, sizeof(BR(xyzz)) / 8);
}

static __device__ __forceinline__ void BR(reduce_read_affine)(BR(affine) * o, const void *x,
                                                              const void *y, size_t i)
{
    cuzk_read_words((uint64_t *)&o->x, (const BR_TYPE *)x + i, sizeof(BR_TYPE) / 8);
    cuzk_read_words((uint64_t *)&o->y, (const BR_TYPE *)y + i, sizeof(BR_TYPE) / 8);
}

CUZK_KERNEL __launch_bounds__(CUZK_REDUCE_BLOCK) BR(reduce_first)(cuzk_reduce_first_args a)
{
    uint32_t t = blockIdx.x * CUZK_REDUCE_BLOCK + threadIdx.x;
    if (t >= a.n_runs) {
        return;
    }
    BR(xyzz) sum, weighted;
    BR(xyzz_set_infinity)(&sum);
    BR(xyzz_set_infinity)(&weighted);
    uint32_t bucket = t * a.run, group = bucket / a.group_buckets;
    const uint32_t *begin = a.begin + bucket + group;
#pragma unroll 1
    for (uint32_t i = a.run; i-- > 0;) {
#pragma unroll 1
        for (uint32_t at = begin[i]; at != begin[i + 1]; at++) {
            BR(affine) p;
            BR(reduce_read_affine)(&p, a.x, a.y, (size_t)a.points_before[group] + at);
            BR(reduce_add_affine)(&sum, &p);
        }
        BR(reduce_add)(&weighted, &sum);
    }
    BR(reduce_write)(a.s, t, &sum);
    BR(reduce_write)(a.t, t, &weighted);
}

CUZK_KERNEL __launch_bounds__(CUZK_REDUCE_BLOCK) BR(reduce_join)(cuzk_reduce_join_args a)
{
    uint32_t t = blockIdx.x * CUZK_REDUCE_BLOCK + threadIdx.x;
    if (t >= a.n_runs) {
        return;
    }
    BR(xyzz) sum, weighted, other;
    size_t first = (size_t)t * a.join;
    BR(xyzz_set_infinity)(&sum);
    BR(xyzz_set_infinity)(&weighted);
#pragma unroll 1
    for (uint32_t i = a.join; i-- > 1;) { /* weighted = Σ i·S_i */
        BR(reduce_read)(&other, a.from_s, first + i);
        BR(reduce_add)(&sum, &other);
        BR(reduce_add)(&weighted, &sum);
    }
    BR(reduce_read)(&other, a.from_s, first);
    BR(reduce_add)(&sum, &other);
    BR(reduce_write)(a.s, t, &sum);
#pragma unroll 1
    for (uint32_t i = 0; i < a.lg_run; i++) {
        BR(reduce_double)(&weighted);
    }
#pragma unroll 1
    for (uint32_t i = 0; i < a.join; i++) {
        BR(reduce_read)(&other, a.from_t, first + i);
        BR(reduce_add)(&weighted, &other);
    }
    BR(reduce_write)(a.t, t, &weighted);
}

CUZK_KERNEL __launch_bounds__(CUZK_REDUCE_BLOCK) BR(reduce_output)(cuzk_reduce_join_args a)
{
    uint32_t t = blockIdx.x * CUZK_REDUCE_BLOCK + threadIdx.x;
    if (t >= a.n_runs) {
        return;
    }
    BR(xyzz) p;
    BR(jac) o;
    BR(reduce_read)(&p, a.from_t, t);
    BR(xyzz_to_jac)(&o, &p);
    cuzk_write_words((BR(jac) *)a.s + t, (const uint64_t *)&o, sizeof(o) / 8);
}

/* The upper half of the threads hand their sums to the lower half, again and again. */
CUZK_KERNEL __launch_bounds__(CUZK_FOLD_BLOCK) BR(points_fold)(cuzk_fold_args a)
{
    __shared__ BR(xyzz) handed[CUZK_FOLD_BLOCK / 2];
    BR(xyzz) sum, other;
    uint32_t t = threadIdx.x;
    BR(xyzz_set_infinity)(&sum);
#pragma unroll 1
    for (uint32_t i = blockIdx.x * CUZK_FOLD_BLOCK + t; i < a.n; i += gridDim.x * CUZK_FOLD_BLOCK) {
        BR(affine) p;
        BR(reduce_read_affine)(&p, a.x, a.y, i);
        BR(reduce_add_affine)(&sum, &p);
    }
#pragma unroll 1
    for (uint32_t half = CUZK_FOLD_BLOCK / 2; half > 0; half /= 2) {
        if (t >= half && t < 2 * half) {
            handed[t - half] = sum;
        }
        __syncthreads();
        if (t < half) {
            other = handed[t];
            BR(reduce_add)(&sum, &other);
        }
        __syncthreads();
    }
    if (t == 0) {
        BR(jac) o;
        BR(xyzz_to_jac)(&o, &sum);
        cuzk_write_words((BR(jac) *)a.sums + blockIdx.x, (const uint64_t *)&o, sizeof(o) / 8);
    }
}

#undef BR
#undef BR_TYPE
