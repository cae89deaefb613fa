/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The faults of a program that has none. */
#include "engine/faults.h"

cuzk_status cuzk_fault_at(cuzk_fault place, int device, cuzk_error *err)
{
    (void)place;
    (void)device;
    (void)err;
    return CUZK_OK;
}

int64_t cuzk_fault_clock_ms(void)
{
    return 0;
}

cuzk_status cuzk_faults_set(const char *text, cuzk_error *err)
{
    CUZK_FAIL_IF(text[0] != '\0', err, CUZK_E_UNSUPPORTED,
                 "faults \"%s\": this program cannot be made to fail; the test program can", text);
    return CUZK_OK;
}

cuzk_status cuzk_faults_journal(void *user, cuzk_error *err)
{
    (void)user;
    (void)err;
    return CUZK_OK;
}
