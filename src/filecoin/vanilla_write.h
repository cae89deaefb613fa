/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Vanilla proofs written in the forms in which they are read: byte for byte what the reference
 * writes for the same proof. */
#ifndef CUZK_FILECOIN_VANILLA_WRITE_H
#define CUZK_FILECOIN_VANILLA_WRITE_H

#include "filecoin/vanilla_porep.h"
#include "filecoin/vanilla_post.h"
#include "filecoin/vanilla_update.h"

#include <stdio.h>

/** Write a commit-phase-1 output as JSON; with envelope as Curio's envelope around it, which takes
 *  vanilla->sector_number. Errors: E_FILE. */
cuzk_status cuzk_porep_vanilla_write(FILE *file, const cuzk_porep_vanilla *vanilla, bool envelope,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** Write one sector's proof as bincode. Errors: E_FILE. */
cuzk_status cuzk_post_sector_write(FILE *file, const cuzk_post_vanilla *vanilla, uint32_t i,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Write one partition's proof as bincode. Errors: E_FILE. */
cuzk_status cuzk_update_partition_write(FILE *file, const cuzk_update_vanilla *vanilla, unsigned k,
                                        cuzk_error *err) CUZK_WARN_UNUSED;

/** Write the proofs of all sectors as a JSON array of base64 strings, one a sector. Errors: E_FILE.
 */
cuzk_status cuzk_post_vanilla_write(FILE *file, const cuzk_post_vanilla *vanilla,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** Write the proofs of all partitions as a JSON array of base64 strings. Errors: E_FILE. */
cuzk_status cuzk_update_vanilla_write(FILE *file, const cuzk_update_vanilla *vanilla,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

#endif
