/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The threads of a block as contexts that are switched at barriers. */
#include "simt_launch.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { THREADS_MAX = 1024, STACK_BYTES = 1 << 17 };

typedef struct {
    unsigned x, y, z;
} simt_dim;

simt_dim threadIdx, blockIdx, blockDim, gridDim;

typedef enum { READY, AT_BLOCK_BARRIER, AT_WARP_BARRIER, RETURNED } thread_state;

/* A context runs threads one after another until one waits; that one keeps the context, and the
 * threads that have not begun go on in another. So a kernel without barriers needs one. Contexts
 * are made by makecontext and switched by _longjmp, which, unlike swapcontext, makes no system
 * call. */
static jmp_buf scheduler, contexts[THREADS_MAX];
static char *stacks;
static unsigned n_contexts;              /* in use in this block */
static unsigned context_of[THREADS_MAX]; /* of threads that wait */
static thread_state states[THREADS_MAX];
static uint32_t values[THREADS_MAX]; /* of simt_exchange */
static unsigned current, current_context, n_threads, n_begun;
static bool backwards;
static void (*running)(void **);
static void **running_params;

static void enter(unsigned t)
{
    current = t;
    threadIdx =
        (simt_dim){t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)};
}

static void context_main(void)
{
    while (n_begun < n_threads) {
        unsigned i = n_begun++;
        enter(backwards ? n_threads - 1 - i : i);
        running(running_params);
        states[current] = RETURNED;
    }
    _longjmp(scheduler, 1);
}

static void wait_as(thread_state state)
{
    states[current] = state;
    context_of[current] = current_context;
    if (_setjmp(contexts[current_context]) == 0) {
        _longjmp(scheduler, 1);
    }
}

void __syncthreads(void);
void __syncwarp(void);
const uint32_t *simt_exchange(uint32_t value);

void __syncthreads(void)
{
    wait_as(AT_BLOCK_BARRIER);
}

void __syncwarp(void)
{
    wait_as(AT_WARP_BARRIER);
}

const uint32_t *simt_exchange(uint32_t value)
{
    static uint32_t copies[THREADS_MAX][32];
    unsigned self = current, warp = self / 32 * 32;
    values[self] = value;
    wait_as(AT_WARP_BARRIER);
    for (unsigned i = 0; i < 32; i++) {
        copies[self][i] = states[warp + i] == RETURNED ? 0 : values[warp + i];
    }
    wait_as(AT_WARP_BARRIER);
    return copies[self];
}

/* Let threads go on that have all arrived; returns whether any can. */
static bool release(unsigned n)
{
    bool any = false, all_at_barrier = true;
    for (unsigned warp = 0; warp < n; warp += 32) {
        bool together = true;
        for (unsigned t = warp; t < warp + 32 && t < n; t++) {
            together &= states[t] == AT_WARP_BARRIER || states[t] == RETURNED;
            all_at_barrier &= states[t] == AT_BLOCK_BARRIER || states[t] == RETURNED;
        }
        for (unsigned t = warp; together && t < warp + 32 && t < n; t++) {
            any |= states[t] == AT_WARP_BARRIER;
            states[t] = states[t] == AT_WARP_BARRIER ? READY : states[t];
        }
    }
    for (unsigned t = 0; all_at_barrier && t < n; t++) {
        any |= states[t] == AT_BLOCK_BARRIER;
        states[t] = states[t] == AT_BLOCK_BARRIER ? READY : states[t];
    }
    return any;
}

/* Begin threads that have not begun, in a new context; returns when they wait or are done. */
static void begin_threads(void)
{
    static ucontext_t c;
    getcontext(&c);
    c.uc_stack.ss_sp = stacks + (size_t)n_contexts * STACK_BYTES;
    c.uc_stack.ss_size = STACK_BYTES;
    c.uc_link = NULL;
    makecontext(&c, context_main, 0);
    current_context = n_contexts++;
    if (_setjmp(scheduler) == 0) {
        setcontext(&c);
    }
}

/* Let a thread that waited go on. */
static void resume(unsigned t)
{
    enter(t);
    current_context = context_of[t];
    if (_setjmp(scheduler) == 0) {
        _longjmp(contexts[current_context], 1);
    }
}

static void run_block(const char *name, unsigned n)
{
    for (unsigned t = 0; t < THREADS_MAX; t++) {
        states[t] = t < n ? READY : RETURNED;
    }
    n_threads = n;
    n_begun = 0;
    n_contexts = 0;
    while (n_begun < n) {
        begin_threads();
    }
    while (release(n)) {
        for (unsigned i = 0; i < n; i++) {
            unsigned t = backwards ? n - 1 - i : i;
            if (states[t] == READY) {
                resume(t);
            }
        }
    }
    for (unsigned t = 0; t < n; t++) {
        if (states[t] != RETURNED) {
            fprintf(stderr, "kernel %s, block %u, thread %u: waits for ever\n", name, blockIdx.x,
                    t);
            abort();
        }
    }
}

void simt_launch(const simt_kernel *kernel, const unsigned grid[3], const unsigned block[3],
                 void **params)
{
    unsigned n = block[0] * block[1] * block[2];
    if (stacks == NULL) {
        stacks = malloc((size_t)THREADS_MAX * STACK_BYTES);
    }
    if (n == 0 || n > THREADS_MAX || stacks == NULL) {
        fprintf(stderr, "kernel %s: a block of %u threads\n", kernel->name, n);
        abort();
    }
    running = kernel->run;
    running_params = params;
    blockDim = (simt_dim){block[0], block[1], block[2]};
    gridDim = (simt_dim){grid[0], grid[1], grid[2]};
    for (unsigned z = 0; z < grid[2]; z++) {
        for (unsigned y = 0; y < grid[1]; y++) {
            for (unsigned x = 0; x < grid[0]; x++) {
                blockIdx = (simt_dim){x, y, z};
                run_block(kernel->name, n);
            }
        }
    }
    backwards = !backwards;
}
