/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the writer and the reader of recordings share. */
#ifndef CUZK_TIMELINE_RECORDING_BYTES_H
#define CUZK_TIMELINE_RECORDING_BYTES_H

#include <stdint.h>

enum {
    CUZK_RECORDING_HEADER = 32, /* magic, version, run, wall_ns, host_ns */
    CUZK_RECORDING_RUN = 12,    /* where it is */
    CUZK_PIECE_HEADER = 12,     /* type, bytes of the payload, its CRC-32 */
    CUZK_PIECE_MAX = 1 << 26    /* bytes of a payload */
};

/* Which fields of a packed span follow its times. */
enum {
    CUZK_PACK_JOB = 1,    /* job (difference to the last), kind, priority */
    CUZK_PACK_UNIT = 2,   /* unit */
    CUZK_PACK_DEVICE = 4, /* device, worker + 1 */
    CUZK_PACK_VALUE = 8,
    CUZK_PACK_TEXT = 16,
    CUZK_PACK_STATUS = 32,
    CUZK_PACK_ALL = 63
};

/** Signed numbers as unsigned ones, small where they are small. Pure. */
static inline uint64_t cuzk_zigzag(uint64_t difference)
{
    return difference << 1 ^ (difference >> 63 != 0 ? UINT64_MAX : 0);
}

/** Undo cuzk_zigzag. Pure. */
static inline uint64_t cuzk_unzigzag(uint64_t z)
{
    return z >> 1 ^ ((z & 1) != 0 ? UINT64_MAX : 0);
}

#endif
