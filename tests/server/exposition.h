/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A strict reader of Prometheus' exposition format 0.0.4, written from its definition. */
#ifndef CUZK_TESTS_SERVER_EXPOSITION_H
#define CUZK_TESTS_SERVER_EXPOSITION_H

#include <stddef.h>

/** Check a text: each family has HELP and TYPE before its samples and stands in one piece, names
 * and labels are well formed, no series comes twice, counters end in _total and nothing else does
 * but histograms' and summaries' parts, buckets grow up to +Inf, which is the count. NULL: it is
 * fine; otherwise what is wrong, static. */
const char *cuzk_test_exposition(const char *text);

/** The value of a series as it stands in the text, such as
 * `cuzk_jobs_pending{proof_kind="circom"}`; NAN when it is not there. */
double cuzk_test_sample(const char *text, const char *series);

#endif
