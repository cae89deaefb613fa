/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The commands of cuzk-server. argv as in main, the command at argv[1]; what is returned is the
 * exit code: 0 success, 1 failed, 2 usage. */
#ifndef CUZK_SERVER_COMMANDS_H
#define CUZK_SERVER_COMMANDS_H

/** The command that argv[1] names: those below, and else the client's. */
int cuzk_server_main(int argc, char **argv);

/** `cuzk serve`: the daemon, until a signal ends it. */
int cuzk_cmd_serve(int argc, char **argv);

/** `cuzk config …`. */
int cuzk_cmd_config(int argc, char **argv);

#endif
