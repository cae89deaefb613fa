/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory and errors of the tests of kernels. */
#include "device_test.h"

cuzk_cuda_device device;

void must(cuzk_status status, const cuzk_error *error)
{
    if (status != CUZK_OK) {
        fail_msg("%s", error->text);
    }
}

bool device_test_is_small(void)
{
    return device_test_is_emulated() || getenv("CUZK_DEVICE_TEST_SMALL") != NULL;
}

cuzk_pool *device_test_pool(void)
{
    static cuzk_pool *pool;
    if (pool == NULL && !device_test_is_small()) {
        cuzk_error error = {0};
        must(cuzk_pool_create(&pool, 0, &error), &error);
    }
    return pool;
}

CUdeviceptr device_bytes(const void *from, size_t n_bytes)
{
    cuzk_error error = {0};
    CUdeviceptr p = 0;
    DRIVER(cuMemAlloc, (&p, n_bytes + 16));
    if (from == NULL) {
        DRIVER(cuMemsetD8, (p, 0xcc, n_bytes));
    } else {
        DRIVER(cuMemcpyHtoD, (p, from, n_bytes));
    }
    return p;
}

void *host_bytes(CUdeviceptr from, size_t n_bytes)
{
    cuzk_error error = {0};
    void *p = malloc(n_bytes + 1);
    DRIVER(cuCtxSynchronize, ());
    DRIVER(cuMemcpyDtoH, (p, from, n_bytes));
    return p;
}

void free_all(const CUdeviceptr *p, int n)
{
    cuzk_error error = {0};
    for (int i = 0; i < n; i++) {
        DRIVER(cuMemFree, (p[i]));
    }
}
