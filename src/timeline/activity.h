/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What another program saw a device do: an export of Nsight Systems (nsys export --type sqlite), or
 * a file of bench/cupti_witness.c, which has the same tables. An independent witness of the device
 * spans of a recording. */
#ifndef CUZK_TIMELINE_ACTIVITY_H
#define CUZK_TIMELINE_ACTIVITY_H

#include "base/status.h"

#include <stdint.h>

enum {
    CUZK_ACTIVITY_DEVICES = 64,
    CUZK_ACTIVITY_LABEL = 64,     /* bytes of a device's name, NUL included */
    CUZK_ACTIVITY_PROCESSES = 256 /* with kernels or copies, of a file */
};

/* The longest time that a file may be of, in ns: a hundred days. Sums of it do not overflow. */
#define CUZK_ACTIVITY_NS_MAX (INT64_C(1) << 53)
/* And how far from 0 its times may lie. */
#define CUZK_ACTIVITY_TIME_MAX (INT64_C(1) << 61)

typedef enum {
    CUZK_ACTIVITY_KERNEL = 0,
    CUZK_ACTIVITY_UP = 1,     /* a copy from the host */
    CUZK_ACTIVITY_DOWN = 2,   /* a copy to the host */
    CUZK_ACTIVITY_INSIDE = 3, /* a copy inside the device, or from another */
    CUZK_ACTIVITY_FILL = 4,   /* memory set to a value */
    CUZK_ACTIVITY_KINDS = 5
} cuzk_activity_kind;

typedef struct {
    int64_t begin_ns, end_ns; /* the file's clock; both within 2^61 of 0 */
    uint64_t bytes;           /* of a copy or fill */
    uint32_t name;            /* of a kernel: index of names */
    uint16_t process;         /* of the file's; CUZK_ACTIVITY_PROCESSES: not told */
    uint8_t device, kind;     /* cuzk_activity_kind */
} cuzk_activity;

/* All of a file. Arrays are owned. Names are UTF-8 without control characters. */
typedef struct {
    cuzk_activity *rows; /* by kind, then in the file's order */
    size_t n;
    char **names; /* different ones, by their bytes */
    size_t n_names;
    char devices[CUZK_ACTIVITY_DEVICES][CUZK_ACTIVITY_LABEL]; /* "": not named */
    int64_t begin_wall_ns; /* CLOCK_REALTIME where the file's clock is 0; 0: not known */
    uint64_t n_untimed;    /* rows without a begin or an end; left out */
    uint64_t
        n_elsewhere; /* copies that touch no device, or of kinds that are not known; left out */
    int64_t pid;     /* of the process whose rows these are; -1: the file does not tell */
    unsigned n_processes; /* of the file */
    uint64_t n_of_others; /* rows of processes with fewer kernels; left out */
} cuzk_activities;

/** Read a file. Nothing in it is run: tables' stored columns are read; views, virtual tables and
 *  computed columns are not looked at. Columns that only some versions write may be missing or
 * NULL. Where several processes computed, the one with the most kernels counts: each has numbers of
 * its own for the cards.
 *
 *  out: free with cuzk_activities_clear; zero on failure. Memory: 32 bytes a row, the names (no
 *  more than the file is long), and SQLite's cache. Errors: E_FILE; E_FORMAT (no SQLite file, a
 * damaged one, a table or column that is not there or holds something else, no kernels);
 * E_UNSUPPORTED (no SQLite on this machine); E_MEMORY. Thread-safe. */
cuzk_status cuzk_activities_open(cuzk_activities *out, const char *path,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** Free what it owns and zero it. Safe on zero. */
void cuzk_activities_clear(cuzk_activities *activities);

#endif
