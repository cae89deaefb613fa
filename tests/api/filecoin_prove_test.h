/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of cuzk_filecoin_prove share: a folder of parameters of the golden trapdoor, which
 * is there as long as the program runs, and requests as they are proved. */
#ifndef CUZK_TESTS_FILECOIN_PROVE_TEST_H
#define CUZK_TESTS_FILECOIN_PROVE_TEST_H

#include "filecoin_case.h"

#include <dirent.h>
#include <unistd.h>

enum { PROOF_BYTES = 192, FILES_MAX = 4 };

static cuzk_error err;
static cuzk_ctx *ctx;
static char folder[] = "/tmp/cuzk-api-filecoin-XXXXXX";

static inline void empty_folder(void)
{
    char path[1024];
    DIR *d = opendir(folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    if (d != NULL) {
        closedir(d);
    }
}

static inline int setup(void **state)
{
    (void)state;
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 2;
    if (mkdtemp(folder) == NULL || setenv("FIL_PROOFS_PARAMETER_CACHE", folder, 1) != 0) {
        return -1;
    }
    return cuzk_ctx_create(&ctx, &options, &err) == CUZK_OK ? 0 : -1;
}

static inline int teardown(void **state)
{
    (void)state;
    cuzk_ctx_destroy(ctx);
    empty_folder();
    rmdir(folder);
    return 0;
}

static inline bool make_parameters(cuzk_filecoin_kind kind, const char *sector_size)
{
    cuzk_filecoin_setup_options options = CUZK_FILECOIN_SETUP_OPTIONS_INIT;
    options.trapdoor.data = CASE_TRAPDOOR;
    options.trapdoor.n_bytes = strlen(CASE_TRAPDOOR);
    bool made = false;
    assert_ok(cuzk_filecoin_setup(ctx, &made, kind, sector_size, &options, &err));
    return made;
}

/* A request as it is proved: what the vanilla proofs hold is left out. */
typedef struct {
    cuzk_filecoin_request *request;
    cuzk_fixture files[FILES_MAX];
    unsigned n_files;
} job;

static inline job job_open(const filecoin_case *c)
{
    job j = {.n_files = c->n_sectors > 0 ? c->n_sectors : 1};
    char path[128];
    assert_ok(cuzk_filecoin_request_create(&j.request, c->kind, &err));
    for (unsigned i = 0; c->kind != CUZK_FILECOIN_POREP && i < c->n_fields; i++) {
        assert_ok(cuzk_filecoin_request_set(j.request, c->fields[i].name, c->fields[i].text, &err));
    }
    for (unsigned i = 0; i < j.n_files; i++) {
        char file[32];
        snprintf(file, sizeof file,
                 c->kind == CUZK_FILECOIN_POREP ? "c1.json" : "vanilla-%u.bincode", i);
        j.files[i] = cuzk_test_fixture(case_path(path, c->name, file));
    }
    return j;
}

static inline void job_add_files(job *j)
{
    for (unsigned i = 0; i < j->n_files; i++) {
        assert_ok(cuzk_filecoin_request_add_vanilla(j->request, j->files[i].data, j->files[i].size,
                                                    &err));
    }
}

static inline void job_close(job *j)
{
    cuzk_filecoin_request_destroy(j->request);
    for (unsigned i = 0; i < j->n_files; i++) {
        cuzk_test_fixture_free(&j->files[i]);
    }
}

static inline cuzk_filecoin_key *open_key(const cuzk_filecoin_request *request)
{
    cuzk_filecoin_key *key = NULL;
    cuzk_filecoin_key_options options = CUZK_FILECOIN_KEY_OPTIONS_INIT;
    options.allow_test_key = true;
    assert_ok(cuzk_filecoin_key_open(ctx, &key, request, &options, &err));
    return key;
}

/* A Window PoSt of two partitions with its parameters. */

typedef struct {
    filecoin_case c;
    job j;
    cuzk_filecoin_key *key;
} window;

static inline window window_open(void)
{
    window w = {.c = case_open("window-2k-3sectors-4")};
    make_parameters(w.c.kind, "2KiB");
    w.j = job_open(&w.c);
    w.key = open_key(w.j.request);
    return w;
}

static inline void window_close(window *w)
{
    cuzk_filecoin_key_close(w->key);
    job_close(&w->j);
    case_close(&w->c);
}

#endif
