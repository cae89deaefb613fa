/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The daemon's page: the files of src/server/page and the charting library (cmake/charts.cmake),
 * put into the program when it is built (cmake/embed.cmake). */
#ifndef CUZK_SERVER_PAGE_H
#define CUZK_SERVER_PAGE_H

#include <stddef.h>

enum { CUZK_PAGE_FILES = 7 };

typedef struct {
    const char *path, *content_type; /* "/page.js", of the HTTP port */
    const unsigned char *bytes;
    size_t n_bytes;
} cuzk_page_file;

extern const cuzk_page_file cuzk_page_files[CUZK_PAGE_FILES];

#endif
