/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The daemon's configuration: a file, and behind a NUL a flag. What is taken is printed and read
 * again: the values are the same. */
#include "fuzz.h"
#include "server/config.h"

#include <string.h>

static cuzk_config *load(cuzk_config_report *report, const char *text, size_t n_bytes,
                         const char *flag)
{
    const char *flags[] = {flag, NULL}, *names[] = {"--set", NULL};
    cuzk_config_sources sources = {.path = "f",
                                   .text = text,
                                   .text_bytes = n_bytes,
                                   .flags = flags,
                                   .flag_names = names,
                                   .allow_test = true};
    cuzk_config *config;
    cuzk_error err = {0};
    cuzk_status status = cuzk_config_load(&config, report, &sources, &err);
    CUZK_FUZZ_CHECK((status == CUZK_OK) == (config != NULL));
    CUZK_FUZZ_CHECK((status == CUZK_OK) == (report->n_errors == 0));
    CUZK_FUZZ_CHECK((status == CUZK_OK) == (err.text[0] == 0));
    return config;
}

static void check_round_trip(const cuzk_config *config)
{
    cuzk_text text = {0};
    cuzk_config_print(&text, config);
    CUZK_FUZZ_CHECK(!text.failed);
    cuzk_config_report report = {0};
    cuzk_config *again = load(&report, text.data, text.size, NULL);
    CUZK_FUZZ_CHECK(again != NULL);
    size_t n;
    const cuzk_config_key *keys = cuzk_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        CUZK_FUZZ_CHECK(cuzk_config_is_equal(config, again, &keys[i]));
    }
    cuzk_config_report_clear(&report);
    cuzk_config_destroy(again);
    cuzk_text_clear(&text);
}

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    CUZK_FUZZ_CHECK(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    size_t n_file = strlen(text);
    cuzk_config_report report = {0};
    cuzk_config *config = load(&report, text, n_file, n_file < size ? text + n_file + 1 : NULL);
    if (config != NULL) {
        check_round_trip(config);
    }
    cuzk_config_report_clear(&report);
    cuzk_config_destroy(config);
    free(text);
}
