/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* libcuzk: Groth16 proofs on BN254 and BLS12-381 from circom and bellperson files.
 *
 * Rules that hold for every call; a call's own comment states only what differs.
 *
 *  - Argument order: context, outputs, inputs, options, error. A length in bytes follows its
 *    pointer. Calls that start from one object name it where the context would stand.
 *  - Returns: cuzk_status; CUZK_OK is 0. `err` is cleared at the start of the call and holds the
 *    cause in words when the call fails; NULL is allowed. E_ARGUMENT stands for a NULL where none
 *    is allowed and for options that contradict each other; E_MEMORY may come from any call.
 *  - Outputs are written in full on success and keep their old value on failure.
 *  - Ownership: what a `create` or `open` returns belongs to the caller until the `destroy` or
 *    `close` of the same name, which accepts NULL. Objects that were made with a context are closed
 *    before it. Memory given to a call is borrowed for the call, unless its comment says until
 * when.
 *  - Threads: an object behind a const pointer may be used by any number of threads at once; a
 *    non-const one by one thread at a time. One context, one key and one verifying key can serve
 *    all threads of a process: proofs that run at once share the context's threads in turn.
 *  - The library prints nothing, starts no thread before a context is made, keeps none after it is
 *    destroyed, and never reads the environment except for CUZK_CPU (see cuzk_ctx_create).
 *  - Options structs start with their own size, so that later versions can add fields: set them up
 *    with the INIT macro of the same name. A NULL options pointer means that macro's values.
 *  - Texts are UTF-8. Curves are called "bn128" (BN254) and "bls12381", as in snarkjs' files.
 *  - Nothing here runs in constant time: do not prove where an attacker can time the process. */
#ifndef CUZK_H
#define CUZK_H

#include "cuzk_status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_VERSION_MAJOR 0
#define CUZK_VERSION_MINOR 1
#define CUZK_VERSION_PATCH 0

/** Version of the library that runs, "MAJOR.MINOR.PATCH". Never NULL. */
CUZK_API const char *cuzk_version(void);

/* A run of bytes that belongs to the caller. */
typedef struct {
    const void *data;
    size_t n_bytes;
} cuzk_bytes;

/* ---------------------------------------------------------------- context */

/* Threads and settings. */
typedef struct cuzk_ctx cuzk_ctx;

typedef enum {
    CUZK_LOG_ERROR = 0, /* someone must act */
    CUZK_LOG_WARN = 1,  /* a key that anybody can forge proofs for, and the like */
    CUZK_LOG_INFO = 2,  /* what was chosen, what was taken for granted */
    CUZK_LOG_DEBUG = 3
} cuzk_log_level;

/** One line without its newline. text: borrowed for the call. Holds no witness values and no
 *  secrets. Called from the thread that made the call; no lock is held. */
typedef void (*cuzk_log)(void *user, cuzk_log_level level, const char *text);

typedef struct {
    size_t struct_bytes;
    unsigned n_threads; /* the caller's own included; 0: one per processor this process may use,
                           affinity mask and cgroup quota counted */
    cuzk_log log;       /* may be NULL; called from any thread that uses the context */
    void *log_user;
} cuzk_ctx_options;

#define CUZK_CTX_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(cuzk_ctx_options), 0, NULL, NULL                                                    \
    }

/** Make a context and start its threads.
 *
 *  ctx: returned; end it with cuzk_ctx_destroy. options: may be NULL.
 *  Errors: E_ARGUMENT when the environment variable CUZK_CPU (portable, adx, ifma, ifma-emulated:
 *  pins the inner loops for tests) names a path that is unknown or that this processor lacks. */
