/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CUZK_CLI_DEVICE_PLANS_H
#define CUZK_CLI_DEVICE_PLANS_H

#include "cli/cli.h"

/** cuzk devices --plan: print what the usable ones of n_devices devices, or cards of the sizes that
 *  --memory names, do with every circuit's key. Returns the exit code. */
int cuzk_cli_device_plans(cuzk_cli_args *args, const cuzk_device_info *devices, size_t n_devices);

/** Free memory of a card of that size: without what the driver and its context take. Pure. */
uint64_t cuzk_cli_card_bytes(unsigned long size_gib);

#endif
