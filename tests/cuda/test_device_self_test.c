/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The self-test passes, and sees a device that stores a wrong bit or refuses a call. */
#include "backend/cuda/self_test.h"
#include "device_test.h"

static void test_passes(void **state)
{
    (void)state;
    cuzk_error error = {0};
    must(cuzk_cuda_self_test(&device, &error), &error);
}

/* ---- a driver at fault ---- */

static const cuzk_cuda_api *right;
static int copies, spoiled; /* copies back so far, and the one that loses a bit */

static CUresult spoil(void *to, size_t n_bytes, CUresult result)
{
    if (copies++ == spoiled) {
        ((unsigned char *)to)[n_bytes / 2] ^= 1;
    }
    return result;
}

static CUresult spoil_copy(void *to, CUdeviceptr from, size_t n_bytes)
{
    return spoil(to, n_bytes, CUZK_CU(right, cuMemcpyDtoH)(to, from, n_bytes));
}

static CUresult refuse(CUdeviceptr *out, size_t n_bytes)
{
    (void)out;
    (void)n_bytes;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static void test_faults(void **state)
{
    (void)state;
    cuzk_cuda_api api = *device.api;
    cuzk_cuda_device faulty = device;
    right = device.api;
    faulty.api = &api;
    CUZK_CU(&api, cuMemcpyDtoH) = spoil_copy;
    for (spoiled = 0; spoiled < 2; spoiled++) {
        cuzk_error error = {0};
        copies = 0;
        assert_int_equal(cuzk_cuda_self_test(&faulty, &error), CUZK_E_DEVICE);
        assert_non_null(strstr(error.text, "transform on bn254 is wrong"));
    }
    api = *device.api;
    CUZK_CU(&api, cuMemAlloc) = refuse;
    cuzk_error error = {0};
    assert_int_equal(cuzk_cuda_self_test(&faulty, &error), CUZK_E_DEVICE);
    assert_non_null(strstr(error.text, "cuMemAlloc"));
}

int main(void)
{
    device_test_open();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_passes),
                                       cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
