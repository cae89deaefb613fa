/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Random bytes from the system's generator; the only source of r, s and toxic values. */
#ifndef CUZK_BASE_RANDOM_H
#define CUZK_BASE_RANDOM_H

#include "base/status.h"

/** Fill n_bytes from getrandom(2), waiting for the generator to be seeded. Errors: E_INTERNAL when
 *  the system refuses; the buffer must then not be used. */
cuzk_status cuzk_random_bytes(void *out, size_t n_bytes, cuzk_error *err) CUZK_WARN_UNUSED;

enum { CUZK_UUID_BYTES = 37 /* with NUL */ };

/** A random id in the form of RFC 4122, version 4. Errors: as above. */
cuzk_status cuzk_random_uuid(char id[CUZK_UUID_BYTES], cuzk_error *err) CUZK_WARN_UNUSED;

#endif
