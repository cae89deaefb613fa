/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a device does with a key, before the key is at hand. */
#include "api/api.h"
#include "cuzk_filecoin.h"
#include "filecoin/circuit_sizes.h"

#include <string.h>

/* Which variables have bases in A and B, and their numbers before each word. */
static uint64_t support_bytes(uint32_t n_vars)
{
    return 2 * 12 * ((uint64_t)n_vars / 64 + 2);
}

cuzk_key_numbers cuzk_key_numbers_filecoin(const cuzk_circuit_counts *c)
{
    unsigned lg_n = cuzk_circuit_lg_domain(c);
    return (cuzk_key_numbers){.curve = cuzk_curve_get(CUZK_CURVE_BLS12_381),
                              .lg_n = lg_n,
                              .n_vars = c->n_vars,
                              .n_field = c->n_field,
                              .n_h = ((uint64_t)1 << lg_n) - 1,
                              .n_c = c->n_vars - c->n_inputs,
                              .n_a = (uint64_t)c->n_a_aux + c->n_inputs,
                              .n_b = c->n_b,
                              /* all three matrices, of which two are there */
                              .rows_bytes = c->shape_bytes + support_bytes(c->n_vars)};
}

cuzk_key_numbers cuzk_key_numbers_circom(const cuzk_curve *curve, unsigned lg_n, uint32_t n_vars,
                                         uint64_t n_terms)
{
    enum { TERM = 4 + 32, ROWS_SLACK = 4096 };
    uint64_t n = (uint64_t)1 << lg_n;
    return (cuzk_key_numbers){.curve = curve,
                              .lg_n = lg_n,
                              .n_vars = n_vars,
                              .n_field = n_vars,
                              .n_h = n,
                              .n_c = n_vars,
                              .n_a = n_vars,
                              .n_b = n_vars,
                              /* rows begin somewhere, and may be long */
                              .rows_bytes =
                                  TERM * n_terms + 16 * n + support_bytes(n_vars) + ROWS_SLACK};
}

#if CUZK_HAVE_CUDA

#include "backend/cuda/card_plan.h"

cuzk_device_plan cuzk_api_device_plan(const cuzk_key_numbers *k, uint64_t free_bytes)
{
    const cuzk_card_need need = {.curve = k->curve,
                                 .lg_n = k->lg_n,
                                 .n_vars = k->n_vars,
                                 .n_field = k->n_field,
                                 .queries = {{CUZK_G1, k->n_h},
                                             {CUZK_G1, k->n_c},
                                             {CUZK_G1, k->n_a},
                                             {CUZK_G1, k->n_b},
                                             {CUZK_G2, k->n_b}},
                                 .n_queries = 5,
                                 .circuit_bytes = k->rows_bytes};
    const cuzk_card_limits limits = {.memory = free_bytes, .slots = CUZK_CARD_SLOTS};
    cuzk_card_plan plan = cuzk_card_decide(&need, &limits);
    const size_t *bytes = plan.arena.bytes;
    return (cuzk_device_plan){.fits = plan.mode != CUZK_CARD_REFUSED,
                              .is_streamed = bytes[CUZK_ARENA_KEY] == 0,
                              .units = plan.n_slots,
                              .scalars = plan.piece,
                              .is_halved = plan.is_halved,
                              .key_bytes = cuzk_card_key_bytes(&need),
                              .total_bytes = plan.arena.total,
                              .resident_bytes = bytes[CUZK_ARENA_KEY],
                              .circuit_bytes = bytes[CUZK_ARENA_CIRCUIT],
                              .table_bytes = bytes[CUZK_ARENA_TABLES],
                              .staging_bytes = bytes[CUZK_ARENA_STAGING],
                              .witness_bytes = bytes[CUZK_ARENA_WITNESS],
                              .workspace_bytes = bytes[CUZK_ARENA_WORKSPACE]};
}

#else

cuzk_device_plan cuzk_api_device_plan(const cuzk_key_numbers *k, uint64_t free_bytes)
{
    (void)k;
    (void)free_bytes;
    return (cuzk_device_plan){.fits = false};
}

#endif

static cuzk_status check_build(cuzk_error *err)
{
    CUZK_FAIL_IF(!CUZK_HAVE_CUDA, err, CUZK_E_UNSUPPORTED, "this library was built without CUDA");
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_device_plan(const char **circuit, cuzk_device_plan *plan, unsigned index,
                                      uint64_t free_bytes, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, circuit);
    CUZK_API_NOT_NULL(err, plan);
    CUZK_TRY(check_build(err));
    const cuzk_circuit_counts *counts = cuzk_circuit_counts_at(index);
    CUZK_FAIL_IF(counts == NULL, err, CUZK_E_NOT_FOUND, "there is no circuit number %u", index);
    cuzk_key_numbers numbers = cuzk_key_numbers_filecoin(counts);
    *plan = cuzk_api_device_plan(&numbers, free_bytes);
    *circuit = counts->id;
    return CUZK_OK;
}

cuzk_status cuzk_circom_device_plan(cuzk_device_plan *plan, const char *curve,
                                    unsigned lg_constraints, uint64_t free_bytes, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, plan);
    CUZK_API_NOT_NULL(err, curve);
    CUZK_TRY(check_build(err));
    const cuzk_curve *c = cuzk_curve_by_name(curve);
    CUZK_FAIL_IF(c == NULL, err, CUZK_E_ARGUMENT, "curve \"%s\": expected bn128 or bls12381",
                 curve);
    CUZK_FAIL_IF(lg_constraints > 28, err, CUZK_E_ARGUMENT, "2^%u constraints: the most are 2^28",
                 lg_constraints);
    uint64_t n = (uint64_t)1 << lg_constraints;
    cuzk_key_numbers numbers = cuzk_key_numbers_circom(c, lg_constraints, (uint32_t)(n - 1), 4 * n);
    *plan = cuzk_api_device_plan(&numbers, free_bytes);
    return CUZK_OK;
}
