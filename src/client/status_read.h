/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the daemon's HTTP port tells at /status, as far as people want to see it. */
#ifndef CUZK_CLIENT_STATUS_READ_H
#define CUZK_CLIENT_STATUS_READ_H

#include "base/status.h"

#include <stdint.h>

enum {
    CUZK_STATUS_TEXT_MAX = 1 << 26, /* bytes of an answer of the HTTP port that are taken */
    CUZK_STATUS_ITEMS_MAX = 4096,   /* jobs, workers, residents: each at most so many */
    CUZK_STATUS_PURPOSES_MAX = 8    /* of a device's memory; more are left out */
};

typedef struct {
    char *job_id, *kind;
    char *state;         /* "queued", "running", "completed", "failed", "cancelled"; "": not told */
    unsigned priority;   /* of the wire; 0: not told */
    double age, started; /* seconds ago; negative: not yet, or not told */
    char *waits_for;     /* in words; "": for nothing, or not told */
    char *error;         /* why it failed; "": it did not, or not told */
    size_t place;        /* in the text */
    unsigned n_partitions, n_done;
    /* by partition: '.' pending, 'w' witness, 'r' ready for a device, 'd' on a device, '#' done,
     * '!' failed; "" where they are not told */
    char *partitions;
} cuzk_status_job;

typedef struct {
    uint64_t worker, device;
    char *device_id;   /* "" where the daemon does not tell */
    char *job_id;      /* "": idle */
    int64_t partition; /* -1: none */
    double busy;
    bool is_reserve; /* serves CRITICAL partitions only */
} cuzk_status_worker;

typedef struct {
    char *circuit_id;
    char *state; /* "" where the daemon does not tell */
    uint64_t bytes;
    double idle;
    bool is_evictable;
} cuzk_status_resident;

/* What a device's arena holds for one purpose. */
typedef struct {
    char *purpose; /* "key" */
    uint64_t bytes;
} cuzk_status_arena;

/* How a circuit with its key came to a device. */
typedef struct {
    char *circuit_id;
    char *from; /* "file", "peer cuda:0", "made" */
    uint64_t bytes;
    double rate; /* GB a second */
} cuzk_status_arrival;

typedef struct {
    char *id, *reason;
    char *state; /* "drained", "lost"; "": not told */
    bool is_out; /* not used */
    cuzk_status_arena arena[CUZK_STATUS_PURPOSES_MAX];
    unsigned n_arena; /* 0: it has no memory of its own, or is not told */
    cuzk_status_arrival *arrivals;
    size_t n_arrivals;
} cuzk_status_device;

typedef struct {
    double uptime;
    bool is_loading;  /* not ready: what is to be preloaded is not there yet */
    bool is_draining; /* it is shutting down */
    bool has_no_journal, journal_failed, journal_was_damaged;
    uint64_t journal_salvaged; /* jobs */
    uint64_t memory_total, memory_used;
    uint64_t pinned_limit, pinned_used, pinned_peak; /* host memory; limit 0: not told */
    uint64_t intake_waiting;                         /* requests that wait to be taken in */
    char *intake_waits_for;                          /* in words; "": not told */
    cuzk_status_job *jobs; /* in the order of the text: begun ones, queued ones */
    size_t n_jobs;
    uint64_t n_left_out; /* further jobs, that the daemon or the reader leaves out */
    cuzk_status_worker *workers;
    size_t n_workers;
    cuzk_status_resident *residents;
    size_t n_residents;
    cuzk_status_device *devices;
    size_t n_devices;
} cuzk_status_view;

/** Read the text of /status. Members that are not known are skipped. Texts are cut at 4,000 bytes.
 *  Memory: less than the text and 2 MiB.
 *  view: all zero on failure; cuzk_status_view_clear. Errors: E_FORMAT, E_TRUNCATED with line and
 *  column; E_MEMORY. */
cuzk_status cuzk_status_read(cuzk_status_view *view, const char *text, size_t n_bytes,
                             cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_status_view_clear(cuzk_status_view *view);

/** Fetch and read /status of HOST:PORT. text: may be NULL; the text itself, returned: free.
 *  Errors: also those of cuzk_client_http_get. */
cuzk_status cuzk_status_fetch(cuzk_status_view *view, char **text, const char *address,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/** GET http://ADDRESS/PATH. address: HOST:PORT or [IP6]:PORT, http:// in front allowed. Waits 3 s
 *  for a connection and for each piece of the answer. body: returned, NUL-terminated; free.
 *  Errors: E_ARGUMENT (the address), E_UNAVAILABLE (nobody listens, no answer), E_FORMAT (not HTTP,
 *  another status than 200, longer than CUZK_STATUS_TEXT_MAX), E_MEMORY. */
cuzk_status cuzk_client_http_get(char **body, size_t *n_bytes, const char *address,
                                 const char *path, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
