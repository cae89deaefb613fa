/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a driver does after errors that stay: a kernel writes where there is nothing, or beside a
 * word, or traps. The status must say that the device is lost; then it is begun anew in the same
 * process, where the driver does that. Each in a process of its own. */
#include "backend/cuda/self_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RENEWED = 0, WRONG = 1, KEPT = 2, SKIPPED = 77 };

static const char image[] = ".version 7.0\n"
                            ".target sm_75\n"
                            ".address_size 64\n"
                            ".visible .entry nowhere() {\n"
                            "  .reg .u64 %a;\n"
                            "  mov.u64 %a, 4096;\n"
                            "  st.global.u32 [%a], 1;\n"
                            "  ret;\n"
                            "}\n"
                            ".visible .entry beside() {\n"
                            "  .reg .u64 %a;\n"
                            "  mov.u64 %a, 4097;\n"
                            "  st.global.u32 [%a], 1;\n"
                            "  ret;\n"
                            "}\n"
                            ".visible .entry traps() {\n"
                            "  trap;\n"
                            "}\n";

static int wrong(const char *kernel, const char *what, const cuzk_error *err)
{
    printf("%s: %s: %s\n", kernel, what, err->text);
    return WRONG;
}

/* The status of the wait for a kernel. */
static cuzk_status launch(const cuzk_cuda_device *d, const char *kernel, cuzk_error *err)
{
    CUmodule module;
    CUfunction function;
    CUZK_CUDA_TRY(d->api, err, cuModuleLoadData, (&module, image));
    CUZK_CUDA_TRY(d->api, err, cuModuleGetFunction, (&function, module, kernel));
    CUZK_CUDA_TRY(d->api, err, cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CUZK_CUDA_TRY(d->api, err, cuCtxSynchronize, ());
    return CUZK_OK;
}

static int lose(const char *kernel)
{
    cuzk_cuda_device d;
    cuzk_error err = {0}, other = {0};
    if (cuzk_cuda_device_open(&d, 0, &err) != CUZK_OK) {
        printf("skipped: %s\n", err.text);
        return SKIPPED;
    }
    if (launch(&d, kernel, &err) != CUZK_E_DEVICE_LOST) {
        return wrong(kernel, "not told as lost", &err);
    }
    printf("%s: %s\n", kernel, err.text);
    CUresult again = CUZK_CU(d.api, cuCtxSynchronize)();
    printf("%s: the next call: %d\n", kernel, (int)again);
    cuzk_cuda_device_close(&d);
    err = (cuzk_error){0};
    if (cuzk_cuda_device_reset(0, &err) != CUZK_OK ||
        cuzk_cuda_device_open(&d, 0, &err) != CUZK_OK) {
        printf("%s: the driver does not begin it anew: %s\n", kernel, err.text);
        return KEPT;
    }
    cuzk_status status = cuzk_cuda_self_test(&d, &other);
    cuzk_cuda_device_close(&d);
    if (status == CUZK_E_DEVICE_LOST) {
        printf("%s: begun anew, and lost as before: %s\n", kernel, other.text);
        return KEPT;
    }
    if (status != CUZK_OK) {
        return wrong(kernel, "begun anew", &other);
    }
    printf("%s: begun anew, and computes rightly\n", kernel);
    return RENEWED;
}

/* Whether the daemon renews a device or executes itself again: both are right. */
static int in_a_process(const char *kernel)
{
    (void)fflush(stdout);
    pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        int code = lose(kernel);
        (void)fflush(stdout);
        _exit(code);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
        printf("%s: the process did not end by itself\n", kernel);
        return WRONG;
    }
    return WEXITSTATUS(status);
}

int main(void)
{
    static const char *const kernels[] = {"nowhere", "beside", "traps"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        int code = in_a_process(kernels[i]);
        if (code == WRONG || code == SKIPPED) {
            return code;
        }
    }
    return 0;
}
