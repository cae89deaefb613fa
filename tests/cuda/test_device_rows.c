/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows on the device against those of the CPU: circuits with repeated parts that choose their
 * variables, all kinds of coefficients, witnesses of any types. */
#include "backend/cuda/device_rows.h"
#include "device_test.h"
#include "r1cs/satisfy.h"

enum { HEAD = 40, OWN = 100, ROWS = 50, CHOICE = 4, LG_N = 12 };

static const cuzk_curve *curve;

static cuzk_fr random_element(void)
{
    cuzk_fr x;
    for (int i = 0; i < 4; i++) {
        x.l[i] = cuda_test_random();
    }
    x.l[3] %= curve->r[3];
    return x;
}

/* 1, -1, small, full width. */
static cuzk_fr random_coef(void)
{
    cuzk_fr x = curve->fr_one;
    uint64_t kind = cuda_test_random() % 8;
    if (kind == 6) {
        curve->fr_from_u64(&x, 2 + cuda_test_random() % 1000);
    } else if (kind == 7) {
        x = random_element();
    }
    if (cuda_test_random() % 2 == 0) {
        curve->fr_neg(&x, &x);
    }
    return x;
}

static cuzk_var_type random_type(void)
{
    return cuda_test_random() % 3 != 0 ? CUZK_VAR_BIT : CUZK_VAR_FIELD;
}

static void add_rows(cuzk_shape_builder *b, unsigned n, uint32_t n_inputs, uint32_t n_aux)
{
    for (unsigned i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            uint64_t kind = cuda_test_random() % 16;
            uint64_t n_terms = kind < 14 ? kind / 2 : cuda_test_random() % 60;
            for (uint64_t t = 0; t < n_terms; t++) {
                cuzk_fr coef = random_coef();
                bool is_input = cuda_test_random() % 8 == 0;
                cuzk_var var = is_input ? (cuzk_var)(cuda_test_random() % n_inputs)
                                        : cuzk_var_aux((uint32_t)(cuda_test_random() % n_aux));
                cuzk_shape_add_term(b, (cuzk_matrix)k, var, &coef);
            }
        }
        cuzk_shape_end_constraint(b);
    }
}

/* A head with variables to choose from, n_copies equal parts, a tail. */
static cuzk_shape *make_shape(uint32_t n_copies)
{
    cuzk_error error = {0};
    cuzk_shape_builder *b = NULL;
    cuzk_shape *shape = NULL;
    cuzk_var first[64];
    must(cuzk_shape_builder_create(&b, curve, &error), &error);
    (void)cuzk_shape_add_input(b, CUZK_VAR_FIELD);
    for (uint32_t i = 0; i < HEAD; i++) { /* what is chosen has the same types wherever it begins */
        (void)cuzk_shape_add_aux(b, i % CHOICE == 1 ? CUZK_VAR_FIELD : CUZK_VAR_BIT);
    }
    add_rows(b, 5, 2, HEAD);
    cuzk_shape_begin_copies(b, n_copies);
    for (uint32_t k = 0; k < n_copies; k++) {
        first[k] = cuzk_var_aux((uint32_t)(cuda_test_random() % (HEAD / CHOICE - 1)) * CHOICE);
    }
    cuzk_shape_choose(b, first, CHOICE);
    (void)cuzk_shape_add_input(b, random_type());
    for (int i = 0; i < OWN; i++) {
        (void)cuzk_shape_add_aux(b, random_type());
    }
    add_rows(b, ROWS, 3, HEAD + OWN);
    cuzk_shape_end_copies(b);
    add_rows(b, 3, 2, HEAD);
    must(cuzk_shape_builder_finish(b, &shape, &error), &error);
    return shape;
}

static cuzk_witness *make_witness(const cuzk_shape *shape)
{
    cuzk_error error = {0};
    cuzk_witness *w = NULL;
    must(cuzk_witness_create(&w, curve, shape->n_vars, shape->n_inputs, shape->is_field, &error),
         &error);
    for (uint32_t v = 1; v < w->n_vars; v++) {
        if (cuzk_bitmap_get(w->is_field, v)) {
            cuzk_fr x = random_element();
            memcpy(w->field[cuzk_witness_rank(w, v)], &x, 32);
        } else if (cuda_test_random() % 2 == 0) {
            cuzk_bitmap_set(w->bits, v);
        }
    }
    return w;
}

