/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pools of 1 … 5 threads for a whole test program: results must not depend on which is used. Give
 * make_pools and destroy_pools to cmocka_run_group_tests. Include after cmocka.h. */
#ifndef CUZK_TESTS_POOLS_H
#define CUZK_TESTS_POOLS_H

#include "base/pool.h"

static cuzk_pool *pools[6]; /* pools[0] is NULL: the caller's thread */

static int make_pools(void **state)
{
    (void)state;
    for (unsigned t = 1; t <= 5; t++) {
        assert_int_equal(cuzk_pool_create(&pools[t], t, NULL), CUZK_OK);
    }
    return 0;
}

static int destroy_pools(void **state)
{
    (void)state;
    for (unsigned t = 1; t <= 5; t++) {
        cuzk_pool_destroy(pools[t]);
    }
    return 0;
}

#endif
