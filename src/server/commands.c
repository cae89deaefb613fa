/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/commands.h"

#if CUZK_HAVE_CLIENT
#include "client/client_main.h"
#endif

#include <stdio.h>
#include <string.h>

int cuzk_server_main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "serve") == 0) {
        return cuzk_cmd_serve(argc, argv);
    }
    if (strcmp(command, "config") == 0) {
        return cuzk_cmd_config(argc, argv);
    }
#if CUZK_HAVE_CLIENT
    return cuzk_client_main(argc, argv);
#else
    fprintf(stderr, "cuzk-server: \"%.60s\": expected serve or config\n", command);
    return 2;
#endif
}
