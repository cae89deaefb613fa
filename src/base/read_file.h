/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CUZK_BASE_READ_FILE_H
#define CUZK_BASE_READ_FILE_H

#include "base/status.h"

enum { CUZK_SMALL_FILE_MAX = 1 << 20 }; /* bytes: configuration, certificates, tokens */

/** Read a small file or pipe whole.
 *
 *  out: returned, with a NUL behind it: free; what is in it may be a secret, wipe it first.
 *  n_bytes: without the NUL; may be NULL. what: "certificates", for messages.
 *  Errors: E_FILE (the system's reason, or more than CUZK_SMALL_FILE_MAX), E_MEMORY. */
cuzk_status cuzk_read_small_file(char **out, size_t *n_bytes, const char *what, const char *path,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

#endif
