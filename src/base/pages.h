/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Large workspaces straight from the system, huge pages where it has them. Freeing gives the pages
 * back at once; the system clears them before anybody sees them again, so private values in them
 * need no wiping. */
#ifndef CUZK_BASE_PAGES_H
#define CUZK_BASE_PAGES_H

#include <stddef.h>

/** n_bytes of zeroed memory, aligned to a page at least; NULL when there is none (or n_bytes is
 *  beyond the address space). Memory counts as used when it is first written. n_bytes 0: one page.
 *  Returned: free with cuzk_pages_free and the same n_bytes. */
void *cuzk_pages_alloc(size_t n_bytes);

/** The same for an array of which every byte will be written: huge pages from 4 MiB on. */
void *cuzk_pages_alloc_dense(size_t n_bytes);

/** Give memory back. NULL is fine. */
void cuzk_pages_free(void *p, size_t n_bytes);

/** Give back the memory of the pages wholly inside [p, p + n_bytes) of a workspace but keep the
 *  addresses: the contents become zero. */
void cuzk_pages_discard(void *p, size_t n_bytes);

#endif
