/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* libcuzk: Filecoin's proofs (PoRep, SnapDeals updates, Window and Winning PoSt), from what the
 * chain knows.
 *
 * The rules of cuzk.h hold, with one addition: where a call says so, a path that is NULL means a
 * file in the folder of parameter files, which is named by the environment variable
 * FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters.
 *
 * Keys: the network's keys come from its trusted setup and are known by their digests, which are
 * built in. Any other key is a test key here, marked or not, and is refused unless allow_test_key
 * is set: whoever made it can forge proofs. */
#ifndef CUZK_FILECOIN_H
#define CUZK_FILECOIN_H

#include "cuzk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are those of ProofKind in Curio's requests. */
typedef enum {
    CUZK_FILECOIN_POREP = 1,  /* replication of a sector */
    CUZK_FILECOIN_UPDATE = 2, /* SnapDeals: a sector's data replaced */
    CUZK_FILECOIN_WINDOW = 3, /* Window PoSt */
    CUZK_FILECOIN_WINNING = 4 /* Winning PoSt */
} cuzk_filecoin_kind;

/* ---------------------------------------------------------------- devices */

/** What a device with free_bytes of free memory would do with the key of a Filecoin circuit
 *  (cuzk_device_plan in cuzk.h).
 *
 *  circuit: the name of circuit number `index`, such as "porep-32g"; valid for ever. Touches no
 *  driver. Errors: E_NOT_FOUND (there are fewer circuits), E_UNSUPPORTED (without CUDA). */
CUZK_API cuzk_status cuzk_filecoin_device_plan(const char **circuit, cuzk_device_plan *plan,
                                               unsigned index, uint64_t free_bytes,
                                               cuzk_error *err) CUZK_WARN_UNUSED;

/* ---------------------------------------------------------------- requests */

/* What a proof states, as chain-side data: the fields of one kind of proof. To be proved, also the
 * vanilla proofs. */
typedef struct cuzk_filecoin_request cuzk_filecoin_request;

/** Make a request without any field. request: returned; cuzk_filecoin_request_destroy. */
CUZK_API cuzk_status cuzk_filecoin_request_create(cuzk_filecoin_request **request,
                                                  cuzk_filecoin_kind kind,
                                                  cuzk_error *err) CUZK_WARN_UNUSED;

CUZK_API void cuzk_filecoin_request_destroy(cuzk_filecoin_request *request);

/** Set a field from text.
 *
 *  Fields: of every kind registered_proof (the chain's number; required), sector_size ("32GiB",
 *  "32g" or bytes: to be compared with the registered proof; test sizes, which have no number of
 *  their own, are given with a number of 2KiB), miner_id (digits, or an address f0…, t0…),
 *  sector_number;
 *  PoRep: miner_id, sector_number, ticket, seed (not for the non-interactive variant), comm_d,
 *  comm_r; Update: comm_r_old, comm_r_new, comm_d_new;
 *  Window and Winning PoSt: randomness; sector_number and comm_r when there is one sector; Window:
 *  partition_index (default 0) of the first partition.
 *  Numbers are decimal; commitments, ticket, seed and randomness 64 hex digits in the order of the
 *  bytes, with or without 0x.
 *  Errors: E_ARGUMENT (no such field for this kind, or it was set before); E_FORMAT (the text). */
CUZK_API cuzk_status cuzk_filecoin_request_set(cuzk_filecoin_request *request, const char *field,
                                               const char *text, cuzk_error *err) CUZK_WARN_UNUSED;

/** Append a sector to a PoSt request. Their order counts: partitions are filled in it. Errors:
 *  E_ARGUMENT (another kind). */
CUZK_API cuzk_status cuzk_filecoin_request_add_sector(cuzk_filecoin_request *request,
                                                      uint64_t sector_number,
                                                      const uint8_t comm_r[32],
                                                      cuzk_error *err) CUZK_WARN_UNUSED;

/** Set the fields of a JSON object: members are the fields above, numbers as numbers or strings;
 *  for PoSt also "sectors": [{"sector_number": …, "comm_r": …}, …]. A member that is not known is
 *  an error, as a misspelt one would be missed silently.
 *  Errors: E_FORMAT, E_TRUNCATED (with line and column); as cuzk_filecoin_request_set. After an
 *  error the request may be half filled: destroy it. */
