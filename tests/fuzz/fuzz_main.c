/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* libFuzzer's entry point. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cuzk_fuzz_run(data, size);
    return 0;
}
