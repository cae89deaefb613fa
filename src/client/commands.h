/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The bodies of the client's commands; their table is in commands.c. */
#ifndef CUZK_CLIENT_COMMANDS_H
#define CUZK_CLIENT_COMMANDS_H

#include "cli/cli.h"

/* A Filecoin job from files and options, submitted / proved as `cuzk prove` does. */
int cuzk_cmd_submit_porep(cuzk_cli_args *args);
int cuzk_cmd_submit_snap(cuzk_cli_args *args);
int cuzk_cmd_submit_window(cuzk_cli_args *args);
int cuzk_cmd_submit_winning(cuzk_cli_args *args);
int cuzk_cmd_prove_porep(cuzk_cli_args *args);
int cuzk_cmd_prove_snap(cuzk_cli_args *args);
int cuzk_cmd_prove_window(cuzk_cli_args *args);
int cuzk_cmd_prove_winning(cuzk_cli_args *args);

/* A circom job. */
int cuzk_cmd_submit_circom(cuzk_cli_args *args);
int cuzk_cmd_prove_circom(cuzk_cli_args *args);

/* "submit", "circuits" without a second word. */
int cuzk_cmd_needs_word(cuzk_cli_args *args);

int cuzk_cmd_await(cuzk_cli_args *args);
int cuzk_cmd_cancel(cuzk_cli_args *args);
int cuzk_cmd_status(cuzk_cli_args *args);
int cuzk_cmd_queue(cuzk_cli_args *args);
int cuzk_cmd_preload(cuzk_cli_args *args);
int cuzk_cmd_evict(cuzk_cli_args *args);
int cuzk_cmd_circuits_register(cuzk_cli_args *args);
int cuzk_cmd_devices(cuzk_cli_args *args);
int cuzk_cmd_devices_drain(cuzk_cli_args *args);
int cuzk_cmd_devices_add(cuzk_cli_args *args);
int cuzk_cmd_circuits_list(cuzk_cli_args *args);
int cuzk_cmd_record(cuzk_cli_args *args);
int cuzk_cmd_metrics(cuzk_cli_args *args);
int cuzk_cmd_bench(cuzk_cli_args *args);

#endif
