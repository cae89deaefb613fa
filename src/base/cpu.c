/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Processor features by the C library's table or, where it shows none, the compiler's cpuid
 * support; both also ask the operating system whether it saves the wide registers. */
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[CUZK_CPU_PATH_COUNT] = {"portable", "adx", "ifma", "ifma-emulated"};

const char *cuzk_cpu_path_name(cuzk_cpu_path path)
{
    return (unsigned)path < CUZK_CPU_PATH_COUNT ? names[path] : "unknown";
}

#if !CUZK_HAVE_X86_PATHS /* what is not built the processor need not have */
static bool has_adx(void)
{
    return false;
}

static bool has_ifma(void)
{
    return false;
}
#elif defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
/* The C library has asked already, at start: no further cpuid. */
#include <sys/platform/x86.h>

/* As the header's functions, without their shift into the sign bit (AVX512VL is bit 31). */
static bool feature(unsigned index, bool active)
{
    const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf(index / 128);
    const unsigned *words = active ? leaf->active_array : leaf->cpuid_array;
    return (words[index % 128 / 32] >> (index % 32) & 1) != 0;
}

static bool has_adx(void)
{
    return feature(x86_cpu_BMI2, true) && feature(x86_cpu_ADX, false);
}

static bool has_ifma(void)
{
    return has_adx() && feature(x86_cpu_AVX512F, true) && feature(x86_cpu_AVX512DQ, true) &&
           feature(x86_cpu_AVX512BW, true) && feature(x86_cpu_AVX512VL, true) &&
           feature(x86_cpu_AVX512_IFMA, true) && feature(x86_cpu_AVX512_VBMI, true);
}
#elif defined(__x86_64__)
#include <cpuid.h>

static bool has_adx(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        return false;
    }
    return (b >> 8 & 1) != 0 && (b >> 19 & 1) != 0;
}

static bool has_ifma(void)
{
    return has_adx() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512vbmi");
}
#endif

bool cuzk_cpu_supports(cuzk_cpu_path path)
{
    /* One bit a path; asked once, since each cpuid leaves a virtual machine for tens of
     * microseconds. Relaxed: every thread that races here computes the same value. */
    static _Atomic unsigned known;
    const unsigned decided = 1u << CUZK_CPU_PATH_COUNT;
    unsigned paths = atomic_load_explicit(&known, memory_order_relaxed);
    if (paths == 0) {
        paths = decided | 1u << CUZK_CPU_PORTABLE | 1u << CUZK_CPU_IFMA_EMULATED;
        paths |= has_adx() ? 1u << CUZK_CPU_ADX : 0;
        paths |= has_ifma() ? 1u << CUZK_CPU_IFMA : 0;
        atomic_store_explicit(&known, paths, memory_order_relaxed);
    }
    return (unsigned)path < CUZK_CPU_PATH_COUNT && (paths >> path & 1) != 0;
}

/* Index of the pinned path, -1 when nothing is pinned, -2 when the name is unknown. */
static int pinned(void)
{
    const char *text = getenv("CUZK_CPU");
    if (text == NULL || *text == '\0') {
        return -1;
    }
    for (int i = 0; i < CUZK_CPU_PATH_COUNT; i++) {
        if (strcmp(text, names[i]) == 0) {
            return i;
        }
    }
    return -2;
}

cuzk_cpu_path cuzk_cpu_path_get(void)
{
    /* Relaxed: every thread that races here computes the same value. */
    static _Atomic int chosen = -1;
    int path = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (path < 0) {
        path = pinned();
        if (path < 0 || !cuzk_cpu_supports((cuzk_cpu_path)path)) {
            path = cuzk_cpu_supports(CUZK_CPU_IFMA)  ? CUZK_CPU_IFMA
                   : cuzk_cpu_supports(CUZK_CPU_ADX) ? CUZK_CPU_ADX
                                                     : CUZK_CPU_PORTABLE;
        }
        atomic_store_explicit(&chosen, path, memory_order_relaxed);
    }
    return (cuzk_cpu_path)path;
}

cuzk_status cuzk_cpu_check(cuzk_error *err)
{
    int path = pinned();
    CUZK_FAIL_IF(path == -2, err, CUZK_E_ARGUMENT,
                 "CUZK_CPU=%s: unknown path; known: portable, adx, ifma, ifma-emulated",
                 getenv("CUZK_CPU"));
    CUZK_FAIL_IF(path >= 0 && !cuzk_cpu_supports((cuzk_cpu_path)path), err, CUZK_E_ARGUMENT,
                 "CUZK_CPU=%s: this processor lacks the instructions of that path", names[path]);
    return CUZK_OK;
}
