/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The emulated driver, linked in. */
#include "device_test.h"

void device_test_open(void)
{
    static cuzk_cuda_api api;
#define FILL(name) CUZK_CU(&api, name) = name;
    CUZK_CUDA_FUNCTIONS(FILL)
    device = (cuzk_cuda_device){.api = &api, .name = "emulated", .capability = 90, .n_sms = 1};
    printf("device: emulated on the host\n");
}

bool device_test_is_emulated(void)
{
    return true;
}
