/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Device memory of one key: everything is planned first, by purpose, then reserved at once; nothing
 * is allocated after that. */
#ifndef CUZK_BACKEND_CUDA_DEVICE_ARENA_H
#define CUZK_BACKEND_CUDA_DEVICE_ARENA_H

#include "backend/cuda/driver.h"

typedef enum {
    CUZK_ARENA_KEY = 0,       /* the key's points */
    CUZK_ARENA_CIRCUIT = 1,   /* rows, and which variables have bases */
    CUZK_ARENA_TABLES = 2,    /* factors of transforms */
    CUZK_ARENA_STAGING = 3,   /* pieces of a streamed key */
    CUZK_ARENA_WITNESS = 4,   /* of one proof: private */
    CUZK_ARENA_WORKSPACE = 5, /* of one proof: private */
    CUZK_ARENA_PURPOSES = 6
} cuzk_arena_purpose;

/** "key", "circuit", … */
const char *cuzk_arena_purpose_name(cuzk_arena_purpose purpose);

/* A plan and, once reserved, the memory. All zero: an empty plan. */
typedef struct {
    size_t bytes[CUZK_ARENA_PURPOSES]; /* planned for each purpose */
    size_t total;
    CUdeviceptr at;   /* 0: not reserved */
    const char *what; /* needs it, in errors; a literal; NULL: "a proof with this key" */
} cuzk_arena;

/** Plan n_bytes more: returns their offset, a multiple of 256. */
size_t cuzk_arena_plan(cuzk_arena *arena, cuzk_arena_purpose purpose, size_t n_bytes);

/** E_MEMORY: an arena of this plan is more than `limit` bytes, of what each purpose takes.
 * key_bytes: of all points of its key, on the device or not; 0: they are not worth a word. */
cuzk_status cuzk_arena_too_much(const cuzk_arena *arena, uint64_t key_bytes, uint64_t limit,
                                cuzk_error *err) CUZK_WARN_UNUSED;

/** Reserve what is planned. limit: the most bytes it may be; 0: what is free on the device of the
 *  current context. Errors: E_MEMORY with the bytes of each purpose and the limit; E_DEVICE. */
cuzk_status cuzk_arena_reserve(cuzk_arena *arena, const cuzk_cuda_api *api, size_t limit,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** Clear private memory and give all back. Nothing may be running. */
void cuzk_arena_release(cuzk_arena *arena, const cuzk_cuda_api *api);

#endif
