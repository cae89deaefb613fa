/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The command line of `serve` and `config`: flags that are configuration keys. */
#ifndef CUZK_SERVER_OPTIONS_H
#define CUZK_SERVER_OPTIONS_H

#include "server/config.h"

enum { CUZK_OPTIONS_FLAGS_MAX = 256, CUZK_OPTIONS_WORDS_MAX = 4 };

typedef struct {
    const char *path; /* after -c; NULL: not given */
    const char *flags[CUZK_OPTIONS_FLAGS_MAX + 1];
    const char *flag_names[CUZK_OPTIONS_FLAGS_MAX + 1];
    size_t n_flags;
    const char *words[CUZK_OPTIONS_WORDS_MAX];
    size_t n_words;
    bool help;
    cuzk_text made[CUZK_OPTIONS_FLAGS_MAX]; /* what flags points to where the flag names its key */
} cuzk_options;

/** Parse argv[2] … of "cuzk-server COMMAND …". False after a message on stderr: a usage error.
 *  Ended by cuzk_options_clear in any case. options: large; keep it off small stacks. */
bool cuzk_options_parse(cuzk_options *options, int argc, char *const *argv);
void cuzk_options_clear(cuzk_options *options);

/** Print the flags that are common to both commands. */
void cuzk_options_print_help(void);

/** The sources that the options and the environment make. */
cuzk_config_sources cuzk_options_sources(const cuzk_options *options);

#endif
