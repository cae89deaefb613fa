/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circom keys under their names, and the file that remembers them (work/circom_work.h has the
 * rules). All functions are thread-safe. */
#ifndef CUZK_WORK_CIRCOM_REGISTRY_H
#define CUZK_WORK_CIRCOM_REGISTRY_H

#include "api/api.h"
#include "base/sha256.h"
#include "work/circom_work.h"

typedef struct cuzk_circom_registry cuzk_circom_registry;

/* What a key's file says. */
typedef struct {
    const cuzk_curve *curve;
    uint32_t n_constraints, n_public, n_vars;
    unsigned lg_domain;
    uint64_t n_bytes;
    uint8_t digest[CUZK_SHA256_BYTES]; /* of alpha … delta: each contribution changes delta */
} cuzk_circom_facts;

/** Make the registry of a folder, from its list. ctx: borrowed until destroy, for its log. folder:
 *  NULL: an empty registry that takes nothing. Returned: cuzk_circom_registry_destroy. Errors: as
 *  cuzk_circom_work_create. */
cuzk_status cuzk_circom_registry_create(cuzk_circom_registry **out, const cuzk_ctx *ctx,
                                        const char *folder, bool allow_test_key,
                                        cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. */
void cuzk_circom_registry_destroy(cuzk_circom_registry *registry);

/** As cuzk_circom_register. */
cuzk_status cuzk_circom_registry_add(cuzk_circom_registry *registry, bool *was_registered,
                                     cuzk_circom_info *info, const char *name, const char *path,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** As cuzk_circom_list. */
cuzk_status cuzk_circom_registry_list(cuzk_circom_registry *registry, cuzk_circom_info **infos,
                                      unsigned *n, cuzk_error *err) CUZK_WARN_UNUSED;

/** The facts of a circuit and, unless it is NULL, its path: returned; free. name need not end
 *  behind its n_chars. Errors: E_NOT_FOUND listing the names; E_MEMORY. */
cuzk_status cuzk_circom_registry_find(cuzk_circom_registry *registry, cuzk_circom_facts *facts,
                                      char **path, const char *name, size_t n_chars,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

/** What an opened key says. */
cuzk_circom_facts cuzk_circom_facts_of(const cuzk_zkey *key, uint64_t n_bytes);

/** Whether they are of the same key. */
bool cuzk_circom_facts_equal(const cuzk_circom_facts *a, const cuzk_circom_facts *b);

#endif
