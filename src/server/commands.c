/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/commands.h"

#if CUZK_HAVE_CLIENT
#include "client/client_main.h"
#endif

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} own[] = {{"serve", cuzk_cmd_serve}, {"config", cuzk_cmd_config}};

static int find(const char *word)
{
    for (int i = 0; i < (int)(sizeof own / sizeof own[0]); i++) {
        if (strcmp(own[i].name, word) == 0) {
            return i;
        }
    }
    return -1;
}

int cuzk_server_main(int argc, char **argv)
{
    int at = 1; /* of the command: options may stand in front of it */
    while (at < argc && argv[at][0] == '-') {
        at++;
    }
    const char *command = at < argc ? argv[at] : "";
    if (strcmp(command, "help") == 0 && at + 1 < argc && find(argv[at + 1]) >= 0) {
        char *words[] = {argv[0], argv[at + 1], (char *)(uintptr_t) "--help", NULL};
        return own[find(argv[at + 1])].run(3, words);
    }
    if (find(command) >= 0) {
        for (; at > 1; at--) {
            char *option = argv[at - 1];
            argv[at - 1] = argv[at];
            argv[at] = option;
        }
        return own[find(command)].run(argc, argv);
    }
#if CUZK_HAVE_CLIENT
    return cuzk_client_main(argc, argv);
#else
    fprintf(stderr, "cuzk-server: \"%.60s\": expected serve or config\n", command);
    return 2;
#endif
}
