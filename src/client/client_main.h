/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The client's commands as a program. */
#ifndef CUZK_CLIENT_CLIENT_MAIN_H
#define CUZK_CLIENT_CLIENT_MAIN_H

/** Run the command line argv: submit, await, status …, help on them. Returns the exit code. */
int cuzk_client_main(int argc, char **argv);

#endif
