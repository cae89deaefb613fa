/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/stage_threads.h"

enum { LEAST = 2, MAKERS = 18, MAKERS_A_DEVICE = 4 };

static unsigned or_else(unsigned asked, unsigned otherwise)
{
    return asked != 0 ? asked : otherwise;
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

cuzk_stage_threads cuzk_stage_threads_fill(cuzk_stage_threads asked, unsigned n_devices,
                                           unsigned n_processors)
{
    unsigned each = larger(n_devices, LEAST);
    unsigned makers = larger(n_devices * MAKERS_A_DEVICE, MAKERS);
    return (cuzk_stage_threads){
        .n_decoders = or_else(asked.n_decoders, each),
        .n_witness = or_else(asked.n_witness, n_processors < makers ? n_processors : makers),
        .n_finishers = or_else(asked.n_finishers, each),
        .n_verifiers = or_else(asked.n_verifiers, each),
    };
}
