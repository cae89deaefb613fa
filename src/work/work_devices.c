/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/work_devices.h"

#include "base/cpu.h"

#include <stdio.h>
#include <string.h>

/* The processor as the system calls it, else the CPU path. */
static void name_cpu(char *out, size_t out_bytes)
{
    char line[256];
    snprintf(out, out_bytes, "%s", cuzk_cpu_path_name(cuzk_cpu_path_get()));
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            colon += 1 + strspn(colon + 1, " \t");
            colon[strcspn(colon, "\n")] = '\0';
            snprintf(out, out_bytes, "%.60s (%s)", colon, cuzk_cpu_path_name(cuzk_cpu_path_get()));
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static cuzk_status add(cuzk_work_devices *out, const char *id, cuzk_error *err)
{
    CUZK_FAIL_IF(out->n == CUZK_WORK_DEVICES_MAX, err, CUZK_E_ARGUMENT,
                 "devices: more than %d are given", (int)CUZK_WORK_DEVICES_MAX);
    for (unsigned i = 0; i < out->n; i++) {
        CUZK_FAIL_IF(strcmp(out->devices[i].id, id) == 0, err, CUZK_E_ARGUMENT,
                     "devices: \"%s\" is given twice", id);
    }
    CUZK_FAIL_IF(strncmp(id, "cuda:", 5) == 0, err, CUZK_E_UNSUPPORTED,
                 "device \"%.40s\": the daemon proves on the CPU only", id);
    CUZK_FAIL_IF(strcmp(id, "cpu") != 0, err, CUZK_E_ARGUMENT,
                 "device \"%.40s\": expected cpu or cuda:N", id);
    cuzk_work_device *d = &out->devices[out->n++];
    snprintf(d->id, sizeof d->id, "%s", id);
    name_cpu(d->name, sizeof d->name);
    return CUZK_OK;
}

cuzk_status cuzk_work_devices_init(cuzk_work_devices *out, const char *const *ids, unsigned n_ids,
                                   cuzk_error *err)
{
    cuzk_work_devices made = {.n = 0};
    if (n_ids == 0) {
        CUZK_TRY(add(&made, "cpu", err));
    }
    for (unsigned i = 0; i < n_ids; i++) {
        CUZK_TRY(add(&made, ids[i], err));
    }
    *out = made;
    return CUZK_OK;
}
