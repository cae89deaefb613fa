/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A resident key from another device of the process: all that does not depend on the device, as it
 * lies there, points decoded and images made, and held against the other's checksums.
 *
 * The copies are pieces on a stream of this device's own. The other's prover goes on meanwhile: no
 * lock of its is taken, nothing of its is written, and its sums were made when it was loaded. */
#include "backend/cuda/byte_summer.h"
#include "backend/cuda/device_prover_impl.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* At the 25 GB/s of a slow bus 10 ms, at those of a fast link less than one: so long nobody is
 * asked whether to go on. */
static const size_t PIECE_BYTES = (size_t)256 << 20;

/* A part of what is copied: the circuit, the queries, and the images of H. */
typedef struct {
    size_t at, n_bytes; /* 0 bytes: there is none */
} shared_part;

enum { PART_CIRCUIT = 0, PART_QUERIES = 1, PART_IMAGES = PART_QUERIES + CUZK_CARD_QUERIES_MAX };

static shared_part part_of(const cuzk_device_prover *d, unsigned part)
{
    unsigned q = part == PART_IMAGES ? 0 : part - PART_QUERIES;
    if (part == PART_CIRCUIT) { /* planned first, and the same on every device */
        return (shared_part){0, d->need.circuit_bytes};
    }
    if (q >= d->need.n_queries) {
        return (shared_part){0};
    }
    size_t images = cuzk_card_images(&d->plan, &d->need);
    size_t n_bytes =
        d->need.queries[q].n * d->prover->curve->g[d->need.queries[q].group].affine_bytes;
    if (part == PART_IMAGES) {
        return (shared_part){d->at.queries[0] + images, images == 0 ? 0 : n_bytes};
    }
    return (shared_part){d->at.queries[q], n_bytes};
}

/* ---- checksums ---- */

static cuzk_status sum_part(const cuzk_device_prover *d, const cuzk_byte_summer *summer,
                            uint64_t *sum, unsigned part, cuzk_error *err)
{
    shared_part p = part_of(d, part);
    *sum = 0;
    return p.n_bytes == 0 ? CUZK_OK
                          : cuzk_byte_sum(summer, sum, cuzk_prover_address(d, p.at), p.n_bytes,
                                          d->streams[0], err);
}

static cuzk_status sum_all(const cuzk_device_prover *d, uint64_t sums[CUZK_PROVER_PARTS],
                           cuzk_error *err)
{
    static_assert(PART_IMAGES + 1 == CUZK_PROVER_PARTS, "one for each");
    cuzk_byte_summer summer;
    CUZK_TRY(cuzk_byte_summer_open(&summer, d->api, err));
    cuzk_status status = CUZK_OK;
    for (unsigned i = 0; i < CUZK_PROVER_PARTS && status == CUZK_OK; i++) {
        status = sum_part(d, &summer, &sums[i], i, err);
    }
    cuzk_byte_summer_close(&summer);
    return status;
}

cuzk_status cuzk_prover_offer(cuzk_device_prover *d, cuzk_error *err)
{
    cuzk_error why = {0};
    if (d->plan.mode != CUZK_CARD_RESIDENT || d->has_sums) {
        return CUZK_OK;
    }
    CUZK_CUDA_TRY(d->api, err, cuCtxSynchronize, ()); /* all of it is there, by whatever stream */
    cuzk_status status = sum_all(d, d->sums, &why);
    d->has_sums = status == CUZK_OK;
    CUZK_FAIL_IF(status == CUZK_E_DEVICE_LOST, err, status, "%s", why.text);
    return CUZK_OK; /* without sums, which take memory that nobody reserved, it works, too, but
                       nobody copies from it */
}

/* What is known of a peer, after it is gone. */
typedef struct {
    uint64_t sums[CUZK_PROVER_PARTS];
    size_t image_bytes;
} peer_facts;

static cuzk_status check_part(const cuzk_device_prover *d, const peer_facts *peer, unsigned part,
                              cuzk_error *err)
{
    char what[24] = "the circuit";
    if (part == PART_IMAGES) {
        snprintf(what, sizeof what, "the images of H");
    } else if (part != PART_CIRCUIT) {
        snprintf(what, sizeof what, "query %u", part - PART_QUERIES);
    }
    CUZK_FAIL_IF(d->sums[part] != peer->sums[part], err, CUZK_E_DEVICE,
                 "%s has the checksum %016" PRIx64 " here, %016" PRIx64 " there", what,
                 d->sums[part], peer->sums[part]);
    return CUZK_OK;
}

/* ---- copies ---- */

