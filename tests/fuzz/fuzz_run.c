/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counting the heap: with the sanitizer's hooks where it is there, otherwise with the linker's
 * --wrap, which catches the calls of our own and of statically linked code. Only what the calling
 * thread takes counts: libFuzzer's watching thread allocates when it starts. */
#include "fuzz.h"

#include <malloc.h>
#include <stdbool.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifndef WITH_ASAN
#define WITH_ASAN 0
#endif

static _Thread_local bool counting;
static long long live;
static long long peak;

static void taken(size_t n)
{
    if (counting) {
        live += (long long)n;
        peak = live > peak ? live : peak;
    }
}

static void given_back(size_t n)
{
    if (counting) {
        live -= (long long)n;
    }
}

#if WITH_ASAN
/* from sanitizer/allocator_interface.h, which gcc's own libasan has no header for */
size_t __sanitizer_get_allocated_size(const volatile void *p);
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void on_malloc(const volatile void *p, size_t n)
{
    (void)p;
    taken(n);
}

static void on_free(const volatile void *p)
{
    if (counting && p != NULL) {
        given_back(__sanitizer_get_allocated_size((const void *)p));
    }
}

static void start_counting(void)
{
    static bool installed;
    if (!installed) {
        installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) != 0;
    }
    CUZK_FUZZ_CHECK(installed);
}
#else
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t each);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t each);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

static void *counted(void *p)
{
    taken(p != NULL ? malloc_usable_size(p) : 0);
    return p;
}

void *__wrap_malloc(size_t n)
{
    return counted(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t each)
{
    return counted(__real_calloc(n, each));
}

void *__wrap_realloc(void *p, size_t n)
{
    size_t before = p != NULL ? malloc_usable_size(p) : 0;
    void *q = __real_realloc(p, n);
    if (q != NULL || n == 0) {
        given_back(before);
    }
    return counted(q);
}

void __wrap_free(void *p)
{
    given_back(p != NULL ? malloc_usable_size(p) : 0);
    __real_free(p);
}

static void start_counting(void)
{
}
#endif

__attribute__((weak)) size_t cuzk_fuzz_slack_bytes = CUZK_FUZZ_SLACK_BYTES;

void cuzk_fuzz_run(const uint8_t *data, size_t size)
{
    start_counting();
    live = 0;
    peak = 0;
    counting = true;
    cuzk_fuzz_one(data, size);
    counting = false;
    if (peak > (long long)(size + cuzk_fuzz_slack_bytes) || live != 0) {
        fprintf(stderr, "heap: peak %lld bytes, %lld left, for an input of %zu bytes\n", peak, live,
                size);
        abort();
    }
}
