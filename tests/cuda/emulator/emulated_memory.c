/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* With several devices an allocation is whole pages, so that it can be closed. */
#include "emulated_memory.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALLOCATIONS_MAX = 1024, PAGE = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct {
    CUdeviceptr at; /* 0: free */
    size_t n_bytes;
    int device;
} allocations[ALLOCATIONS_MAX];

int emulated_devices(void)
{
    static _Atomic int n;
    if (n == 0) {
        const char *text = getenv("CUZK_EMULATED_DEVICES");
        int asked = text == NULL ? 1 : atoi(text);
        n = asked < 1 ? 1 : asked > EMULATED_DEVICES_MAX ? EMULATED_DEVICES_MAX : asked;
    }
    return n;
}

static bool are_several(void)
{
    return emulated_devices() > 1;
}

/* Open the memory of all other devices, or close it. */
static void set_open(int device, bool is_open)
{
    for (int i = 0; i < ALLOCATIONS_MAX; i++) {
        if (allocations[i].at != 0 && allocations[i].device != device &&
            mprotect((void *)(uintptr_t)allocations[i].at, allocations[i].n_bytes,
                     is_open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
            perror("emulated driver: mprotect");
            abort();
        }
    }
}

CUdeviceptr emulated_alloc(int d, size_t n_bytes)
{
    size_t grain = are_several() ? PAGE : 256, rounded = (n_bytes + grain - 1) / grain * grain;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < ALLOCATIONS_MAX && allocations[i].at != 0) {
        i++;
    }
    void *p = i < ALLOCATIONS_MAX ? aligned_alloc(grain, rounded) : NULL;
    if (p != NULL) {
        allocations[i].at = (CUdeviceptr)(uintptr_t)p;
        allocations[i].n_bytes = rounded;
        allocations[i].device = d;
    }
    pthread_mutex_unlock(&lock);
    return (CUdeviceptr)(uintptr_t)p;
}

bool emulated_free(CUdeviceptr p)
{
    bool is_found = p == 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < ALLOCATIONS_MAX && !is_found; i++) {
        is_found = allocations[i].at == p;
        if (is_found) {
            allocations[i].at = 0;
            free((void *)(uintptr_t)p);
        }
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

bool emulated_is_of(int d, CUdeviceptr p, size_t n_bytes)
{
    if (!are_several()) {
        return true;
    }
    bool is_found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < ALLOCATIONS_MAX && !is_found; i++) {
        CUdeviceptr at = allocations[i].at;
        is_found = at != 0 && allocations[i].device == d && p >= at &&
                   p - at <= allocations[i].n_bytes && n_bytes <= allocations[i].n_bytes - (p - at);
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

void emulated_copy(void *to, const void *from, size_t n_bytes)
{
    if (are_several()) {
        pthread_mutex_lock(&lock);
    }
    memcpy(to, from, n_bytes);
    if (are_several()) {
        pthread_mutex_unlock(&lock);
    }
}

void emulated_fill(void *to, unsigned char byte, size_t n_bytes)
{
    if (are_several()) {
        pthread_mutex_lock(&lock);
    }
    memset(to, byte, n_bytes);
    if (are_several()) {
        pthread_mutex_unlock(&lock);
    }
}

void emulated_enter(int d)
{
    pthread_mutex_lock(&lock);
    if (are_several()) {
        set_open(d, false);
    }
}

void emulated_leave(int d)
{
    if (are_several()) {
        set_open(d, true);
    }
    pthread_mutex_unlock(&lock);
}
