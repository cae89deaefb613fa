/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A folder of test parameters that is there as long as the program runs, and the work over it. */
#ifndef CUZK_TESTS_FILECOIN_PARAMS_H
#define CUZK_TESTS_FILECOIN_PARAMS_H

#include "work_test.h"

#include "cuzk_filecoin.h"
#include "work/filecoin_work.h"

#include <dirent.h>
#include <unistd.h>

static char folder[] = "/tmp/cuzk-work-XXXXXX";
static cuzk_ctx *ctx;
static cuzk_work_devices devices;
static cuzk_filecoin_work *filecoin;
static const cuzk_work *work;

static inline void make_parameters(cuzk_filecoin_kind kind)
{
    cuzk_filecoin_setup_options options = CUZK_FILECOIN_SETUP_OPTIONS_INIT;
    options.folder = folder;
    assert_ok(cuzk_filecoin_setup(ctx, NULL, kind, "2KiB", &options, &err));
}

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

static inline int open_work(void **state)
{
    (void)state;
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 2;
    if (mkdtemp(folder) == NULL || cuzk_ctx_create(&ctx, &options, &err) != CUZK_OK ||
        cuzk_work_devices_init(&devices, work_cpu, 1, &err) != CUZK_OK) {
        return -1;
    }
    cuzk_filecoin_work_options of_work = {.ctx = ctx,
                                          .devices = &devices,
                                          .params_folder = folder,
                                          .circuits_folder = folder,
                                          .allow_test_key = true};
    if (cuzk_filecoin_work_create(&filecoin, &of_work, &err) != CUZK_OK) {
        return -1;
    }
    work = cuzk_filecoin_work_table(filecoin);
    return 0;
}

static inline int close_work(void **state)
{
    (void)state;
    cuzk_filecoin_work_destroy(filecoin);
    cuzk_ctx_destroy(ctx);
    empty_folder();
    rmdir(folder);
    return 0;
}

#endif
