/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Device arithmetic that is plain C, on the host: inversion by division steps against the host's
 * inversion, edge values and random ones. */
#include "backend/cuda/field_check.h"
#include "cuda_test.h"

enum { N_DRAWS = 20000, RESULT_INV = 6 };

static void test_divsteps(void **state)
{
    (void)state;
    for (int curve = 0; curve < 2; curve++) {
        for (int field = 0; field < SHARED_OPS_FIELDS; field++) {
            const shared_ops *f = &shared_ops_of(curve)[field];
            if (f->inv_divsteps == NULL) {
                continue;
            }
            for (int i = 0; i < N_DRAWS; i++) {
                uint64_t a[12], found[12], all[12 * CUZK_FIELD_CHECK_RESULTS];
                f->draw(a, cuda_test_random);
                f->check(all, a, a);
                f->inv_divsteps(found, a);
                if (memcmp(found, (char *)all + RESULT_INV * f->bytes, f->bytes) != 0) {
                    fail_msg("%s: inverse %d of 0x%016llx… differs", f->name, i,
                             (unsigned long long)a[0]);
                }
            }
        }
    }
}

int main(void)
{
    cuda_test_begin();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_divsteps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
