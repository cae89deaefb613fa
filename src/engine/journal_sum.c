/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Checksums of the journal's rows. Each begins with the table's letter and the key, so that a row
 * in the wrong place is as bad as a damaged one; every length stands before its bytes. */
#include "base/blake2b.h"
#include "base/bytes.h"
#include "engine/journal_store.h"

static void put_u64(cuzk_blake2b *b, uint64_t v)
{
    uint8_t bytes[8];
    cuzk_store_u64_le(bytes, v);
    cuzk_blake2b_update(b, bytes, sizeof bytes);
}

static void put_bytes(cuzk_blake2b *b, const void *data, size_t n_bytes)
{
    put_u64(b, n_bytes);
    if (n_bytes > 0) {
        cuzk_blake2b_update(b, data, n_bytes);
    }
}

static void start(cuzk_blake2b *b, char table, uint64_t seq, uint64_t part)
{
    cuzk_blake2b_init(b);
    put_u64(b, (uint64_t)table);
    put_u64(b, seq);
    put_u64(b, part);
}

static cuzk_store_sum end(cuzk_blake2b *b)
{
    uint8_t digest[CUZK_BLAKE2B_BYTES];
    cuzk_store_sum sum;
    cuzk_blake2b_final(b, digest);
    memcpy(sum.bytes, digest, sizeof sum.bytes);
    return sum;
}

cuzk_store_sum cuzk_store_sum_job(const cuzk_journal_job *job)
{
    cuzk_blake2b b;
    start(&b, 'j', job->seq, 0);
    put_bytes(&b, job->request_id, strlen(job->request_id));
    put_bytes(&b, job->job_id, strlen(job->job_id));
    put_u64(&b, job->kind);
    put_u64(&b, job->priority);
    put_u64(&b, job->n_units);
    put_bytes(&b, job->digest, sizeof job->digest);
    put_u64(&b, job->payload_bytes);
    put_u64(&b, (uint64_t)job->accepted_unix_ms);
    return end(&b);
}

cuzk_store_sum cuzk_store_sum_piece(uint64_t seq, size_t piece, const void *data, size_t n_bytes)
{
    cuzk_blake2b b;
    start(&b, 'p', seq, piece);
    put_bytes(&b, data, n_bytes);
    return end(&b);
}

cuzk_store_sum cuzk_store_sum_unit(uint64_t seq, unsigned unit, const void *proof, size_t n_bytes)
{
    cuzk_blake2b b;
    start(&b, 'u', seq, unit);
    put_bytes(&b, proof, n_bytes);
    return end(&b);
}

cuzk_store_sum cuzk_store_sum_end(uint64_t seq, const cuzk_journal_end *e)
{
    cuzk_blake2b b;
    start(&b, 'e', seq, 0);
    put_u64(&b, (uint64_t)e->state);
    put_u64(&b, (uint64_t)e->status);
    put_bytes(&b, e->error, strlen(e->error));
    put_bytes(&b, e->answer, e->answer_bytes);
    for (size_t i = 0; i < sizeof e->times / sizeof e->times[0]; i++) {
        put_u64(&b, e->times[i]);
    }
    put_u64(&b, (uint64_t)e->ended_unix_ms);
    return end(&b);
}

size_t cuzk_store_n_pieces(size_t payload_bytes)
{
    return payload_bytes / CUZK_STORE_PIECE_BYTES + (payload_bytes % CUZK_STORE_PIECE_BYTES != 0);
}

size_t cuzk_store_piece_bytes(size_t payload_bytes, size_t piece)
{
    size_t left = payload_bytes - piece * CUZK_STORE_PIECE_BYTES;
    return left < CUZK_STORE_PIECE_BYTES ? left : CUZK_STORE_PIECE_BYTES;
}
