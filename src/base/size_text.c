/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/size_text.h"

#include <stdio.h>

cuzk_size_text cuzk_size_of(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    cuzk_size_text out;
    double value = (double)bytes;
    unsigned unit = 0;
    while (value >= (unit == 0 ? 1024 : 1023.95)) { /* what is printed as 1024.0 */
        value /= 1024;
        unit++;
    }
    snprintf(out.text, sizeof out.text, "%.*f %s", unit == 0 ? 0 : 1, value, units[unit]);
    return out;
}