CUZK_API cuzk_status cuzk_ctx_create(cuzk_ctx **ctx, const cuzk_ctx_options *options,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** End the context's threads and free it. When the call returns none of its threads is left. */
CUZK_API void cuzk_ctx_destroy(cuzk_ctx *ctx);

/** Number of threads, the caller's included. */
CUZK_API unsigned cuzk_ctx_n_threads(const cuzk_ctx *ctx);

/** The inner loops in use: "portable", "adx", "ifma" or "ifma-emulated". */
CUZK_API const char *cuzk_ctx_cpu(const cuzk_ctx *ctx);

/** Called from the thread that made the call, between and inside the stages of long work.
 *
 *  stage: the name of what runs now, a string that lives as long as the program. done: 0 … 1 of
 *  the whole call, never falling. Return true to go on, false to cancel: the call then ends soon
 *  with E_CANCELLED and leaves nothing behind. No lock is held; the callback may call the library
 *  with other objects. */
typedef bool (*cuzk_progress)(void *user, const char *stage, double done);

/* ---------------------------------------------------------------- devices */

enum { CUZK_DEVICES_MAX = 64 };

/* A device that a part of this library is made for. */
typedef struct {
    char id[16]; /* "cuda:0" */
    char name[96];
    uint64_t memory_bytes, free_bytes;
    unsigned capability; /* compute capability: 90 for 9.0 */
    unsigned driver;     /* version of the driver's interface: 13000 for 13.0 */
    bool is_usable;      /* its kernels load and its self-test gives the CPU's results */
    char reason[CUZK_ERROR_TEXT_MAX]; /* why it is not usable; empty if it is */
    char pci[16];                     /* its address on the bus: "0000:41:00.0" */
    int numa_node; /* that it is closest to, as the system numbers it; -1: unknown */
} cuzk_device_info;

/** Look for devices and test each: takes a second or so, and some megabytes on the device.
 *
 *  devices: capacity entries, of which the first *n (at most capacity) are written.
 *  Errors: E_UNSUPPORTED (the library was built without CUDA); E_DEVICE (no driver, or no device:
 *  the text tells). Nothing else in this library touches the driver. */
CUZK_API cuzk_status cuzk_devices(cuzk_device_info *devices, size_t capacity, size_t *n,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

/* What a device does with a proving key, decided from its free memory alone. */
typedef struct {
    bool fits;        /* else total_bytes is what the smallest way would take */
    bool is_streamed; /* the key stays in host memory and passes through the device for each proof,
                         or for several at once */
    bool is_halved;   /* sums cut scalars in two by the endomorphism, which is faster and takes more
                         memory */
    unsigned units;   /* witnesses that are on the device at once; streamed: proofs of one pass */
    uint64_t scalars; /* of a sum at a time */
    uint64_t key_bytes; /* of all points, wherever they are */
    /* Of the device's memory: points, rows of the circuit, tables of transforms, pieces of a
     * streamed key, witnesses, workspace. */
    uint64_t total_bytes, resident_bytes, circuit_bytes, table_bytes, staging_bytes, witness_bytes,
        workspace_bytes;
} cuzk_device_plan;

/** What a device with free_bytes of free memory would do with a circom key of 2^lg_constraints
 *  constraints and as many wires: four terms a row in A and B together, every wire in every matrix,
 *  no wire a bit.
 *
 *  curve: "bn128" or "bls12381". Touches no driver. Errors: E_ARGUMENT (curve, or lg_constraints
 *  above 28), E_UNSUPPORTED (the library was built without CUDA). */
CUZK_API cuzk_status cuzk_circom_device_plan(cuzk_device_plan *plan, const char *curve,
                                             unsigned lg_constraints, uint64_t free_bytes,
                                             cuzk_error *err) CUZK_WARN_UNUSED;

/* ---------------------------------------------------------------- proving keys */

/* A proving key: a circom .zkey, or a bellperson .params with the circuit it belongs to. */
typedef struct cuzk_key cuzk_key;

typedef struct {
    size_t struct_bytes;
    /* The circuit: as a file, or in memory (then borrowed until cuzk_key_close). A .params needs
     * it, since it does not say which variables its points belong to. With a .zkey it is optional
     * and read only when a proof does not verify, to name the constraint that the witness breaks.
     */
    const char *r1cs_path;
    cuzk_bytes r1cs;
    bool allow_test_key; /* accept a key that was made from a given trapdoor: anybody who knows it
                            can forge proofs */
    bool drop_pages;     /* give the pages of a mapped key back after each use: least memory, for a
                            process that proves once */
    const char *device;  /* where the large sums of its proofs are made: "cuda:N" of cuzk_devices,
                            whose memory then holds the key's points until it is closed, or through
                            which they pass; NULL or "cpu": this processor; "auto": a card for a
                            circuit from so many constraints on that it is faster, which the
                            context's log tells; "auto:N": from N on */
} cuzk_key_options;

#define CUZK_KEY_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(cuzk_key_options), NULL, {NULL, 0}, false, false, NULL                              \
    }

/** Open a proving key from a file, which is mapped, not read: opening costs little, and pages count
 *  as memory only while they are used. The file must not change while the key is open: the system
 *  ends a process that reads a page of a mapped file which has been shortened with SIGBUS, and the
 *  library installs no handler, since that belongs to the program. Replacing the file (rename) is
 *  fine. Where shortening cannot be ruled out, read the file into memory and use cuzk_key_open.
 *
 *  Every count is checked against the file's size before use, and every coordinate of every point
 *  is seen to be below p, in one pass over the file. Whether points are on the curve is not checked
 *  here (see cuzk_check_file): a wrong point makes a proof that the self-check refuses.
 *  key: returned; cuzk_key_close. options: may be NULL.
 *  Errors: E_FILE; E_FORMAT, E_TRUNCATED (section, offset and both numbers in the text);
 *  E_UNSUPPORTED (another proof system, a domain the curve does not have, a test key without
 *  allow_test_key, a device in a library without CUDA); E_MISMATCH (.params and r1cs do not belong
 *  together); E_DEVICE (no such device, its self-test fails, its memory does not suffice). */
CUZK_API cuzk_status cuzk_key_open_file(const cuzk_ctx *ctx, cuzk_key **key, const char *path,
                                        const cuzk_key_options *options,
                                        cuzk_error *err) CUZK_WARN_UNUSED;

/** The same from memory. data: borrowed until cuzk_key_close; it is not copied. */
CUZK_API cuzk_status cuzk_key_open(const cuzk_ctx *ctx, cuzk_key **key, const void *data,
                                   size_t n_bytes, const cuzk_key_options *options,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Close a key. No call that uses it may be running. */
CUZK_API void cuzk_key_close(cuzk_key *key);

typedef struct {
    const char *format;     /* "zkey" or "params" */
    const char *curve;      /* "bn128" or "bls12381" */
    uint64_t n_bytes;       /* of the file or buffer */
    uint32_t n_vars;        /* wires, the constant 1 included */
    uint32_t n_public;      /* public values, the constant 1 not counted */
    uint32_t n_constraints; /* of the circuit, without the rows added for public values */
    unsigned lg_domain;     /* log2 of the evaluation domain */
    bool is_test_key;       /* made from a given trapdoor, and marked so */
    bool is_unsafe;         /* gamma equals delta: phase 2 never happened, anybody can forge */
    char device[16];        /* where its proofs are made: "cpu", "cuda:0" */
} cuzk_key_info;

/** Facts about a key. info: written in full; its texts live as long as the program. */
CUZK_API void cuzk_key_get_info(cuzk_key_info *info, const cuzk_key *key);

/* ---------------------------------------------------------------- proving */

/* A proof with its public values and how long it took. */
typedef struct cuzk_proof cuzk_proof;

typedef struct {
    size_t struct_bytes;
    bool no_self_check; /* do not verify the proof before returning it. Without the check a witness
                           that does not satisfy the circuit gives an invalid proof and CUZK_OK.
                           Proofs of a key with a device are verified all the same */
    cuzk_progress progress; /* may be NULL */
    void *progress_user;
} cuzk_prove_options;

#define CUZK_PROVE_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(cuzk_prove_options), false, NULL, NULL                                              \
    }

/** Prove: blinded with fresh r and s from the system's generator, verified before it is returned.
 *
 *  proof: returned; cuzk_proof_destroy. witness: the bytes of a .wtns file.
 *  Errors: E_FORMAT, E_TRUNCATED (not a .wtns, or a value that is not below the field's order, with
 *  its index); E_MISMATCH (witness and key are over different curves); E_WITNESS_LENGTH;
 *  E_UNSATISFIED (the witness does not satisfy the circuit: its proof does not verify. The text
 *  names the first broken constraint if the key was opened with the circuit); E_INVALID_PROOF (the
 *  witness does satisfy the circuit, or the proof is not on the curve: the key is damaged or of
 *  another circuit); E_CANCELLED.
 *  Memory: the key's pages while they are used, and about 200 bytes per element of the domain,
 *  freed before the return. */
CUZK_API cuzk_status cuzk_prove(const cuzk_ctx *ctx, cuzk_proof **proof, const cuzk_key *key,
                                const void *witness, size_t witness_bytes,
                                const cuzk_prove_options *options,
                                cuzk_error *err) CUZK_WARN_UNUSED;

/** The same with the witness from a file. Errors also: E_FILE. */
CUZK_API cuzk_status cuzk_prove_file(const cuzk_ctx *ctx, cuzk_proof **proof, const cuzk_key *key,
                                     const char *witness_path, const cuzk_prove_options *options,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** FOR TESTS ONLY: the same with given blinding, to compare proofs byte for byte. Whoever knows r
 *  and s of a proof learns about its witness, and two proofs with equal r and s give it away.
 *
 *  r, s: 32 bytes each, little-endian, below the scalar field's order. Errors also: E_ARGUMENT. */
CUZK_API cuzk_status cuzk_prove_with_fixed_rs_for_tests(const cuzk_ctx *ctx, cuzk_proof **proof,
                                                        const cuzk_key *key, const void *witness,
                                                        size_t witness_bytes, const uint8_t r[32],
                                                        const uint8_t s[32],
                                                        const cuzk_prove_options *options,
                                                        cuzk_error *err) CUZK_WARN_UNUSED;

CUZK_API void cuzk_proof_destroy(cuzk_proof *proof);

typedef enum {
    CUZK_FORM_SNARKJS = 0, /* proof.json, public.json: snarkjs' layout to the byte */
    CUZK_FORM_COMPACT =
        1,              /* the same JSON values without white space, keys in alphabetical order */
    CUZK_FORM_BYTES = 2 /* proof: bellperson's 192 bytes; verifying key: .vk. bls12381 only.
                           Public values have no such form */
} cuzk_form;

/** Bytes that cuzk_proof_write needs, the final NUL of text forms included; 0 when the proof has no
 *  such form. For one form and curve the size of a proof varies by a few bytes; see
 *  cuzk_proof_size_max for a bound known before. */
CUZK_API size_t cuzk_proof_size(const cuzk_proof *proof, cuzk_form form);

/** Write the proof. Text forms end in NUL.
 *
 *  out: out_bytes bytes. Errors: E_SHORT_BUFFER; E_ARGUMENT (a form that this curve lacks). */
CUZK_API cuzk_status cuzk_proof_write(const cuzk_proof *proof, void *out, size_t out_bytes,
                                      cuzk_form form, cuzk_error *err) CUZK_WARN_UNUSED;

/** Bytes that cuzk_proof_public_write needs, the final NUL included. */
CUZK_API size_t cuzk_proof_public_size(const cuzk_proof *proof, cuzk_form form);

/** Write the public values, without the constant 1, as a JSON array of decimal strings and NUL.
 *
 *  Errors: E_SHORT_BUFFER; E_ARGUMENT (CUZK_FORM_BYTES). */
CUZK_API cuzk_status cuzk_proof_public_write(const cuzk_proof *proof, char *out, size_t out_bytes,
                                             cuzk_form form, cuzk_error *err) CUZK_WARN_UNUSED;

/** Write proof and public values to two files: both or neither. Each goes to a temporary file in
 *  the same folder and is renamed when both are whole; on failure older files keep their content.
 *
 *  form: of the proof; the public values are written in the JSON form that goes with it. Text files
 *  hold no NUL. Errors: E_FILE; E_ARGUMENT (the form). */
CUZK_API cuzk_status cuzk_proof_write_files(const cuzk_proof *proof, const char *proof_path,
                                            const char *public_path, cuzk_form form,
                                            cuzk_error *err) CUZK_WARN_UNUSED;

/** A size that cuzk_proof_size never exceeds for keys of this curve ("bn128", "bls12381", or NULL
 *  for the larger of both). 0 for an unknown curve or a form that it lacks. */
CUZK_API size_t cuzk_proof_size_max(const char *curve, cuzk_form form);

/** A size that cuzk_proof_public_size never exceeds for n_public values in this form. */
CUZK_API size_t cuzk_public_size_max(uint32_t n_public, cuzk_form form);

enum { CUZK_PROVE_STAGES_MAX = 16 };

typedef struct {
    const char *stage[CUZK_PROVE_STAGES_MAX]; /* names, in the order in which they began */
    uint64_t stage_ns[CUZK_PROVE_STAGES_MAX]; /* wall time between the stage's begin and end */
    unsigned n_stages;
    uint64_t total_ns; /* from the call to its return; more than the sum of the stages */
    uint64_t n_bits;   /* witness values that are 0 or 1 */
    uint64_t n_values; /* the other witness values */
    /* What a device's streams were doing, by device events, those of several streams added up;
     * "wait": they had nothing to do. "kernels": the time in which at least one kernel ran. By the
     * host's clock: "lane wait", before the kernels, and "finish", after them. 0 entries without a
     * device. */
    const char *device_stage[CUZK_PROVE_STAGES_MAX];
    uint64_t device_ns[CUZK_PROVE_STAGES_MAX];
    unsigned n_device_stages;
} cuzk_prove_stats;

/** How long a proof took. stats: written in full; its names live as long as the program. */
CUZK_API void cuzk_proof_get_stats(cuzk_prove_stats *stats, const cuzk_proof *proof);

/** Check a witness against the constraints themselves, without any key.
 *
 *  first_broken: may be NULL; the index of the first constraint that fails, written with
 *  E_UNSATISFIED only (the one exception to the rule on outputs). r1cs, witness: bytes of a .r1cs
 *  and a .wtns file. Errors: E_UNSATISFIED (its text holds the constraint with its values);
 *  E_FORMAT, E_TRUNCATED, E_UNSUPPORTED (custom gates), E_MISMATCH (curves), E_WITNESS_LENGTH. */
CUZK_API cuzk_status cuzk_check_witness(const cuzk_ctx *ctx, uint64_t *first_broken,
                                        const void *r1cs, size_t r1cs_bytes, const void *witness,
                                        size_t witness_bytes, cuzk_error *err) CUZK_WARN_UNUSED;

/** The same from two files. Errors also: E_FILE. */
CUZK_API cuzk_status cuzk_check_witness_file(const cuzk_ctx *ctx, uint64_t *first_broken,
                                             const char *r1cs_path, const char *witness_path,
                                             cuzk_error *err) CUZK_WARN_UNUSED;

/* ---------------------------------------------------------------- verifying */

/* A verifying key, every point checked, with e(alpha, beta) computed once. */
typedef struct cuzk_vkey cuzk_vkey;

/** Read a verifying key: snarkjs' verification_key.json or bellperson's .vk, told apart by content.
 *
 *  vkey: returned; cuzk_vkey_close. data: not needed after the call.
 *  Errors: E_FORMAT, E_TRUNCATED (field and reason in the text), E_UNSUPPORTED (a test key without
 *  allow_test_key). */
CUZK_API cuzk_status cuzk_vkey_open(const cuzk_ctx *ctx, cuzk_vkey **vkey, const void *data,
                                    size_t n_bytes, bool allow_test_key,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** The same from a file; a .zkey or .params file gives the key inside. Errors also: E_FILE. */
CUZK_API cuzk_status cuzk_vkey_open_file(const cuzk_ctx *ctx, cuzk_vkey **vkey, const char *path,
                                         bool allow_test_key, cuzk_error *err) CUZK_WARN_UNUSED;

/** The verifying key inside a proving key. vkey does not depend on key afterwards. */
CUZK_API cuzk_status cuzk_vkey_from_key(const cuzk_ctx *ctx, cuzk_vkey **vkey, const cuzk_key *key,
                                        cuzk_error *err) CUZK_WARN_UNUSED;

CUZK_API void cuzk_vkey_close(cuzk_vkey *vkey);

/** Number of public values that a proof for this key has. */
CUZK_API uint32_t cuzk_vkey_n_public(const cuzk_vkey *vkey);

/** Bytes that cuzk_vkey_write needs, the final NUL of text forms included; 0 when the key has no
 *  such form (CUZK_FORM_BYTES on bn128, or a key read from JSON, which lacks two of its points;
 *  CUZK_FORM_COMPACT always). */
CUZK_API size_t cuzk_vkey_size(const cuzk_vkey *vkey, cuzk_form form);

/** Write the verifying key: CUZK_FORM_SNARKJS is verification_key.json, CUZK_FORM_BYTES is .vk.
 *  Errors: E_SHORT_BUFFER; E_ARGUMENT (the form). */
CUZK_API cuzk_status cuzk_vkey_write(const cuzk_vkey *vkey, void *out, size_t out_bytes,
                                     cuzk_form form, cuzk_error *err) CUZK_WARN_UNUSED;

/** Write the verifying key to a file, through a temporary one. Errors: E_FILE; E_ARGUMENT (the
 *  form). */
CUZK_API cuzk_status cuzk_vkey_write_file(const cuzk_vkey *vkey, const char *path, cuzk_form form,
                                          cuzk_error *err) CUZK_WARN_UNUSED;

/** Verify one proof.
 *
 *  proof: proof.json, or 192 bytes in bellperson's form. public_values: public.json.
 *  Returns CUZK_OK exactly when the proof is valid.
 *  Errors: E_INVALID_PROOF (the equation does not hold, a point is off the curve or outside the
 *  subgroup, or a public value is not below the field's order); E_FORMAT, E_TRUNCATED (not a
 *  proof, or not public values; swapped files are told); E_MISMATCH (another curve, or another
 *  number of public values than the key has); E_UNSUPPORTED (another proof system). What an older
 *  tool left out ("curve", "protocol") is taken from the key, with a line in the log. */
CUZK_API cuzk_status cuzk_verify(const cuzk_ctx *ctx, const cuzk_vkey *vkey, const void *proof,
                                 size_t proof_bytes, const void *public_values, size_t public_bytes,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** Verify n proofs of one key at once, with random coefficients: for large n a few times faster
 *  than one by one. A batch with an invalid proof passes with probability below 2^-120.
 *
 *  first_invalid: may be NULL; index of the first invalid proof, written with E_INVALID_PROOF only.
 *  proofs, public_values: n each, as in cuzk_verify. n = 0 is CUZK_OK. Errors: as cuzk_verify, with
 *  the proof's index in the text. */
CUZK_API cuzk_status cuzk_verify_batch(const cuzk_ctx *ctx, size_t *first_invalid,
                                       const cuzk_vkey *vkey, const cuzk_bytes *proofs,
                                       const cuzk_bytes *public_values, size_t n,
                                       cuzk_error *err) CUZK_WARN_UNUSED;

/** The arguments of the Solidity verifier's call, as snarkjs writes them: a, b, c and the public
 *  values as hexadecimal numbers, G2 coordinates swapped.
 *
 *  text: returned, ends in NUL; free with cuzk_free. proof: proof.json. public_values: public.json.
 *  Errors: E_FORMAT, E_TRUNCATED (swapped files are told); E_INVALID_PROOF (a point off its curve,
 *  a public value not below the field's order). */
CUZK_API cuzk_status cuzk_calldata(char **text, const void *proof, size_t proof_bytes,
                                   const void *public_values, size_t public_bytes,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Free memory that a call returned with the words "free with cuzk_free". NULL is fine. */
CUZK_API void cuzk_free(void *p);

/* ---------------------------------------------------------------- key generation */

typedef struct {
    size_t struct_bytes;
    /* What to write; NULL leaves it out, at least one is given. Written to temporary files and
     * renamed; on failure none is left. */
    const char *zkey_path;      /* circom proving key */
    const char *params_path;    /* bellperson proving key; bls12381 only */
    const char *vk_path;        /* bellperson verifying key; bls12381 only */
    const char *vkey_json_path; /* snarkjs verification_key.json, of the .zkey */
    cuzk_progress progress;     /* may be NULL */
    void *progress_user;
    const char *device; /* where the points are made: "cuda:N" of cuzk_devices; NULL or "cpu": by
                           the context's threads. The same bytes for the same secret values */
} cuzk_setup_options;

#define CUZK_SETUP_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(cuzk_setup_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL                       \
    }

/** Make the keys of a circuit from fresh secret values of the system's generator, which are wiped.
 *
 *  One machine knows the secret for the time of the call. Whoever could read its memory then can
 *  forge proofs for ever: keys for real use come from a ceremony with many contributors.
 *  .zkey and .params come from secret values of their own: they are different keys.
 *  r1cs_path: a .r1cs file. Errors: E_FILE, E_FORMAT, E_TRUNCATED, E_UNSUPPORTED (custom gates, a
 *  domain the curve lacks, a .params with a private variable that no constraint uses, a device in
 *  a library without CUDA), E_DEVICE (no such device, or it fails), E_CANCELLED. */
CUZK_API cuzk_status cuzk_setup_file(const cuzk_ctx *ctx, const char *r1cs_path,
                                     const cuzk_setup_options *options,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** FOR TESTS ONLY: the same from a given trapdoor. Such keys are marked inside as test keys and are
 *  refused wherever allow_test_key is not set.
 *
 *  trapdoor: JSON object of decimal strings tau, alpha, beta, gamma, delta.
 *  Errors also: E_ARGUMENT (the name of an output does not end in .test.EXTENSION); E_FORMAT (the
 * trapdoor). */
CUZK_API cuzk_status cuzk_setup_file_with_test_trapdoor(const cuzk_ctx *ctx, const char *r1cs_path,
                                                        const void *trapdoor, size_t trapdoor_bytes,
                                                        const cuzk_setup_options *options,
                                                        cuzk_error *err) CUZK_WARN_UNUSED;

/* ---------------------------------------------------------------- looking at files */

typedef enum {
    CUZK_REPORT_FACT = 0,    /* name and value */
    CUZK_REPORT_NOTE = 1,    /* worth knowing; the file is fine */
    CUZK_REPORT_WARNING = 2, /* usable, but something looks wrong */
    CUZK_REPORT_ERROR = 3    /* broken */
} cuzk_report_kind;

/** One line of a report. name, value: borrowed for the call. is_number: value is a decimal number.
 *  Called from the thread that made the call. */
typedef void (*cuzk_report)(void *user, cuzk_report_kind kind, const char *name, const char *value,
                            bool is_number);

/** Say what a file is (any format that the library reads) and what its headers, sections and counts
 *  hold; what looks wrong comes as warnings and errors in the same report.
 *
 *  Reads headers and tables only. Errors: E_FILE; E_FORMAT, E_TRUNCATED, E_UNSUPPORTED when the
 *  file is broken (the report up to there has been given). */
CUZK_API cuzk_status cuzk_inspect_file(const cuzk_ctx *ctx, const char *path, cuzk_report report,
                                       void *user, cuzk_error *err) CUZK_WARN_UNUSED;

typedef struct {
    size_t struct_bytes;
    const char *r1cs_path;  /* for a key: its circuit, to compare with; may be NULL */
    cuzk_progress progress; /* may be NULL */
    void *progress_user;
} cuzk_check_options;

#define CUZK_CHECK_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(cuzk_check_options), NULL, NULL, NULL                                               \
    }

/** The same, and check everything that can be checked: every point on its curve and in its
 *  subgroup, every value below the field's order, indices in range; for a .zkey, and for a .params
 *  with its circuit, also that the parts of the key fit together and, with the circuit, that they
 *  are the circuit's. Test keys are checked like others.
 *
 *  A damaged key passes with probability below 2^-120 where the check can tell; docs/cli.md lists
 *  what it cannot. Errors: as cuzk_inspect_file; E_FORMAT with the first thing that is wrong;
 *  E_MISMATCH (key and circuit); E_CANCELLED. Cost: for a key, some ten microseconds a point and
 *  thread. */
CUZK_API cuzk_status cuzk_check_file(const cuzk_ctx *ctx, const char *path,
                                     const cuzk_check_options *options, cuzk_report report,
                                     void *user, cuzk_error *err) CUZK_WARN_UNUSED;

#ifdef __cplusplus
}
#endif

#endif
