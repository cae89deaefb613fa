/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The label gadget against the reference: rows, types, densities and values, in the first layer and
 * in others. */
#include "filecoin/circuit_label.h"
#include "gadget/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void alloc_words(cuzk_cs *cs, uint64_t v, cuzk_digest_words *out)
{
    uint8_t value[32];
    support_number(value, v);
    cuzk_num n = cuzk_cs_alloc_num(cs, value);
    cuzk_num_to_words(cs, &n, out->w);
}

/* replica id 1000 + X, node 22, parent i = X + i */
static void describe_label(cuzk_cs *cs, uint64_t x, const void *ctx)
{
    uint32_t layer = *(const uint32_t *)ctx;
    unsigned n_parents = layer == 1 ? CUZK_DRG_PARENTS : CUZK_PARENTS;
    cuzk_digest_words replica_id, parents[CUZK_PARENTS];
    cuzk_bit node[64];
    alloc_words(cs, 1000 + x, &replica_id);
    cuzk_alloc_bits(cs, 22, 64, node);
    for (unsigned i = 0; i < n_parents; i++) {
        alloc_words(cs, x + i, &parents[i]);
    }
    (void)cuzk_label_circuit(cs, &replica_id, layer, node, parents, n_parents);
}

static void test_label(void **state)
{
    (void)state;
    support_expect_gadget("create_label_1", describe_label, &(uint32_t){1});
    support_expect_gadget("create_label_2", describe_label, &(uint32_t){2});
    support_expect_gadget("create_label_3", describe_label, &(uint32_t){3});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
