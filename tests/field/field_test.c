/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "field_test.h"
#include "random.h"

static uint64_t seed, state;

extern const field_ops *const cuzk_bn254_portable_field_ops[3];
extern const field_ops *const cuzk_bls12_381_portable_field_ops[3];
#if CUZK_HAVE_X86_PATHS
extern const field_ops *const cuzk_bn254_adx_field_ops[3];
extern const field_ops *const cuzk_bls12_381_adx_field_ops[3];
#endif

static const field_ops *const *join(const field_ops **out, const field_ops *const *a,
                                    const field_ops *const *b)
{
    for (int i = 0; i < 3; i++) {
        out[i] = a[i];
        out[3 + i] = b[i];
    }
    return out;
}

const field_ops *const *field_ops_of_path(cuzk_cpu_path path)
{
    static const field_ops *tables[CUZK_CPU_PATH_COUNT][FIELD_OPS_PER_PATH];
    if (!cuzk_cpu_supports(path)) {
        return NULL;
    }
    if (path == CUZK_CPU_PORTABLE) {
        return join(tables[path], cuzk_bn254_portable_field_ops, cuzk_bls12_381_portable_field_ops);
    }
#if CUZK_HAVE_X86_PATHS
    if (path == CUZK_CPU_ADX) {
        return join(tables[path], cuzk_bn254_adx_field_ops, cuzk_bls12_381_adx_field_ops);
    }
#endif
    return NULL;
}

void field_test_begin(void)
{
    const char *text = getenv("CUZK_TEST_SEED");
    seed = text ? strtoull(text, NULL, 0) : 20261130;
    state = seed;
    printf("CUZK_TEST_SEED=%llu\n", (unsigned long long)seed);
}

uint64_t rand_u64(void)
{
    return cuzk_test_random(&state);
}

void rand_words(uint64_t *o, unsigned n)
{
    unsigned kind = (unsigned)(rand_u64() % 8);
    unsigned bit = (unsigned)(rand_u64() % (64 * n));
    for (unsigned i = 0; i < n; i++) {
        switch (kind) {
        case 0: /* 2^bit */
            o[i] = i == bit / 64 ? UINT64_C(1) << (bit % 64) : 0;
            break;
        case 1: /* 2^bit - 1 */
            o[i] = i < bit / 64 ? ~UINT64_C(0) : i > bit / 64 ? 0 : (UINT64_C(1) << (bit % 64)) - 1;
            break;
        case 2: /* words of zeros and ones */
            o[i] = 0 - (rand_u64() & 1);
            break;
        case 3: /* some words full */
            o[i] = rand_u64() % 3 ? rand_u64() : ~UINT64_C(0);
            break;
        default:
            o[i] = rand_u64();
            break;
        }
    }
}

static bool less(const uint64_t *a, const uint64_t *b, unsigned n)
{
    for (unsigned i = n; i-- > 0;) {
        if (a[i] != b[i]) {
            return a[i] < b[i];
        }
    }
    return false;
}

static void subtract(uint64_t *o, const uint64_t *a, const uint64_t *b, unsigned n)
{
    uint64_t borrow = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t d = a[i] - b[i];
        uint64_t next = (a[i] < b[i]) | (d < borrow);
        o[i] = d - borrow;
        borrow = next;
    }
}

void naive_mod(uint64_t *o, const uint64_t *a, unsigned n_a, const uint64_t *m, unsigned n)
{
    uint64_t r[FIELD_WORDS_MAX + 1] = {0}, m_wide[FIELD_WORDS_MAX + 1] = {0};
    memcpy(m_wide, m, 8 * n);
    for (unsigned bit = 64 * n_a; bit-- > 0;) { /* r = 2r + bit, at most 2m - 1 */
        for (unsigned i = n; i > 0; i--) {
            r[i] = (r[i] << 1) | (r[i - 1] >> 63);
        }
        r[0] = (r[0] << 1) | ((a[bit / 64] >> (bit % 64)) & 1);
        if (!less(r, m_wide, n + 1)) {
            subtract(r, r, m_wide, n + 1);
        }
    }
    memcpy(o, r, 8 * n);
}

