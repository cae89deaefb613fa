/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages of jobs from requests: what `cuzk prove` reads becomes what the daemon takes. */
#ifndef CUZK_CLIENT_REQUEST_H
#define CUZK_CLIENT_REQUEST_H

#include "api/filecoin.h"
#include "base/text.h"
#include "cuzk/v1/proving.pb-c.h"

/* A SubmitProofRequest and what it points into. */
typedef struct {
    Cuzk__V1__SubmitProofRequest message; /* request_id and priority are the caller's to set */
    unsigned n_partitions;
    cuzk_text envelope;           /* of a PoRep whose file has none */
    ProtobufCBinaryData *vanilla; /* of the other kinds */
} cuzk_client_job;

/** Make the message of a request whose vanilla proofs were added from n_files files.
 *
 *  Fields are checked as far as that needs no key: missing ones, contradictions with one another
 *  and with the vanilla proofs. Sectors that a PoSt request does not list are taken over from its
 *  vanilla proofs, so that its proof can be verified later. out: borrows from request and files;
 *  cuzk_client_job_clear. Errors: as cuzk_filecoin_request_partitions; E_MISMATCH; E_ARGUMENT (no
 *  vanilla proof); E_MEMORY. */
cuzk_status cuzk_client_job_init(cuzk_client_job *out, cuzk_filecoin_request *request,
                                 const cuzk_bytes *files, unsigned n_files,
                                 cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_client_job_clear(cuzk_client_job *job);

/** The priority of that name: low, normal, high, critical; NULL: the kind's own. False: there is
 *  none. */
bool cuzk_client_priority(Cuzk__V1__Priority *out, const char *name);

#endif
