/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/circuit_sizes.h"

#include "base/text.h"

#include <string.h>

/* Counted from the circuits that filecoin/circuit_get.h builds, which have the reference's
 * fingerprints; a test counts again. */
static const cuzk_circuit_counts circuits[] = {
    {"porep-2k", 40, 2685713, 2687921, 43845, 2674908, 685522, 94014655},
    {"porep-4k", 40, 2786463, 2788733, 53901, 2773158, 716040, 97627871},
    {"porep-16k", 40, 2974907, 2977173, 60893, 2959930, 766964, 104221039},
    {"porep-32k", 40, 3075657, 3077985, 70949, 3058180, 797482, 107834271},
    {"porep-8m", 40, 3842489, 3844929, 112037, 3814996, 1011290, 134840183},
    {"porep-512m", 40, 4420877, 4423433, 146133, 4385040, 1174174, 155252967},
    {"porep-32g", 328, 130170221, 130278541, 1699429, 129753292, 33112282, 562850731},
    {"porep-64g", 328, 131076971, 131185849, 1789933, 130637542, 33386944, 566866955},
    {"snap-1k", 5, 1247314, 1248389, 23102, 1241649, 327404, 28856330},
    {"snap-2k", 5, 1703574, 1705039, 26022, 1697189, 444404, 32153597},
    {"snap-4k", 5, 2163194, 2165109, 32342, 2155229, 564064, 35521725},
    {"snap-8k", 5, 2618014, 2620359, 33862, 2609689, 680064, 38878338},
    {"snap-16k", 5, 6293949, 6300021, 38026, 6284882, 1613423, 400805565},
    {"snap-32k", 5, 6753569, 6760091, 44346, 6742922, 1733083, 404173725},
    {"snap-8m", 5, 9998044, 10007503, 70270, 9981015, 2567922, 430668069},
    {"snap-512m", 5, 57401319, 57450479, 779346, 57212317, 14916880, 473356025},
    {"snap-32g", 5, 80978493, 81049499, 965042, 80743581, 20983608, 503907299},
    {"snap-64g", 5, 84931225, 85006101, 1019394, 84682725, 22012684, 509022019},
    {"wpost-2k", 23, 22151, 21866, 21950, 16770, 16029, 1170757},
    {"wpost-4k", 23, 28451, 28146, 28230, 21510, 20729, 1477102},
    {"wpost-16k", 23, 32891, 32466, 32590, 24910, 23809, 1694000},
    {"wpost-32k", 23, 39191, 38746, 38870, 29650, 28509, 2000345},
    {"wpost-8m", 23, 65111, 64266, 64510, 49330, 47149, 3263761},
    {"wpost-512m", 23, 86591, 85466, 85790, 65610, 62709, 4310239},
    {"wpost-32g", 25840, 126928216, 125279217, 125753715, 96179805, 91925767, 68763597},
    {"wpost-64g", 25301, 131525501, 129887900, 130352500, 99624500, 95413201, 71365494},
    {"winning-2k", 133, 91807, 90750, 91146, 69300, 66793, 273125},
    {"winning-4k", 133, 112597, 111474, 111870, 84942, 82303, 313934},
    {"winning-16k", 133, 127249, 125730, 126258, 96162, 92467, 342896},
    {"winning-32k", 133, 148039, 146454, 146982, 111804, 107977, 383705},
    {"winning-8m", 133, 233575, 230670, 231594, 176748, 169489, 552201},
    {"winning-512m", 133, 304459, 300630, 301818, 230472, 220837, 691767},
    {"winning-32g", 133, 375343, 370590, 372042, 284196, 272185, 831277},
    {"winning-64g", 133, 396133, 391314, 392766, 299838, 287695, 872086},
};
enum { N_CIRCUITS = sizeof circuits / sizeof circuits[0] };

const cuzk_circuit_counts *cuzk_circuit_counts_at(unsigned i)
{
    return i < N_CIRCUITS ? &circuits[i] : NULL;
}

cuzk_status cuzk_circuit_counts_get(const cuzk_circuit_counts **out, const char *id,
                                    cuzk_error *err)
{
    cuzk_text known = {0};
    for (unsigned i = 0; i < N_CIRCUITS; i++) {
        if (strcmp(circuits[i].id, id) == 0) {
            *out = &circuits[i];
            cuzk_text_clear(&known);
            return CUZK_OK;
        }
        cuzk_text_printf(&known, "%s%s", i == 0 ? "" : ", ", circuits[i].id);
    }
    CUZK_TRY(cuzk_text_check(&known, err));
    cuzk_status status = CUZK_FAIL(err, CUZK_E_NOT_FOUND,
                                   "there is no circuit \"%.100s\"; there are %s", id, known.data);
    cuzk_text_clear(&known);
    return status;
}

unsigned cuzk_circuit_lg_domain(const cuzk_circuit_counts *counts)
{
    uint64_t n_rows = (uint64_t)counts->n_constraints + counts->n_inputs;
    unsigned lg = 0;
    while ((uint64_t)1 << lg < n_rows) {
        lg++;
    }
    return lg;
}
