/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A driver library from before most of what is used: it has cuInit, which must not be called. */
#include <stdlib.h>

int cuInit(unsigned flags);

__attribute__((visibility("default"))) int cuInit(unsigned flags)
{
    (void)flags;
    abort();
}
