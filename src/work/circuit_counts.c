/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/circuit_counts.h"

#include "base/text.h"
#include "groth16/proving.h"
#include "poly/domain.h"
#include "work/on_device.h"

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

/* What small allocations, allocator overhead and stacks come to. */
enum { SLACK = 1 << 20 };

/* Points of the key in G1; in G2 it has n_b. */
static uint64_t n_g1_of(const cuzk_circuit_counts *c)
{
    uint64_t n = (uint64_t)1 << cuzk_circuit_lg_domain(c);
    return n + c->n_vars + c->n_a_aux + c->n_inputs + c->n_b;
}

static uint64_t point_bytes_of(const cuzk_circuit_counts *c)
{
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    return n_g1_of(c) * curve->g[CUZK_G1].affine_bytes +
           (uint64_t)c->n_b * curve->g[CUZK_G2].affine_bytes;
}

uint64_t cuzk_circuit_resident_bytes(const cuzk_circuit_counts *c)
{
    enum { DECODED_AT_ONCE = 65536 * 192 /* of the mapped file, in groth16/prover.c */ };
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    uint64_t points = point_bytes_of(c);
    uint64_t file = points < DECODED_AT_ONCE ? points : DECODED_AT_ONCE;
    uint64_t rest = c->n_vars / 4 + cuzk_domain_bytes(curve, cuzk_circuit_lg_domain(c)) + 4 * SLACK;
    /* a circuit that is compiled: a builder's arrays grow by doubling, and are copied once more */
    return points + file + 3 * c->shape_bytes + rest;
}

uint64_t cuzk_circuit_witness_bytes(const cuzk_circuit_counts *c)
{
    return cuzk_witness_bytes(c->n_vars, c->n_field) + SLACK;
}

static cuzk_proving_counts proving_counts(const cuzk_circuit_counts *c)
{
    return (cuzk_proving_counts){.curve = cuzk_curve_get(CUZK_CURVE_BLS12_381),
                                 .lg_n = cuzk_circuit_lg_domain(c),
                                 .n_vars = c->n_vars,
                                 .n_field = c->n_field};
}

uint64_t cuzk_circuit_host_bytes(const cuzk_circuit_counts *c, bool on_card, const cuzk_pool *pool)
{
    cuzk_proving_counts counts = proving_counts(c);
    counts.on_device = on_card;
    return cuzk_proving_bytes_max(&counts, pool) + SLACK;
}

uint64_t cuzk_circuit_device_bytes(const cuzk_circuit_counts *c)
{
    cuzk_proving_counts counts = proving_counts(c);
    return cuzk_api_device_bytes(&counts, n_g1_of(c), c->n_b);
}

uint64_t cuzk_circuit_device_bytes_least(const cuzk_circuit_counts *c)
{
    uint64_t n = (uint64_t)1 << cuzk_circuit_lg_domain(c);
    return point_bytes_of(c) + c->shape_bytes + n * CUZK_ON_DEVICE_PER_ROW +
           cuzk_circuit_witness_bytes(c);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static uint64_t porep_bytes(const cuzk_porep_vanilla *v)
{
    const cuzk_sector *sector = v->proof.sector;
    uint64_t in_r = cuzk_tree_siblings(cuzk_tree_poseidon(sector));
    uint64_t in_d = cuzk_tree_siblings(cuzk_tree_sha256(sector));
    uint64_t digests = in_d + in_r + (1 + CUZK_PARENTS) * (v->shape.layers + in_r);
    /* the array of challenges may have room for as many again */
    return v->n_challenges * (2 * sizeof(cuzk_porep_challenge) + digests * sizeof(cuzk_digest));
}

static uint64_t update_bytes(const cuzk_update_vanilla *v)
{
    const cuzk_sector *sector = v->proof.sector;
    uint64_t in_r = cuzk_tree_siblings(cuzk_tree_poseidon(sector));
    uint64_t in_d = cuzk_tree_siblings(cuzk_tree_sha256(sector));
    uint64_t digests =
        ((uint64_t)1 << v->shape.apex_bits) + v->shape.challenges * (2 * in_r + in_d);
    return v->shape.partitions *
           (sizeof(cuzk_update_partition) + v->shape.challenges * sizeof(cuzk_update_challenge) +
            digests * sizeof(cuzk_digest));
}

static uint64_t post_bytes(const cuzk_filecoin_task *task)
{
    uint64_t siblings = cuzk_tree_siblings(cuzk_tree_poseidon(task->job.proof.sector));
    uint64_t bytes = task->n_post * sizeof(cuzk_post_vanilla);
    for (unsigned k = 0; k < task->n_post; k++) {
        const cuzk_post_vanilla *v = &task->post[k];
        uint64_t opening = sizeof(cuzk_merkle_proof) + siblings * sizeof(cuzk_digest);
        bytes += v->n_sectors * (sizeof(cuzk_post_sector) + v->n_openings * opening +
                                 sizeof *task->sector_ids + sizeof *task->comm_r);
    }
    return bytes;
}

uint64_t cuzk_filecoin_task_bytes(const cuzk_filecoin_task *task)
{
    uint64_t bytes = sizeof *task + sizeof(cuzk_filecoin_request) + SLACK / 16;
    switch (task->job.proof.kind) {
    case CUZK_PROOF_POREP:
        return bytes + porep_bytes(task->request.porep);
    case CUZK_PROOF_UPDATE:
        return bytes + update_bytes(&task->update);
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING:
        break;
    }
    return bytes + post_bytes(task);
}