CUZK_API cuzk_status cuzk_filecoin_request_read_json(cuzk_filecoin_request *request,
                                                     const void *json, size_t n_bytes,
                                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** Append vanilla proofs, to prove the request.
 *
 *  PoRep: one commit-phase-1 output, bare or in Curio's envelope. It is read at once; fields that
 * it holds (registered_proof, comm_d, comm_r, ticket, seed, in an envelope sector_number) need not
 * be set, and must agree with it where they are, before or after. With miner_id and sector_number
 * its replica_id is compared with theirs. Window, Winning PoSt: bincode, one buffer a sector, or a
 * JSON array of base64 strings, one a sector. The sectors of the request need not be given; where
 * they are, they must be the same in the same order. Update: the same with one a partition,
 * partition 0 first. data: of a PoRep not needed after the call; otherwise borrowed until the
 * request is destroyed. Errors: E_FORMAT, E_TRUNCATED, E_MISMATCH, E_UNSUPPORTED with the place in
 * the vanilla proof; E_ARGUMENT (a second output of a PoRep). */
CUZK_API cuzk_status cuzk_filecoin_request_add_vanilla(cuzk_filecoin_request *request,
                                                       const void *data, size_t n_bytes,
                                                       cuzk_error *err) CUZK_WARN_UNUSED;

/** Number of circuits (partitions, 192 bytes of proof each) that a proof of the request has. The
 *  sectors of a PoSt must be set: vanilla proofs are not looked into here. Errors: E_ARGUMENT,
 *  E_FORMAT, E_UNSUPPORTED, E_MISMATCH: a field is missing or fields contradict each other;
 *  registered_proof is not known or not of that sector size. */
CUZK_API cuzk_status cuzk_filecoin_request_partitions(unsigned *n_partitions,
                                                      const cuzk_filecoin_request *request,
                                                      cuzk_error *err) CUZK_WARN_UNUSED;

/* ---------------------------------------------------------------- verifying */

/** Open the verifying key of a request's circuit.
 *
 *  path: a .vk or .params file; NULL: the circuit's .vk in the folder of parameter files. request:
 *  registered_proof must be set. vkey: returned; cuzk_vkey_close.
 *  Errors: E_FILE; E_FORMAT, E_TRUNCATED; E_MISMATCH (the key is of another circuit: another number
 *  of public values); E_UNSUPPORTED (not a key of the network's trusted setup, without
 *  allow_test_key); as cuzk_filecoin_request_partitions. */
CUZK_API cuzk_status cuzk_filecoin_vkey_open_file(const cuzk_ctx *ctx, cuzk_vkey **vkey,
                                                  const cuzk_filecoin_request *request,
                                                  const char *path, bool allow_test_key,
                                                  cuzk_error *err) CUZK_WARN_UNUSED;

/** Verify a proof: all partitions at once. CUZK_OK exactly when the proof is valid for what the
 *  request states.
 *
 *  proof: 192 bytes a partition, partition 0 first, raw or as text: hexadecimal, base64, or a JSON
 *  object with a base64 member "proof". White space around text is allowed.
 *  first_invalid: may be NULL; the first invalid partition, written with E_INVALID_PROOF only.
 *  Errors: E_INVALID_PROOF; E_MISMATCH (another number of partitions than the request has, or a key
 *  of another circuit); E_FORMAT, E_TRUNCATED (the text of the proof); as
 *  cuzk_filecoin_request_partitions. */
CUZK_API cuzk_status cuzk_filecoin_verify(const cuzk_ctx *ctx, unsigned *first_invalid,
                                          const cuzk_vkey *vkey,
                                          const cuzk_filecoin_request *request, const void *proof,
                                          size_t proof_bytes, cuzk_error *err) CUZK_WARN_UNUSED;

/** Check a request that is to be proved, without any key: the fields, the vanilla proofs in full,
 * and that they are of what the request states. What passes can be proved. Time: well under a
 * second for a PoRep of 32GiB; cuzk_filecoin_prove does the same again. Errors: those of
 * cuzk_filecoin_prove that are about the request. */
CUZK_API cuzk_status cuzk_filecoin_check(const cuzk_ctx *ctx, const cuzk_filecoin_request *request,
                                         cuzk_error *err) CUZK_WARN_UNUSED;

/* ---------------------------------------------------------------- proving */

/* A proving key: a parameter file and the circuit that it belongs to, ready to prove. */
typedef struct cuzk_filecoin_key cuzk_filecoin_key;

typedef struct {
    size_t struct_bytes;
    const char *params_path; /* NULL: the circuit's .params in the folder of parameter files; where
                                test keys are allowed and it is not there, NAME.test.params */
    /* Folder of compiled circuits: the circuit is mapped from there, or built and written there.
     * NULL: it is built and kept in memory: 2 s for a PoRep of 32GiB. */
    const char *circuits_folder;
    bool allow_test_key;    /* accept a key that is not of the network's trusted setup */
    bool drop_pages;        /* give the file's pages back while they are read */
    cuzk_progress progress; /* of building a circuit; may be NULL */
    void *progress_user;
    const char *device; /* as in cuzk_key_options: where rows, quotient and sums are made */
} cuzk_filecoin_key_options;

#define CUZK_FILECOIN_KEY_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(cuzk_filecoin_key_options), NULL, NULL, false, false, NULL, NULL, NULL              \
    }

