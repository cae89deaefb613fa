/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See poly_test.h. */
#include "poly_test.h"
#include "random.h"

#include <inttypes.h>
#include <stdio.h>

const cuzk_curve *K;
cuzk_error err;

static uint64_t state;

void poly_test_begin(void)
{
    if (cuzk_cpu_check(&err) != CUZK_OK) {
        fprintf(stderr, "skipped: %s\n", err.text);
        exit(77);
    }
    const char *seed = getenv("CUZK_TEST_SEED");
    state = seed != NULL ? strtoull(seed, NULL, 0) : UINT64_C(20261130);
    fprintf(stderr, "path %s, CUZK_TEST_SEED=%" PRIu64 "\n",
            cuzk_cpu_path_name(cuzk_cpu_path_get()), state);
}

unsigned poly_test_lg_max(unsigned usual, unsigned nightly)
{
    return getenv("CUZK_NIGHTLY") != NULL ? nightly : usual;
}

void *poly_test_alloc(size_t n_bytes)
{
    void *p = aligned_alloc(64, (n_bytes + 63) & ~(size_t)63);
    if (p == NULL) {
        abort();
    }
    return p;
}

uint64_t rand_u64(void)
{
    return cuzk_test_random(&state);
}

cuzk_fr rand_fr(void)
{
    cuzk_fr a = {{rand_u64(), rand_u64(), rand_u64(), rand_u64()}};
    cuzk_fr o = {{0, 0, 0, 0}};
    uint64_t kind = rand_u64() % 32;
    switch (kind) {
    case 0:
        return o;
    case 1:
        return K->fr_one;
    case 2:
        K->fr_neg(&o, &K->fr_one);
        return o;
    case 3:
        memcpy(o.l, K->r, sizeof o.l); /* r - 1 as raw words */
        o.l[0] -= 1;
        return o;
    case 4:
        o.l[0] = 1;
        return o;
    case 5:
        o.l[rand_u64() % 4] = (uint64_t)1 << rand_u64() % 61;
        return o;
    case 6:
        K->fr_from_u64(&o, rand_u64() % 3);
        return o;
    case 7:
        memset(a.l, 0xff, sizeof a.l);
        break;
    default:
        break;
    }
    K->fr_batch_from_canonical(&o, &a, 1);
    return o;
}

void rand_frs(cuzk_fr *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        a[i] = rand_fr();
    }
}

cuzk_fr add(cuzk_fr a, cuzk_fr b)
{
    K->fr_add(&a, &a, &b);
    return a;
}

cuzk_fr sub(cuzk_fr a, cuzk_fr b)
{
    K->fr_sub(&a, &a, &b);
    return a;
}

cuzk_fr mul(cuzk_fr a, cuzk_fr b)
{
    K->fr_mul(&a, &a, &b);
    return a;
}

cuzk_fr power(cuzk_fr a, uint64_t e)
{
    K->fr_pow_u64(&a, &a, e);
    return a;
}

cuzk_fr zero(void)
{
    return (cuzk_fr){{0, 0, 0, 0}};
}

cuzk_fr horner(const cuzk_fr *a, size_t n, cuzk_fr x)
{
    cuzk_fr acc = zero();
    for (size_t i = n; i-- > 0;) {
        acc = add(mul(acc, x), a[i]);
    }
    return acc;
}

static void print_fr(const char *name, const void *p)
{
    cuzk_fr a;
    memcpy(&a, p, sizeof a);
    fprintf(stderr, "  %s %016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "\n", name, a.l[3],
            a.l[2], a.l[1], a.l[0]);
}

void check_equal(const void *found, const void *expected, size_t n, const char *what, unsigned lg_n)
{
    for (size_t i = 0; i < n; i++) {
        const char *f = (const char *)found + 32 * i, *e = (const char *)expected + 32 * i;
        if (memcmp(f, e, 32) != 0) {
            fprintf(stderr, "%s, %s, 2^%u points, index %zu\n", K->name, what, lg_n, i);
            print_fr("found   ", f);
            print_fr("expected", e);
            fail();
        }
    }
}

cuzk_domain *domain_on(cuzk_cpu_path path, unsigned generator, unsigned lg_n)
{
    cuzk_domain *d = NULL;
    if (cuzk_domain_create_path(&d, K, path, generator, lg_n, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.text);
        fail();
    }
    return d;
}

cuzk_domain *domain_of(unsigned generator, unsigned lg_n)
{
    return domain_on(cuzk_cpu_path_get(), generator, lg_n);
}
