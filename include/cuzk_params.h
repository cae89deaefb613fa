/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* libcuzk: the parameter files of Filecoin's proofs: which there are, whether they are whole, and
 * fetching them. The rules of cuzk.h hold, with one addition: a folder that is not given is the one
 * that the environment variable FIL_PROOFS_PARAMETER_CACHE names, else
 * /var/tmp/filecoin-proof-parameters. */
#ifndef CUZK_PARAMS_H
#define CUZK_PARAMS_H

#include "cuzk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A list of parameter files and the folder they belong in. */
typedef struct cuzk_params_set cuzk_params_set;

/** Open the list of files.
 *
 *  set: returned; cuzk_params_set_close. folder: NULL for the usual one, not ""; it need not exist.
 *  manifest_path: a parameters.json; NULL for the built-in list of the network's trusted setup.
 *  Errors: E_FILE; E_FORMAT, E_TRUNCATED (the manifest, with line and column). */
CUZK_API cuzk_status cuzk_params_set_open(cuzk_params_set **set, const char *folder,
                                          const char *manifest_path,
                                          cuzk_error *err) CUZK_WARN_UNUSED;

CUZK_API void cuzk_params_set_close(cuzk_params_set *set);

/** Number of files in the list. */
CUZK_API unsigned cuzk_params_set_count(const cuzk_params_set *set);

/** The folder's path. */
CUZK_API const char *cuzk_params_set_folder(const cuzk_params_set *set);

/* One file. Texts live as long as the set. */
typedef struct {
    const char *name;
    const char *circuit;     /* "porep-32g"; "" when no circuit that the library has uses it */
    const char *sector_size; /* "32GiB"; "" when it belongs to none */
    bool is_vk;              /* a .vk, not a .params */
    uint64_t n_bytes;        /* that it should have; 0: not known */
    bool is_present; /* a file of the right size; whether the bytes are right is not known */
    const char
        *state; /* "present", "missing", "empty", "wrong size", "not a file", "not readable" */
} cuzk_params_file_info;

/** Facts about file i < count, as the folder is now. info: written in full. */
CUZK_API void cuzk_params_file_get_info(cuzk_params_file_info *info, const cuzk_params_set *set,
                                        unsigned i);

/** Read file i and compare its digest with the list's. A good file is remembered (".NAME.good" in
 * the folder, if it can be written): fetching does not read it again unless it has changed.
 *
 *  progress: may be NULL. Errors: E_FILE (missing, empty, not a file), E_MISMATCH (size or digest,
 *  with both values), E_CANCELLED. */
CUZK_API cuzk_status cuzk_params_file_check(const cuzk_params_set *set, unsigned i,
                                            cuzk_progress progress, void *progress_user,
                                            cuzk_error *err) CUZK_WARN_UNUSED;

typedef struct {
    size_t struct_bytes;
    /* A folder, or a URL (http, https) that stands for one, or a URL with "{name}" or "{cid}" where
     * the file's name or content id goes; several, with commas between them, are tried in turn.
     * NULL: the network's gateway, https://proofs.filecoin.io/ipfs/{cid}. */
    const char *source;
    cuzk_progress progress; /* may be NULL */
    void *progress_user;
    /* told when another process fetches the file and this call waits for it; may be NULL */
    void (*waiting)(void *user, const char *name);
    void *waiting_user;
} cuzk_params_fetch_options;

#define CUZK_PARAMS_FETCH_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(cuzk_params_fetch_options), NULL, NULL, NULL, NULL, NULL                            \
    }

/** Make sure that file i is in the folder and whole: check it, or fetch it.
 *
 *  was_there: nothing had to be fetched. The file gets its name only when its digest is right; what
 *  is received before that is kept as ".NAME.part" and continued by the next call, also after a
 *  cancellation. Two processes never fetch one file at the same time.
 *  Errors: E_FILE (what each source said: status and first line of a bad answer), E_MISMATCH (a
 *  source has other bytes), E_UNSUPPORTED (libcurl is not there), E_CANCELLED. */
CUZK_API cuzk_status cuzk_params_file_fetch(bool *was_there, const cuzk_params_set *set, unsigned i,
                                            const cuzk_params_fetch_options *options,
                                            cuzk_error *err) CUZK_WARN_UNUSED;

#ifdef __cplusplus
}
#endif

#endif
