/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the sources share that read /status. */
#ifndef CUZK_CLIENT_STATUS_READER_H
#define CUZK_CLIENT_STATUS_READER_H

#include "client/status_read.h"
#include "formats/json_pull.h"

enum { CUZK_STATUS_COUNT_MAX = 1 << 20 /* numbers of partitions and the like, below */ };

/* Where a reader is. */
typedef struct {
    cuzk_json json;
    cuzk_error *err;
} cuzk_status_reader;

/* What to do with the value of a member, or with an element (key ""), whose first token was read:
 * take all of its tokens. */
typedef cuzk_status (*cuzk_status_on_value)(cuzk_status_reader *r, void *out, const char *key,
                                            const cuzk_json_token *token);

/** Call each for every member of an object / element of an array whose opening was read. */
cuzk_status cuzk_status_each_member(cuzk_status_reader *r, void *out,
                                    cuzk_status_on_value each) CUZK_WARN_UNUSED;
cuzk_status cuzk_status_each_element(cuzk_status_reader *r, void *out,
                                     cuzk_status_on_value each) CUZK_WARN_UNUSED;

/** Take a text (a copy that replaces *out), a number, a number that is no fraction and not
 *  negative. A value of another type is skipped and leaves *out as it is. */
cuzk_status cuzk_status_take_text(cuzk_status_reader *r, char **out,
                                  const cuzk_json_token *token) CUZK_WARN_UNUSED;
cuzk_status cuzk_status_take_number(cuzk_status_reader *r, double *out,
                                    const cuzk_json_token *token) CUZK_WARN_UNUSED;
cuzk_status cuzk_status_take_count(cuzk_status_reader *r, uint64_t *out,
                                   const cuzk_json_token *token) CUZK_WARN_UNUSED;

/** Take the words of a "waits_for"; null leaves *out as it is. */
cuzk_status cuzk_status_take_wait(cuzk_status_reader *r, char **out,
                                  const cuzk_json_token *token) CUZK_WARN_UNUSED;

/** Room for one more element of a list that has not CUZK_STATUS_ITEMS_MAX yet, zeroed. */
cuzk_status cuzk_status_grow(cuzk_status_reader *r, void **list, size_t *n, size_t size,
                             void **item) CUZK_WARN_UNUSED;

/** Elements of "pipelines" / of "queued". out: the view. */
cuzk_status cuzk_status_on_job(cuzk_status_reader *r, void *out, const char *key,
                               const cuzk_json_token *token) CUZK_WARN_UNUSED;
cuzk_status cuzk_status_on_queued(cuzk_status_reader *r, void *out, const char *key,
                                  const cuzk_json_token *token) CUZK_WARN_UNUSED;

#endif
