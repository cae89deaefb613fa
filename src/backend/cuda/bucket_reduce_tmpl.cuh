/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernels of bucket_reduce.h over one group. Include it once per group after defining
 *   BR(name)   kernel and function names and the group's own (curve/point_tmpl.h): g1_##name
 *   BR_TYPE    the coordinate field
 * and it undefines them at its end.
 *
 * One thread a run, no shared memory. Floor per bucket: a mixed and a full addition. The additions
 * are calls: three copies of each would not fit the instruction cache. */

static __device__ __noinline__ void BR(reduce_add)(BR(xyzz) * o, const BR(xyzz) * a)
{
    BR(xyzz_add)(o, o, a);
}

static __device__ __noinline__ void BR(reduce_add_affine)(BR(xyzz) * o, const BR(affine) * a)
{
    BR(xyzz_add_affine)(o, o, a);
}

static __device__ __noinline__ void BR(reduce_double)(BR(xyzz) * o)
{
    BR(xyzz_dbl)(o, o);
}

static __device__ __forceinline__ void BR(reduce_read)(BR(xyzz) * o, const void *array, size_t i)
{
    cuzk_read_words((uint64_t *)o, (const BR(xyzz) *)array + i, sizeof(BR(xyzz)) / 8);
}

static __device__ __forceinline__ void BR(reduce_write)(void *array, size_t i, const BR(xyzz) * a)
{
    cuzk_write_words((BR(xyzz) *)array + i, (const uint64_t *)a, sizeof(BR(xyzz)) / 8);
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
        if (begin[i + 1] != begin[i]) {
            size_t at = (size_t)a.points_before[group] + begin[i];
            BR(affine) p;
            cuzk_read_words((uint64_t *)&p.x, (const BR_TYPE *)a.x + at, sizeof(BR_TYPE) / 8);
            cuzk_read_words((uint64_t *)&p.y, (const BR_TYPE *)a.y + at, sizeof(BR_TYPE) / 8);
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

#undef BR
#undef BR_TYPE
