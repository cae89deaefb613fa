/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every status has a name, a sentence and codes; error texts never leave their buffer. */
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    cuzk_status status;
    const char *name;
} all[] = {
#define ROW(name, value, exit_code, grpc, text) {CUZK_##name, #name},
    CUZK_STATUS_MAP(ROW)
#undef ROW
};
enum { N_STATUS = sizeof all / sizeof all[0] };

static void test_every_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_STATUS; i++) {
        cuzk_status s = all[i].status;
        assert_string_equal(cuzk_status_name(s), all[i].name);
        assert_true(strlen(cuzk_status_text(s)) > 0);
        int exit_code = cuzk_status_exit_code(s), grpc = cuzk_status_grpc_code(s);
        assert_int_equal(exit_code == 0, s == CUZK_OK);
        assert_int_equal(exit_code == 2, s == CUZK_E_ARGUMENT);
        assert_in_range(exit_code, 0, 2);
        assert_int_equal(grpc == 0, s == CUZK_OK);
        assert_in_range(grpc, 0, 16);
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(all[k].status, s);
            assert_string_not_equal(all[k].name, all[i].name);
            assert_string_not_equal(cuzk_status_text(all[k].status), cuzk_status_text(s));
        }
    }
    cuzk_status unknown = (cuzk_status)12345;
    assert_true(strlen(cuzk_status_name(unknown)) > 0);
    assert_string_equal(cuzk_status_text(unknown), "unknown status");
    assert_int_equal(cuzk_status_exit_code(unknown), 1);
    assert_int_equal(cuzk_status_grpc_code(unknown), 2); /* UNKNOWN */
}

static void test_first_cause_stays(void **state)
{
    (void)state;
    cuzk_error err = {0};
    cuzk_error_prefix(&err, "nothing is there to prefix");
    assert_string_equal(err.text, "");
    assert_int_equal(CUZK_FAIL(&err, CUZK_E_FORMAT, "section %d: bad", 3), CUZK_E_FORMAT);
    int line = err.line;
    assert_int_equal(CUZK_FAIL(&err, CUZK_E_FILE, "later"), CUZK_E_FILE);
    assert_string_equal(err.text, "section 3: bad");
    assert_int_equal(err.status, CUZK_E_FORMAT);
    assert_int_equal(err.line, line);
    cuzk_error_clear(&err);
    assert_int_equal(err.status, CUZK_OK);
    assert_string_equal(err.text, "");
    /* nobody wants to know */
    assert_int_equal(CUZK_FAIL(NULL, CUZK_E_MEMORY, "x"), CUZK_E_MEMORY);
    cuzk_error_prefix(NULL, "x");
    cuzk_error_clear(NULL);
}

/* Texts and prefixes of every length around the buffer's: the head is kept, the end is cut. */
static void test_long_texts(void **state)
{
    (void)state;
    enum { MAX = CUZK_ERROR_TEXT_MAX };
    static char text[2 * MAX], phase[2 * MAX];
    for (size_t n_text = 1; n_text < 2 * MAX - 1; n_text += n_text < MAX - 8 ? 97 : 1) {
        for (size_t n_phase = 1; n_phase < 2 * MAX - 1; n_phase += n_phase < MAX - 8 ? 251 : 3) {
            struct {
                cuzk_error err;
                uint64_t behind;
            } e = {.behind = 0x5a5a5a5a5a5a5a5a};
            memset(text, 't', n_text);
            text[n_text] = 0;
            memset(phase, 'p', n_phase);
            phase[n_phase] = 0;
            (void)CUZK_FAIL(&e.err, CUZK_E_FORMAT, "%s", text);
            size_t kept = n_text < MAX - 1 ? n_text : MAX - 1;
            assert_int_equal(strlen(e.err.text), kept);
            cuzk_error_prefix(&e.err, "%s", phase);
            size_t head = n_phase < MAX - 3 ? n_phase : MAX - 3;
            size_t whole = head + 2 + kept < MAX - 1 ? head + 2 + kept : MAX - 1;
            assert_int_equal(strlen(e.err.text), whole);
            assert_int_equal(strspn(e.err.text, "p"), head);
            assert_memory_equal(e.err.text + head, ": ", 2);
            assert_int_equal(strspn(e.err.text + head + 2, "t"), whole - head - 2);
            assert_true(e.behind == 0x5a5a5a5a5a5a5a5a);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_status),
        cmocka_unit_test(test_first_cause_stays),
        cmocka_unit_test(test_long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
