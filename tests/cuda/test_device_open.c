/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Opening a device where any call of the driver fails: the call is named, the context is given
 * back. Linked with --wrap=cuzk_cuda_driver, which hands out the faulty driver here. */
#include "faulty_driver.h"

#include <limits.h>

cuzk_status __wrap_cuzk_cuda_driver(const cuzk_cuda_api **out, cuzk_error *err);

static bool has_driver = true;

cuzk_status __wrap_cuzk_cuda_driver(const cuzk_cuda_api **out, cuzk_error *err)
{
    CUZK_FAIL_IF(!has_driver, err, CUZK_E_DEVICE, "opening the CUDA driver: as the test wants it");
    *out = faulty_device.api;
    return CUZK_OK;
}

static void test_facts(void **state)
{
    (void)state;
    cuzk_error error = {0};
    cuzk_cuda_device d;
    faulty_begin();
    memset(&d, 0xcc, sizeof d);
    must(cuzk_cuda_device_open(&d, 0, &error), &error);
    assert_string_equal(d.name, "Emulated 0");
    assert_string_equal(d.pci, "0000:41:00.0");
    assert_int_equal(d.capability, 90);
    assert_int_equal(d.driver_version, 13000);
    assert_int_equal(d.n_sms, 1);
    assert_int_equal(d.memory_bytes, (size_t)2 << 30);
    assert_non_null(d.context);
    assert_int_equal(faulty.n_contexts, 1);
    cuzk_cuda_device_close(&d);
    assert_null(d.context);
    faulty_expect_nothing_held();
}

/* Whatever fails, nothing is held and nothing is written. */
static void expect_failure(int index, const char *text)
{
    cuzk_error error = {0};
    cuzk_cuda_device d, before;
    memset(&d, 0xcc, sizeof d);
    memset(&before, 0xcc, sizeof before);
    assert_int_equal(cuzk_cuda_device_open(&d, index, &error), CUZK_E_DEVICE);
    if (strstr(error.text, text) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", text, error.text);
    }
    assert_memory_equal(&d, &before, sizeof d);
    faulty_expect_nothing_held();
}

static void test_every_call(void **state)
{
    (void)state;
    cuzk_error error = {0};
    cuzk_cuda_device d;
    faulty_begin();
    must(cuzk_cuda_device_open(&d, 0, &error), &error);
    unsigned n_calls = faulty.n_calls;
    cuzk_cuda_device_close(&d);
    assert_true(n_calls >= 10);
    for (unsigned n = 0; n < n_calls; n++) {
        faulty_fail(NULL, n, CUDA_ERROR_SYSTEM_NOT_READY, n % 2 == 0);
        const char *name = faulty.names[n]; /* of the run before, which was the same so far */
        expect_failure(0, name);
        faulty_mend();
    }
}

static void test_numbers(void **state)
{
    (void)state;
    faulty_begin();
    expect_failure(-1, "opening CUDA device -1: the driver has 1 devices");
    expect_failure(1, "opening CUDA device 1: the driver has 1 devices");
    expect_failure(INT_MAX, "opening CUDA device 2147483647: the driver has 1 devices");
    has_driver = false;
    expect_failure(0, "opening the CUDA driver: as the test wants it");
    has_driver = true;
}

int main(void)
{
    device_test_open();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_facts),
                                       cmocka_unit_test(test_every_call),
                                       cmocka_unit_test(test_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
