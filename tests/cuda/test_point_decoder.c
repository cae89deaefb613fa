/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Points decoded on the device against the CPU's decoder: the same bytes for good ones, the first
 * bad one found whatever it is. */
#include "backend/cuda/point_decoder.h"
#include "device_test.h"
#include "formats/points.h"

static const cuzk_curve *curve;
static cuzk_point_decoder decoder;

/* n encoded points: small multiples of the generator. */
static uint8_t *draw(const cuzk_group *g, size_t n)
{
    uint8_t *encoded = malloc(n * g->affine_bytes);
    cuzk_affine generator;
    cuzk_jac p;
    g->generator(&generator);
    g->from_affine(&p, &generator);
    for (size_t i = 0; i < n; i++) {
        cuzk_affine packed;
        g->to_affine(&packed, &p);
        g->encode(encoded + i * g->affine_bytes, &packed, CUZK_POINT_UNCOMPRESSED);
        g->add_affine(&p, &p, &generator);
    }
    return encoded;
}

/* What the device makes of them; *first: the first bad one, or UINT32_MAX. */
static uint8_t *decode(const cuzk_group *g, const uint8_t *encoded, uint32_t n, uint32_t number,
                       uint32_t *first)
{
    cuzk_error error = {0};
    uint32_t none = 0, worst;
    CUdeviceptr d[2] = {device_bytes(encoded, n * g->affine_bytes), device_bytes(&none, 4)};
    must(cuzk_point_decoder_run(&decoder, g->id, d[0], number, n / 2, d[1], NULL, &error), &error);
    must(cuzk_point_decoder_run(&decoder, g->id, d[0] + n / 2 * g->affine_bytes, number + n / 2,
                                n - n / 2, d[1], NULL, &error),
         &error);
    uint8_t *found = host_bytes(d[0], n * g->affine_bytes);
    uint32_t *word = host_bytes(d[1], 4);
    worst = *word;
    free(word);
    free_all(d, 2);
    if (!cuzk_point_decoder_bad(worst, first)) {
        assert_int_equal(*first, UINT32_MAX);
    }
    return found;
}

static void check_good(cuzk_group_id id, uint32_t n)
{
    cuzk_error error = {0};
    const cuzk_group *g = &curve->g[id];
    uint8_t *encoded = draw(g, n), *expected = malloc(n * g->affine_bytes);
    uint32_t first;
    must(cuzk_points_decode(curve, id, expected, encoded, n, 0, 0, "test", NULL, &error), &error);
    uint8_t *found = decode(g, encoded, n, 0, &first);
    assert_int_equal(first, UINT32_MAX);
    assert_memory_equal(found, expected, n * g->affine_bytes);
    free(encoded);
    free(expected);
    free(found);
}

static void test_good(void **state)
{
    (void)state;
    for (int id = CUZK_G1; id <= CUZK_G2; id++) {
        check_good((cuzk_group_id)id, 1);
        check_good((cuzk_group_id)id, 300);
        if (!device_test_is_small()) {
            check_good((cuzk_group_id)id, 100000);
        }
    }
}

/* Point `at` of a few is spoiled: by flags, infinity, coordinates of p and more, points beside the
 * curve. The CPU refuses each, too. */
static void check_bad(const cuzk_group *g, void (*spoil)(const cuzk_group *g, uint8_t *point),
                      uint32_t at)
{
    enum { N = 40, NUMBER = 1000 };
    cuzk_error error = {0};
    uint8_t *encoded = draw(g, N), *host = malloc(N * g->affine_bytes);
    uint32_t first;
    spoil(g, encoded + at * g->affine_bytes);
    encoded[(N - 1) * g->affine_bytes + 20] ^= 1; /* a later one does not hide it */
    uint8_t *found = decode(g, encoded, N, NUMBER, &first);
    assert_int_equal(first, NUMBER + at);
    assert_int_equal(cuzk_points_decode(curve, g->id, host, encoded, N, 0, 0, "test", NULL, &error),
                     CUZK_E_FORMAT);
    char words[32];
    snprintf(words, sizeof words, "point %u:", at);
    assert_non_null(strstr(error.text, words));
    free(encoded);
    free(host);
    free(found);
}

static void compressed(const cuzk_group *g, uint8_t *point)
{
    (void)g;
    point[0] |= 0x80;
}

static void larger_y(const cuzk_group *g, uint8_t *point)
{
    (void)g;
    point[0] |= 0x20;
}

static void infinity(const cuzk_group *g, uint8_t *point)
{
    memset(point, 0, g->affine_bytes);
    point[0] = 0x40;
}

static void zeros(const cuzk_group *g, uint8_t *point)
{
    memset(point, 0, g->affine_bytes);
}

/* p, which is 0 for whoever does not look */
static void of_p(const cuzk_group *g, uint8_t *point)
{
    static const uint8_t p[48] = {0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b,
                                  0xa7, 0xb6, 0x43, 0x4b, 0xac, 0xd7, 0x64, 0x77, 0x4b, 0x84,
                                  0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0,
                                  0xf6, 0x24, 0x1e, 0xab, 0xff, 0xfe, 0xb1, 0x53, 0xff, 0xff,
                                  0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab};
    memcpy(point + g->affine_bytes - 48, p, sizeof p);
}

static void other_y(const cuzk_group *g, uint8_t *point)
{
    point[g->affine_bytes - 1] ^= 1;
}

static void other_x(const cuzk_group *g, uint8_t *point)
{
    point[g->affine_bytes / 2 - 1] ^= 1;
}

static void test_bad(void **state)
{
    (void)state;
    void (*const spoils[])(const cuzk_group *, uint8_t *) = {compressed, larger_y, infinity, zeros,
                                                             of_p,       other_y,  other_x};
    for (int id = CUZK_G1; id <= CUZK_G2; id++) {
        for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
            check_bad(&curve->g[id], spoils[i], (uint32_t)(5 * i));
        }
    }
}

int main(void)
{
    cuzk_error error = {0};
    device_test_open();
    curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    must(cuzk_point_decoder_open(&decoder, device.api, &error), &error);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_point_decoder_close(&decoder);
    return failed;
}
