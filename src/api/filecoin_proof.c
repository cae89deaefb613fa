/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What can be asked of a Filecoin proof. */
#include "api/filecoin.h"

#include "formats/proof_text.h"

#include <inttypes.h>
#include <stdlib.h>

void cuzk_filecoin_proof_destroy(cuzk_filecoin_proof *proof)
{
    if (proof != NULL) {
        free(proof->bytes);
        free(proof);
    }
}

cuzk_bytes cuzk_filecoin_proof_bytes(const cuzk_filecoin_proof *proof)
{
    return (cuzk_bytes){proof->bytes, (size_t)proof->n_partitions * CUZK_PROOF_BYTES};
}

void cuzk_filecoin_proof_get_stats(cuzk_prove_stats *stats, const cuzk_filecoin_proof *proof)
{
    *stats = proof->stats;
}

static void put_json(cuzk_text *text, const cuzk_filecoin_proof *proof, cuzk_bytes bytes)
{
    char name[CUZK_REGISTERED_NAME_MAX];
    cuzk_text_printf(text,
                     "{\n \"kind\": \"%s\",\n \"registered_proof\": %" PRIu64
                     ",\n \"name\": \"%s\",\n \"sector_size\": %" PRIu64
                     ",\n \"partitions\": %u,\n \"proof\": \"",
                     cuzk_proof_kind_name(proof->proof.kind), proof->proof.number,
                     cuzk_registered_proof_name(name, &proof->proof), proof->proof.sector->bytes,
                     proof->n_partitions);
    cuzk_text_put_base64(text, bytes.data, bytes.n_bytes);
    cuzk_text_put(text, "\"\n}\n");
}

cuzk_status cuzk_filecoin_proof_write_file(const cuzk_filecoin_proof *proof, const char *path,
                                           cuzk_filecoin_form form, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, proof);
    CUZK_API_NOT_NULL(err, path);
    cuzk_bytes bytes = cuzk_filecoin_proof_bytes(proof);
    cuzk_text text = {0};
    switch (form) {
    case CUZK_FILECOIN_RAW:
        return cuzk_write_file(path, bytes.data, bytes.n_bytes, err);
    case CUZK_FILECOIN_HEX:
        cuzk_text_put_hex(&text, bytes.data, bytes.n_bytes);
        cuzk_text_put(&text, "\n");
        break;
    case CUZK_FILECOIN_BASE64:
        cuzk_text_put_base64(&text, bytes.data, bytes.n_bytes);
        cuzk_text_put(&text, "\n");
        break;
    case CUZK_FILECOIN_JSON:
        put_json(&text, proof, bytes);
        break;
    default:
        return CUZK_FAIL(err, CUZK_E_ARGUMENT, "form %d of a proof is not known", (int)form);
    }
    cuzk_status status = cuzk_text_check(&text, err);
    if (status == CUZK_OK) {
        status = cuzk_write_file(path, text.data, text.size, err);
    }
    cuzk_text_clear(&text);
    return status;
}
