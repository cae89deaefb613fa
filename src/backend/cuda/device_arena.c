/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One allocation; private purposes come last in every plan of ours, but releasing clears all of it:
 * that takes milliseconds. */
#include "backend/cuda/device_arena.h"

#include <stdio.h>

size_t cuzk_arena_plan(cuzk_arena *arena, cuzk_arena_purpose purpose, size_t n_bytes)
{
    size_t at = arena->total, rounded = (n_bytes + 255) & ~(size_t)255;
    arena->bytes[purpose] += rounded;
    arena->total += rounded;
    return at;
}

const char *cuzk_arena_purpose_name(cuzk_arena_purpose purpose)
{
    static const char *const names[CUZK_ARENA_PURPOSES] = {"key",     "circuit", "tables",
                                                           "staging", "witness", "workspace"};
    return names[purpose];
}

static double mebibytes(uint64_t n_bytes)
{
    return (double)n_bytes / (1 << 20);
}

cuzk_status cuzk_arena_too_much(const cuzk_arena *arena, uint64_t key_bytes, uint64_t limit,
                                cuzk_error *err)
{
    char text[256], streamed[96] = "";
    int n = 0;
    for (int i = 0; i < CUZK_ARENA_PURPOSES && n >= 0 && n < (int)sizeof text; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s %.1f", i == 0 ? "" : ", ",
                      cuzk_arena_purpose_name((cuzk_arena_purpose)i), mebibytes(arena->bytes[i]));
    }
    if (key_bytes != 0 && arena->bytes[CUZK_ARENA_KEY] == 0) {
        snprintf(streamed, sizeof streamed, " even with the %.1f MiB of its points streamed",
                 mebibytes(key_bytes));
    }
    return CUZK_FAIL(err, CUZK_E_MEMORY,
                     "%s needs %.1f MiB of device memory%s (%s), there are %.1f",
                     arena->what != NULL ? arena->what : "a proof with this key",
                     mebibytes(arena->total), streamed, text, mebibytes(limit));
}

cuzk_status cuzk_arena_reserve(cuzk_arena *arena, const cuzk_cuda_api *api, size_t limit,
                               cuzk_error *err)
{
    size_t free_bytes = 0, all_bytes = 0;
    CUZK_CUDA_TRY(api, err, cuMemGetInfo, (&free_bytes, &all_bytes));
    limit = limit == 0 || limit > free_bytes ? free_bytes : limit;
    if (arena->total > limit) {
        return cuzk_arena_too_much(arena, 0, limit, err);
    }
    CUresult result = CUZK_CU(api, cuMemAlloc)(&arena->at, arena->total);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) { /* free, but not in one piece */
        arena->at = 0;
        return cuzk_arena_too_much(arena, 0, limit, err);
    }
    cuzk_status status = cuzk_cuda_check(api, result, "cuMemAlloc", __FILE__, __LINE__, err);
    if (status != CUZK_OK) {
        arena->at = 0;
    }
    return status;
}

void cuzk_arena_release(cuzk_arena *arena, const cuzk_cuda_api *api)
{
    if (arena->at != 0) {
        (void)CUZK_CU(api, cuMemsetD8)(arena->at, 0, arena->total);
        (void)CUZK_CU(api, cuMemFree)(arena->at);
    }
    *arena = (cuzk_arena){0};
}
