/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files that the tests read: tests/fixtures (origin: its README.md), each stored plain or gzipped.
 *
 * Names are relative: "circom/bn254/poseidon2/circuit.zkey", "groth/cube/circuit.params". A name is
 * looked up as tests/fixtures/NAME, then tests/fixtures/NAME.gz, then in the larger collection that
 * may lie beside the tree (../shared/fixtures, ../shared/golden), plain or gzipped. Tests run with
 * the top of the tree as their working directory. Link with cuzk_test_fixtures. */
#ifndef CUZK_TESTS_FIXTURES_H
#define CUZK_TESTS_FIXTURES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint8_t *data; /* one zero byte follows, so that text can be used as a string */
    uint64_t size;
} cuzk_fixture;

/** Whether the fixture can be found, plain or gzipped. */
bool cuzk_test_fixture_exists(const char *name);

/** Read a whole fixture, inflated if need be. Prints the name and aborts when it is not there or
 *  not readable. Returned: free with cuzk_test_fixture_free. */
cuzk_fixture cuzk_test_fixture(const char *name);

/** Free and zero. */
void cuzk_test_fixture_free(cuzk_fixture *fixture);

/** Path of a plain (not gzipped) file with the fixture's content, for programs that are started
 *  with file names: the stored file itself, or an inflated copy kept in the build folder. Returned:
 *  free with free. Aborts like cuzk_test_fixture. */
char *cuzk_test_fixture_path(const char *name);

/* In a cmocka test: report the test as skipped, with the name, when the fixture is not there. */
#define CUZK_TEST_NEEDS_FIXTURE(name)                                                              \
    do {                                                                                           \
        if (!cuzk_test_fixture_exists(name)) {                                                     \
            print_message("skipped: no fixture %s\n", (name));                                     \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

#endif
