/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A recording: a timeline in a file. It is written in pieces that each stand for themselves, so
 * that what a crash leaves behind can be read up to its last whole piece. Bytes: docs/timeline.md.
 */
#ifndef CUZK_TIMELINE_RECORDING_H
#define CUZK_TIMELINE_RECORDING_H

#include "base/status.h"
#include "base/text.h"
#include "timeline/span.h"

#include <stdbool.h>

#define CUZK_RECORDING_MAGIC "cuzkspan" /* its first bytes */

enum {
    CUZK_RECORDING_VERSION = 1,
    CUZK_RECORDING_KINDS = 8,    /* kinds of jobs */
    CUZK_RECORDING_DEVICES = 64, /* devices */
    CUZK_RECORDING_LABEL = 64    /* bytes of the name of one, NUL included */
};

/* Pieces of a recording; numbers of the file. */
typedef enum {
    CUZK_PIECE_NAMES = 1,  /* the catalogue's names, in the order of the numbers in the spans */
    CUZK_PIECE_KIND = 2,   /* number, label */
    CUZK_PIECE_DEVICE = 3, /* number, workers, id */
    CUZK_PIECE_THREAD = 4, /* number, name */
    CUZK_PIECE_TEXT = 5,   /* number, text */
    CUZK_PIECE_SPANS = 6,  /* packed */
    CUZK_PIECE_LOST = 7,   /* spans that were overwritten before they were taken */
    CUZK_PIECE_MACHINE = 8 /* what the simulator has to know of it */
} cuzk_recording_piece;

/* --- Writing ---------------------------------------------------------------------------------- */

/* Put the bytes of a recording behind text->data; a text that ran out of memory says so at the end.
 * One thread at a time for one text. A recording begins with cuzk_recording_put_start; anything may
 * follow in any order, except that what a span names comes before the analysis wants it: order does
 * not matter to the reader. */

/* What work was shared among; all zero: not told. */
typedef struct {
    uint64_t work_bytes;     /* of host memory, for circuits and partitions */
    uint64_t critical_bytes; /* of them, for what is CRITICAL while others hold some */
    unsigned n_witness, n_finishers, n_verifiers; /* threads */
    unsigned witness_ahead;                       /* as cuzk_sim_machine */
} cuzk_recording_machine;

/** The header and the catalogue. wall_ns: CLOCK_REALTIME at host_ns (cuzk_now_ns). */
void cuzk_recording_put_start(cuzk_text *text, uint64_t wall_ns, uint64_t host_ns);
/** Of a text that begins with that: files of the same number, but 0, go on in one another. */
void cuzk_recording_set_run(cuzk_text *text, uint32_t run);
void cuzk_recording_put_kind(cuzk_text *text, uint8_t kind, const char *label);
void cuzk_recording_put_device(cuzk_text *text, uint8_t device, uint8_t n_workers, const char *id);
void cuzk_recording_put_thread(cuzk_text *text, uint16_t thread, const char *name);
void cuzk_recording_put_text(cuzk_text *text, uint32_t number, const char *s, size_t n_bytes);
/** n spans, in any order; at most 2^20 a call. */
void cuzk_recording_put_spans(cuzk_text *text, const cuzk_timespan *spans, size_t n);
void cuzk_recording_put_lost(cuzk_text *text, uint64_t n_spans);
void cuzk_recording_put_machine(cuzk_text *text, const cuzk_recording_machine *machine);

/* --- Reading ---------------------------------------------------------------------------------- */

typedef struct {
    char id[CUZK_RECORDING_LABEL];
    unsigned n_workers;
} cuzk_recording_device;

typedef struct {
    uint32_t number;
    char *s;
} cuzk_recording_string;

/* A recording in memory. All arrays are owned. Texts and labels are UTF-8 without control
 * characters: what else stood in the file is "?". */
typedef struct {
    cuzk_timespan *spans; /* by begin_ns, then by the longer, then by name */
    size_t n_spans;
    char kinds[CUZK_RECORDING_KINDS][CUZK_RECORDING_LABEL]; /* "": not named */
    cuzk_recording_device devices[CUZK_RECORDING_DEVICES];
    cuzk_recording_machine machine;
    size_t n_devices; /* one more than the highest that is named or that a span names */
    char **threads;   /* by number; NULL: not named */
    size_t n_threads;
    cuzk_recording_string *texts; /* sorted by number: cuzk_recording_text finds them */
    size_t n_texts;
    uint64_t wall_ns, host_ns; /* the same moment on both clocks */
    uint64_t begin_ns, end_ns; /* of the earliest and the latest span; 0: no spans */
    uint64_t n_lost;           /* spans that were overwritten before they were written */
    uint64_t n_unknown;        /* spans of names that this program does not know; left out */
    uint64_t n_bytes_after;    /* bytes behind the last whole piece: the writer's crash */
} cuzk_recording;

/** Read a recording of n_bytes; memory is at most 64 bytes for each byte of it, and a constant.
 *
 *  out: free with cuzk_recording_clear; zero on failure. Bytes behind the last whole piece are
 *  counted, not an error; a piece whose sum is right and whose contents are not, is. Errors:
 *  E_FORMAT (with the offset), E_UNSUPPORTED (a later version), E_MEMORY. */
cuzk_status cuzk_recording_read(cuzk_recording *out, const uint8_t *data, size_t n_bytes,
                                cuzk_error *err) CUZK_WARN_UNUSED;

/* Bytes of a file. */
typedef struct {
    const uint8_t *data;
    size_t n_bytes;
} cuzk_recording_part;

/** The same of a recording that goes on in another file, in their order. Errors: also E_ARGUMENT
 *  (the second does not go on where the first ended). */
cuzk_status cuzk_recording_read_parts(cuzk_recording *out, const cuzk_recording_part *parts,
                                      size_t n_parts, cuzk_error *err) CUZK_WARN_UNUSED;

/** The same from a file, packed by gzip or not; next_path: that it goes on in, or NULL. limit: the
 *  most bytes unpacked, of each. Errors: those, and E_FILE. */
cuzk_status cuzk_recording_open_with(cuzk_recording *out, const char *path, const char *next_path,
                                     uint64_t limit, cuzk_error *err) CUZK_WARN_UNUSED;
cuzk_status cuzk_recording_open(cuzk_recording *out, const char *path, uint64_t limit,
                                cuzk_error *err) CUZK_WARN_UNUSED;

/** Free what it owns and zero it. Safe on zero. */
void cuzk_recording_clear(cuzk_recording *recording);

/** The text of a span, or NULL. */
const char *cuzk_recording_text(const cuzk_recording *recording, uint32_t number);

#endif