/** Open the proving key of a request's circuit. All points are decoded, into as many bytes as the
 *  file has.
 *
 *  request: names the circuit by registered_proof, which a PoRep's vanilla proof has too; any other
 *  request of the same kind and sector size can be proved with the key. key: returned;
 *  cuzk_filecoin_key_close. options: may be NULL. Whether the key is the network's is told by its
 *  verifying part, with which every proof is verified: a damaged rest makes no proof.
 *  Errors: as cuzk_filecoin_vkey_open_file; E_FORMAT (a point off the curve); those of
 *  cuzk_key_options.device. */
CUZK_API cuzk_status cuzk_filecoin_key_open(const cuzk_ctx *ctx, cuzk_filecoin_key **key,
                                            const cuzk_filecoin_request *request,
                                            const cuzk_filecoin_key_options *options,
                                            cuzk_error *err) CUZK_WARN_UNUSED;

/** Close a key. No call that uses it may be running. */
CUZK_API void cuzk_filecoin_key_close(cuzk_filecoin_key *key);

typedef struct {
    const char *path;       /* of the parameter file; lives as long as the key */
    uint64_t n_bytes;       /* of it */
    uint32_t n_constraints; /* of one partition's circuit, without the rows of public values */
    uint32_t n_vars;        /* ONE included */
    unsigned lg_domain;     /* log2 of the evaluation domain */
    bool is_test_key;       /* not of the network's trusted setup */
    char device[16];        /* where its proofs are made: "cpu", "cuda:0" */
} cuzk_filecoin_key_info;

/** Facts about a key. info: written in full. */
CUZK_API void cuzk_filecoin_key_get_info(cuzk_filecoin_key_info *info,
                                         const cuzk_filecoin_key *key);

/* The proof of all partitions of a request. */
typedef struct cuzk_filecoin_proof cuzk_filecoin_proof;

typedef struct {
    size_t struct_bytes;
    cuzk_progress progress; /* may be NULL */
    void *progress_user;
} cuzk_filecoin_prove_options;

#define CUZK_FILECOIN_PROVE_OPTIONS_INIT                                                           \
    {                                                                                              \
        sizeof(cuzk_filecoin_prove_options), NULL, NULL                                            \
    }

/** Prove a request. The vanilla proofs are checked in full against it before any circuit work; each
 *  partition is blinded with fresh values and verified before the next one.
 *
 *  proof: returned; cuzk_filecoin_proof_destroy. options: may be NULL.
 *  Errors: as cuzk_filecoin_request_partitions; E_FORMAT, E_TRUNCATED, E_MISMATCH (a vanilla proof,
 *  with partition or sector, challenge, place and both values; number of vanilla proofs; a key of
 *  another circuit); E_UNSATISFIED, E_INVALID_PROOF (the key is damaged) with the partition;
 *  E_CANCELLED. Memory: the vanilla proofs, and about 200 bytes per element of the domain. */