static cuzk_status copy_part(const cuzk_device_prover *d, const cuzk_device_prover_params *params,
                             unsigned part, CUstream stream, cuzk_error *err)
{
    const cuzk_device_prover *peer = params->peer;
    shared_part to = part_of(d, part), from = part_of(peer, part);
    CUZK_FAIL_IF(to.n_bytes != from.n_bytes && part != PART_IMAGES, err, CUZK_E_INTERNAL,
                 "part %u has %zu bytes here, %zu there", part, to.n_bytes, from.n_bytes);
    if (to.n_bytes != from.n_bytes) { /* images on one of them only */
        return CUZK_OK;
    }
    for (size_t done = 0; done < to.n_bytes; done += PIECE_BYTES) {
        size_t left = to.n_bytes - done, n = left < PIECE_BYTES ? left : PIECE_BYTES;
        CUZK_FAIL_IF(params->peer_stays != NULL && !params->peer_stays(params->peer_ctx), err,
                     CUZK_E_CANCELLED, "it is wanted away");
        CUZK_CUDA_TRY(d->api, err, cuMemcpyPeerAsync,
                      (cuzk_prover_address(d, to.at) + done, d->device->context,
                       cuzk_prover_address(peer, from.at) + done, peer->device->context, n,
                       stream));
        CUZK_CUDA_TRY(d->api, err, cuStreamSynchronize, (stream));
    }
    return CUZK_OK;
}

/* Without it the driver would copy through the host's memory. */
static cuzk_status allow(const cuzk_device_prover *d, const cuzk_device_prover *peer,
                         cuzk_error *err)
{
    int can = 0;
    CUZK_CUDA_TRY(d->api, err, cuDeviceCanAccessPeer,
                  (&can, d->device->device, peer->device->device));
    CUZK_FAIL_IF(can == 0, err, CUZK_E_UNSUPPORTED, "the cards cannot read each other's memory");
    CUresult result = CUZK_CU(d->api, cuCtxEnablePeerAccess)(peer->device->context, 0);
    return result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
               ? CUZK_OK
               : cuzk_cuda_check(d->api, result, "cuCtxEnablePeerAccess", __FILE__, __LINE__, err);
}

static cuzk_status copy_all(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                            cuzk_error *err)
{
    CUstream stream;
    CUZK_CUDA_TRY(d->api, err, cuStreamCreate, (&stream, CU_STREAM_NON_BLOCKING));
    cuzk_status status = CUZK_OK;
    for (unsigned i = 0; i < CUZK_PROVER_PARTS && status == CUZK_OK; i++) {
        status = copy_part(d, params, i, stream, err);
    }
    if (status != CUZK_OK) {
        (void)CUZK_CU(d->api, cuStreamSynchronize)(stream); /* nothing reads the peer any more */
    }
    (void)CUZK_CU(d->api, cuStreamDestroy)(stream);
    return status;
}

/* All that is read of the peer. */
static cuzk_status read_peer(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                             peer_facts *out, cuzk_error *err)
{
    const cuzk_device_prover *peer = params->peer;
    CUZK_FAIL_IF(peer->prover != d->prover, err, CUZK_E_INTERNAL, "it has another key");
    CUZK_FAIL_IF(!peer->has_sums || d->plan.mode != CUZK_CARD_RESIDENT, err, CUZK_E_UNSUPPORTED,
                 "the key is not resident %s", peer->has_sums ? "here" : "there");
    CUZK_TRY(allow(d, peer, err));
    CUZK_TRY(copy_all(d, params, err));
    memcpy(out->sums, peer->sums, sizeof out->sums);
    out->image_bytes = part_of(peer, PART_IMAGES).n_bytes;
    return CUZK_OK;
}

cuzk_status cuzk_prover_copy_from_peer(cuzk_device_prover *d,
                                       const cuzk_device_prover_params *params, cuzk_error *err)
{
    peer_facts peer = {0};
    cuzk_status status = read_peer(d, params, &peer, err);
    if (params->peer_done != NULL) {
        params->peer_done(params->peer_ctx);
    }
    CUZK_TRY(status);
    if (peer.image_bytes == 0) {
        CUZK_TRY(cuzk_prover_make_images(d, err));
    }
    CUZK_TRY(sum_all(d, d->sums, err));
    for (unsigned i = 0; i < CUZK_PROVER_PARTS; i++) {
        if (i != PART_IMAGES || peer.image_bytes == part_of(d, i).n_bytes) {
            CUZK_TRY(check_part(d, &peer, i, err));
        }
    }
    d->has_sums = true;
    return CUZK_OK;
}
