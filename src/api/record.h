/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the library's own proofs put into the process's timeline, while cuzk_timeline_record writes
 * it: the spans that the daemon's engine would put, with the same meanings (docs/timeline.md). */
#ifndef CUZK_API_RECORD_H
#define CUZK_API_RECORD_H

#include "base/status.h"
#include "timeline/catalogue.h"

#include <stdbool.h>
#include <stdint.h>

/* Kinds of jobs in such a recording: Filecoin's are those of cuzk_proof_kind, 1 to 4. */
enum { CUZK_API_RECORD_CIRCOM = 5, CUZK_API_RECORD_KINDS = 6 };

/* A proof that is being made; all zero where nothing is recorded. Its spans are put by the thread
 * that began it. */
typedef struct {
    uint64_t job; /* 0: nothing is recorded */
    uint64_t begin_ns;
    uint32_t text;
    uint16_t n_units;
    int16_t unit;
    uint8_t kind;
    int8_t device;
} cuzk_api_record;

/** The moment for cuzk_api_record_span, or 0 where nothing is recorded. */
uint64_t cuzk_api_record_now(void);

/** A span that is of no proof, from begin_ns (cuzk_api_record_now; 0: nothing happens) to now: a
 *  key that was loaded, a request that was decoded. text: may be NULL. */
void cuzk_api_record_span(cuzk_span_name name, uint64_t begin_ns, uint64_t value, const char *text,
                          cuzk_status status);

/** A proof of n_units partitions begins on a device ("cpu", "cuda:0"). */
cuzk_api_record cuzk_api_record_begin(uint8_t kind, const char *device, unsigned n_units);

/** Partition k is next: what layers below put from here on is of it. Returns the moment, from which
 *  its witness is made. */
uint64_t cuzk_api_record_unit(cuzk_api_record *record, unsigned k);

/** The partition's witness is made, or not. */
void cuzk_api_record_witness(const cuzk_api_record *record, uint64_t begin_ns, cuzk_status status);

/** The partition is proved and verified. */
void cuzk_api_record_unit_done(const cuzk_api_record *record);

/** The proof ended. */
void cuzk_api_record_end(const cuzk_api_record *record, cuzk_status status);

#endif