void naive_add(uint64_t *o, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned n)
{
    uint64_t sum[FIELD_WORDS_MAX + 1], carry = 0;
    for (unsigned i = 0; i < n; i++) {
        sum[i] = a[i] + b[i];
        uint64_t next = sum[i] < a[i];
        sum[i] += carry;
        carry = next | (sum[i] < carry);
    }
    sum[n] = carry;
    naive_mod(o, sum, n + 1, m, n);
}

void naive_mul(uint64_t *o, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned n)
{
    uint32_t x[2 * FIELD_WORDS_MAX], y[2 * FIELD_WORDS_MAX];
    uint64_t w[2 * FIELD_WORDS_MAX] = {0};
    for (unsigned i = 0; i < 2 * n; i++) {
        x[i] = (uint32_t)(a[i / 2] >> (32 * (i % 2)));
        y[i] = (uint32_t)(b[i / 2] >> (32 * (i % 2)));
    }
    uint32_t z[4 * FIELD_WORDS_MAX] = {0}; /* schoolbook on half words */
    for (unsigned i = 0; i < 2 * n; i++) {
        uint64_t carry = 0;
        for (unsigned j = 0; j < 2 * n; j++) {
            uint64_t t = (uint64_t)x[i] * y[j] + z[i + j] + carry;
            z[i + j] = (uint32_t)t;
            carry = t >> 32;
        }
        z[i + 2 * n] = (uint32_t)carry;
    }
    for (unsigned i = 0; i < 4 * n; i++) {
        w[i / 2] |= (uint64_t)z[i] << (32 * (i % 2));
    }
    naive_mod(o, w, 2 * n, m, n);
}

void rand_below(uint64_t *o, const uint64_t *m, unsigned n)
{
    uint64_t small[FIELD_WORDS_MAX] = {rand_u64() % 3};
    switch (rand_u64() % 6) {
    case 0: /* 0, 1, 2 */
        memcpy(o, small, 8 * n);
        break;
    case 1: /* m - 1, m - 2, m - 3 */
        small[0]++;
        subtract(o, m, small, n);
        break;
    case 2: /* highest top word, the rest anything: largest words that stay below m */
        rand_words(o, n);
        o[n - 1] = m[n - 1];
        if (!less(o, m, n)) {
            o[n - 1]--;
        }
        break;
    default:
        rand_words(o, n);
        naive_mod(o, o, n, m, n);
        break;
    }
}

elem rand_elem(const field_ops *f)
{
    elem e = {{0}};
    for (unsigned c = 0; c < f->words; c += f->base_words) {
        rand_below(e.l + c, f->modulus, f->base_words);
    }
    if (rand_u64() % 2 == 0) {
        f->from_canonical(&e, e.l);
    }
    return e;
}

static void print_words(const char *label, const uint64_t *w, unsigned n)
{
    fprintf(stderr, "  %-9s", label);
    for (unsigned i = n; i-- > 0;) {
        fprintf(stderr, " %016llx", (unsigned long long)w[i]);
    }
    fprintf(stderr, "\n");
}

void field_expect(const field_ops *f, const char *what, unsigned index, const uint64_t *found,
                  const uint64_t *expected, unsigned n, const uint64_t *a, const uint64_t *b,
                  const char *file, int line)
{
    if (memcmp(found, expected, 8 * n) == 0) {
        return;
    }
    fprintf(stderr, "%s: %s, case %u, seed %llu (words, highest first)\n", f->name, what, index,
            (unsigned long long)seed);
    if (a) {
        print_words("a", a, f->words);
    }
    if (b) {
        print_words("b", b, f->words);
    }
    print_words("found", found, n);
    print_words("expected", expected, n);
    _fail(file, line);
}
