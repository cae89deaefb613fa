/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The machine's first CUDA device. */
#include "device_test.h"

void device_test_open(void)
{
    cuzk_error error = {0};
    if (cuzk_cuda_device_open(&device, 0, &error) != CUZK_OK) {
        printf("skipped: %s\n", error.text);
        exit(77);
    }
    printf("device: %s, capability %d, driver %d\n", device.name, device.capability,
           device.driver_version);
}

bool device_test_is_emulated(void)
{
    return false;
}
