/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory of emulated devices. With several of them everything that touches memory takes one lock,
 * and while a kernel of one runs the others' memory is closed to it. */
#ifndef CUZK_TESTS_EMULATED_MEMORY_H
#define CUZK_TESTS_EMULATED_MEMORY_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

enum { EMULATED_DEVICES_MAX = 16 };

/** CUZK_EMULATED_DEVICES: 1 … EMULATED_DEVICES_MAX. Read once. */
int emulated_devices(void);

/** n_bytes of device d; 0: there is none. */
CUdeviceptr emulated_alloc(int d, size_t n_bytes);

/** False: it is no such memory. */
bool emulated_free(CUdeviceptr p);

/** Whether all of it lies in one allocation of device d. With one device memory is not looked at:
 *  what lies outside is for sanitizers. */
bool emulated_is_of(int d, CUdeviceptr p, size_t n_bytes);

void emulated_copy(void *to, const void *from, size_t n_bytes);
void emulated_fill(void *to, unsigned char byte, size_t n_bytes);

/** Around a kernel of device d; one at a time, in the whole process. */
void emulated_enter(int d);
void emulated_leave(int d);

#endif