CUZK_API cuzk_status cuzk_filecoin_prove(const cuzk_ctx *ctx, cuzk_filecoin_proof **proof,
                                         const cuzk_filecoin_key *key,
                                         const cuzk_filecoin_request *request,
                                         const cuzk_filecoin_prove_options *options,
                                         cuzk_error *err) CUZK_WARN_UNUSED;

/** FOR TESTS ONLY: the same with given blinding, to compare proofs byte for byte. Whoever knows r
 *  and s of a proof learns about its witness.
 *
 *  rs: r and s of partition 0, of partition 1 … : n_partitions × 64 bytes, little-endian, below the
 *  scalar field's order. Errors also: E_ARGUMENT (n_partitions is not the request's). */
CUZK_API cuzk_status cuzk_filecoin_prove_with_fixed_rs_for_tests(
    const cuzk_ctx *ctx, cuzk_filecoin_proof **proof, const cuzk_filecoin_key *key,
    const cuzk_filecoin_request *request, const uint8_t *rs, unsigned n_partitions,
    const cuzk_filecoin_prove_options *options, cuzk_error *err) CUZK_WARN_UNUSED;

CUZK_API void cuzk_filecoin_proof_destroy(cuzk_filecoin_proof *proof);

/** The proof as it goes on chain: 192 bytes a partition, partition 0 first. Lives as long as the
 *  proof. */
CUZK_API cuzk_bytes cuzk_filecoin_proof_bytes(const cuzk_filecoin_proof *proof);

typedef enum {
    CUZK_FILECOIN_RAW = 0,
    CUZK_FILECOIN_HEX = 1,    /* one line */
    CUZK_FILECOIN_BASE64 = 2, /* one line */
    CUZK_FILECOIN_JSON = 3    /* an object: kind, registered_proof, sector_size, partitions, and
                                 proof in base64 */
} cuzk_filecoin_form;

/** Write the proof to a file, through a temporary one. Errors: E_FILE; E_ARGUMENT (the form). */
CUZK_API cuzk_status cuzk_filecoin_proof_write_file(const cuzk_filecoin_proof *proof,
                                                    const char *path, cuzk_filecoin_form form,
                                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** How long a proof took. Stages: "vanilla" (reading and checking), "witness", and those of the
 *  prover, each summed over partitions. n_bits and n_values: of one partition's witness. stats:
 *  written in full; its names live as long as the program. */
CUZK_API void cuzk_filecoin_proof_get_stats(cuzk_prove_stats *stats,
                                            const cuzk_filecoin_proof *proof);

/* ---------------------------------------------------------------- test parameters */

typedef struct {
    size_t struct_bytes;
    const char *folder;     /* NULL: the folder of parameter files; is made if it is not there */
    cuzk_bytes trapdoor;    /* FOR TESTS: as in cuzk_setup_file_with_test_trapdoor; data NULL: fresh
                               secret values, which are wiped */
    bool replace;           /* make new files where both are there */
    cuzk_progress progress; /* may be NULL */
    void *progress_user;
    const char *device; /* as in cuzk_setup_options */
} cuzk_filecoin_setup_options;

#define CUZK_FILECOIN_SETUP_OPTIONS_INIT                                                           \
    {                                                                                              \
        sizeof(cuzk_filecoin_setup_options), NULL, {NULL, 0}, false, NULL, NULL, NULL              \
    }

/** Make test parameters of a circuit: v28-….test.params and v28-….test.vk, named like the network's
 *  files, marked inside, and refused wherever test keys are not allowed. They make and verify
 *  proofs that no chain accepts.
 *
 *  made: may be NULL; false when both files were there and nothing was done. sector_size: "2KiB",
 *  "32g", or bytes. options: may be NULL.
 *  Errors: E_ARGUMENT, E_UNSUPPORTED (a kind that the size does not have); E_FILE; E_FORMAT (the
 *  trapdoor); E_DEVICE; E_CANCELLED. Memory: the key, and some 150 bytes a constraint. */
CUZK_API cuzk_status cuzk_filecoin_setup(const cuzk_ctx *ctx, bool *made, cuzk_filecoin_kind kind,
                                         const char *sector_size,
                                         const cuzk_filecoin_setup_options *options,
                                         cuzk_error *err) CUZK_WARN_UNUSED;

#ifdef __cplusplus
}
#endif

#endif
