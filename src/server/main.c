/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk-server: the daemon, its configuration, and the commands that talk to a daemon. `cuzk` hands
 * these commands over to it. */
#include "server/commands.h"
#include "server/program.h"

const cuzk_program cuzk_the_program = {false, NULL, NULL};

int main(int argc, char **argv)
{
    return cuzk_server_main(argc, argv);
}
