/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The generator of the CUDA tests and the tables of both curves. */
#include "cuda_test.h"

static uint64_t state;

void cuda_test_begin(void)
{
    const char *seed = getenv("CUZK_TEST_SEED");
    state = seed != NULL ? strtoull(seed, NULL, 0) : 1;
    printf("seed %llu\n", (unsigned long long)state);
}

uint64_t cuda_test_random(void)
{
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

extern const shared_ops cuzk_bn254_portable_shared_ops[SHARED_OPS_FIELDS];
extern const shared_ops cuzk_bls12_381_portable_shared_ops[SHARED_OPS_FIELDS];

const shared_ops *shared_ops_of(int curve)
{
    return curve == 0 ? cuzk_bn254_portable_shared_ops : cuzk_bls12_381_portable_shared_ops;
}

extern const loose_ops cuzk_bn254_portable_loose_ops[LOOSE_OPS];
extern const loose_ops cuzk_bls12_381_portable_loose_ops[LOOSE_OPS];

const loose_ops *loose_ops_of(int curve)
{
    return curve == 0 ? cuzk_bn254_portable_loose_ops : cuzk_bls12_381_portable_loose_ops;
}