static size_t reversed(size_t i)
{
    size_t r = 0;
    for (unsigned b = 0; b < LG_N; b++) {
        r |= (i >> b & 1) << (LG_N - 1 - b);
    }
    return r;
}

static void compare(const cuzk_shape *shape, const cuzk_witness *w, unsigned m,
                    const cuzk_fr *found)
{
    static cuzk_fr expected[1 << LG_N];
    cuzk_shape_eval_rows(shape, w, (cuzk_matrix)m, expected, 1 << LG_N, NULL);
    for (size_t i = 0; i < 1 << LG_N; i++) {
        if (memcmp(&expected[i], &found[reversed(i)], 32) != 0) {
            fail_msg("%s: row %zu of %c differs", curve->name, i, "AB"[m]);
        }
    }
}

static void check_shape(uint32_t n_copies)
{
    cuzk_error error = {0};
    cuzk_shape *shape = make_shape(n_copies);
    cuzk_witness *w = make_witness(shape);
    cuzk_arena arena = {0};
    cuzk_device_rows rows;
    assert_true(cuzk_shape_n_rows(shape) < 1 << LG_N);
    must(cuzk_device_rows_open(&rows, device.api, shape, NULL, LG_N, &arena, &error), &error);
    must(cuzk_arena_reserve(&arena, device.api, 0, &error), &error);
    must(cuzk_device_rows_upload(&rows, &arena, &error), &error);
    size_t words = cuzk_bitmap_words(w->n_vars);
    CUdeviceptr d[5] = {device_bytes(w->is_field, 8 * words), device_bytes(w->bits, 8 * words),
                        device_bytes(w->rank, 4 * (words + 1)),
                        device_bytes(w->field, 32 * (size_t)w->n_field),
                        device_bytes(NULL, 32 << LG_N)};
    cuzk_rows_witness on_device = {(void *)(uintptr_t)d[0], (void *)(uintptr_t)d[1],
                                   (void *)(uintptr_t)d[2], (void *)(uintptr_t)d[3]};
    for (unsigned m = 0; m < 2; m++) {
        must(cuzk_device_rows_eval(&rows, &arena, m, &on_device, d[4], NULL, &error), &error);
        cuzk_fr *found = host_bytes(d[4], 32 << LG_N);
        compare(shape, w, m, found);
        free(found);
    }
    free_all(d, 5);
    cuzk_arena_release(&arena, device.api);
    cuzk_device_rows_close(&rows);
    cuzk_witness_destroy(w);
    cuzk_shape_destroy(shape);
}

static void test_copies(void **state)
{
    (void)state;
    for (int c = CUZK_CURVE_BN254; c <= CUZK_CURVE_BLS12_381; c++) {
        curve = cuzk_curve_get((cuzk_curve_id)c);
        check_shape(1);
        check_shape(2);
        check_shape(37);
    }
}

static void test_arena(void **state)
{
    (void)state;
    cuzk_error error = {0};
    cuzk_arena arena = {0};
    assert_int_equal(cuzk_arena_plan(&arena, CUZK_ARENA_KEY, 1), 0);
    assert_int_equal(cuzk_arena_plan(&arena, CUZK_ARENA_WORKSPACE, 3 << 20), 256);
    assert_int_equal(cuzk_arena_reserve(&arena, device.api, 1 << 20, &error), CUZK_E_MEMORY);
    assert_non_null(strstr(error.text, "3.0 MiB"));
    assert_non_null(strstr(error.text, "workspace 3.0"));
    assert_non_null(strstr(error.text, "there are 1.0"));
    error = (cuzk_error){0};
    must(cuzk_arena_reserve(&arena, device.api, 4 << 20, &error), &error);
    cuzk_arena_release(&arena, device.api);
    assert_int_equal(arena.total, 0);
}

int main(void)
{
    device_test_open();
    cuda_test_begin();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies), cmocka_unit_test(test_arena)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
