/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The commands that cuzk-server answers itself. */
#ifndef CUZK_SERVER_COMMANDS_H
#define CUZK_SERVER_COMMANDS_H

/** `cuzk serve`: the daemon, until a signal ends it. argv as in main, the command at argv[1].
 *  Returns the exit code: 0 success, 1 failed, 2 usage. */
int cuzk_cmd_serve(int argc, char **argv);

/** `cuzk config …`. */
int cuzk_cmd_config(int argc, char **argv);

#endif
