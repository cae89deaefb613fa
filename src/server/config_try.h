/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a configuration is refused for when the daemon starts, found out without starting it: beside
 * what config_check.c sees of the keys alone. */
#ifndef CUZK_SERVER_CONFIG_TRY_H
#define CUZK_SERVER_CONFIG_TRY_H

#include "engine/work.h"
#include "server/config.h"

/** Memory, certificates, token files, names of srs.preload; what is wrong is added to the report.
 * Errors: E_MEMORY and the like: nothing was found out. */
cuzk_status cuzk_config_try(const cuzk_config *config, cuzk_config_report *report,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** cuzk_config_budget on this machine, and whether memory.intake leaves something of it. Errors:
 * those, E_ARGUMENT. */
cuzk_status cuzk_config_try_memory(uint64_t *budget, char *limited_by, const cuzk_config *config,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Whether the names of a list can be loaded at all: Filecoin's circuits, or circom:NAME, which may
 *  still be registered. filecoin: that work's table. Errors: E_NOT_FOUND. */
cuzk_status cuzk_config_try_preload(const cuzk_config_list *circuits, const cuzk_work *filecoin,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

#endif
