/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* dlopen of the driver and the text of its errors. */
#include "backend/cuda/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static cuzk_cuda_api api_table;
static cuzk_error open_error;
static pthread_once_t open_once = PTHREAD_ONCE_INIT;

/* Fill one entry; POSIX lets a data pointer from dlsym be stored over a function pointer. */
static bool find(void *library, void *entry, const char *name)
{
    void *symbol = dlsym(library, name);
    memcpy(entry, &symbol, sizeof symbol);
    return symbol != NULL;
}

#define TEXT(name)    #name
#define TEXT_OF(name) TEXT(name)
#define FIND(name)                                                                                 \
    if (missing == NULL && !find(library, &CUZK_CU(&api_table, name), TEXT_OF(name))) {            \
        missing = TEXT_OF(name);                                                                   \
    }

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        (void)CUZK_FAIL(&open_error, CUZK_E_DEVICE, "opening the CUDA driver: %s", dlerror());
        return;
    }
    const char *missing = NULL;
    CUZK_CUDA_FUNCTIONS(FIND)
    if (missing != NULL) {
        (void)CUZK_FAIL(&open_error, CUZK_E_DEVICE,
                        "opening the CUDA driver: it has no function %s; it is too old", missing);
        return;
    }
    /* the text is what counts: cuzk_cuda_driver looks at open_error */
    open_error.status = cuzk_cuda_check(&api_table, CUZK_CU(&api_table, cuInit)(0), "cuInit",
                                        __FILE__, __LINE__, &open_error);
}

cuzk_status cuzk_cuda_driver(const cuzk_cuda_api **out, cuzk_error *err)
{
    pthread_once(&open_once, open_driver);
    CUZK_FAIL_IF(open_error.status != CUZK_OK, err, open_error.status, "%s", open_error.text);
    *out = &api_table;
    return CUZK_OK;
}

/* After these the driver gives the same error to every call that uses the context: it has to be
 * destroyed, and where that does not help, the process has to end. */
static bool is_sticky(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
        return true;
    default:
        return false;
    }
}

cuzk_status cuzk_cuda_check(const cuzk_cuda_api *api, CUresult result, const char *call,
                            const char *file, int line, cuzk_error *err)
{
    if (result == CUDA_SUCCESS) {
        return CUZK_OK;
    }
    const char *name = NULL, *text = NULL;
    if (CUZK_CU(api, cuGetErrorName)(result, &name) != CUDA_SUCCESS) {
        name = "unknown error";
    }
    if (CUZK_CU(api, cuGetErrorString)(result, &text) != CUDA_SUCCESS) {
        text = "no text";
    }
    return cuzk_fail_at(err, is_sticky(result) ? CUZK_E_DEVICE_LOST : CUZK_E_DEVICE, file, line, "%s: %s (%d): %s", call, name, (int)result,
                        text);
}
