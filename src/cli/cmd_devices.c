/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk devices. */
#include "cli/cli.h"
#include "cli/device_plans.h"

static void print_json(const cuzk_ctx *ctx, const cuzk_device_info *devices, size_t n,
                       const char *why_none)
{
    cuzk_cli_json json;
    cuzk_cli_json_begin(&json);
    cuzk_cli_json_bool(&json, "ok", true);
    cuzk_cli_json_text(&json, "cpu", cuzk_ctx_cpu(ctx));
    cuzk_cli_json_number(&json, "threads", cuzk_ctx_n_threads(ctx));
    cuzk_cli_json_open(&json, "devices", '[');
    for (size_t i = 0; i < n; i++) {
        const cuzk_device_info *d = &devices[i];
        cuzk_cli_json_open(&json, NULL, '{');
        cuzk_cli_json_text(&json, "id", d->id);
        cuzk_cli_json_text(&json, "name", d->name);
        cuzk_cli_json_number(&json, "memory_bytes", d->memory_bytes);
        cuzk_cli_json_number(&json, "free_bytes", d->free_bytes);
        cuzk_cli_json_number(&json, "capability", d->capability);
        cuzk_cli_json_number(&json, "driver", d->driver);
        cuzk_cli_json_text(&json, "pci", d->pci);
        if (d->numa_node >= 0) {
            cuzk_cli_json_number(&json, "numa_node", (unsigned)d->numa_node);
        }
        cuzk_cli_json_bool(&json, "usable", d->is_usable);
        cuzk_cli_json_text(&json, "reason", d->reason);
        cuzk_cli_json_close(&json, '}');
    }
    cuzk_cli_json_close(&json, ']');
    cuzk_cli_json_text(&json, "no_device", why_none);
    cuzk_cli_json_end(&json);
}

static void print_device(const cuzk_device_info *d)
{
    printf("%s: ", d->id);
    if (d->name[0] != '\0') {
        printf("%s, %.1f GiB (%.1f GiB free), compute capability %u.%u, driver %u.%u, ", d->name,
               (double)d->memory_bytes / 1073741824, (double)d->free_bytes / 1073741824,
               d->capability / 10, d->capability % 10, d->driver / 1000, d->driver % 1000 / 10);
        printf("PCI %s, ", d->pci);
        printf(d->numa_node >= 0 ? "NUMA node %d; " : "NUMA node unknown; ", d->numa_node);
    }
    if (d->is_usable) {
        printf("self-test passed; used with --device %s\n", d->id);
    } else {
        printf("not usable: %s\n", d->reason);
    }
}

int cuzk_cli_devices(cuzk_cli_args *args)
{
    static cuzk_device_info devices[CUZK_DEVICES_MAX];
    bool is_plan = cuzk_cli_value(args, "--plan") != NULL;
    bool has_sizes = cuzk_cli_value(args, "--memory") != NULL;
    int code = CUZK_EXIT_OK;
    if (has_sizes && !is_plan) {
        return cuzk_cli_usage(args, "--memory goes with --plan");
    }
    if (has_sizes) { /* no driver is needed */
        return cuzk_cli_device_plans(args, NULL, 0);
    }
    cuzk_ctx *ctx = cuzk_cli_ctx(args, &code);
    if (ctx == NULL) {
        return code;
    }
    size_t n = 0;
    cuzk_error why = {0};
    bool has_list = cuzk_devices(devices, CUZK_DEVICES_MAX, &n, &why) == CUZK_OK;
    if (is_plan) {
        code = cuzk_cli_device_plans(args, devices, n);
    } else if (args->json) {
        print_json(ctx, devices, n, has_list ? "" : why.text);
    } else {
        printf("cpu: path %s, threads %u\n", cuzk_ctx_cpu(ctx), cuzk_ctx_n_threads(ctx));
        for (size_t i = 0; i < n; i++) {
            print_device(&devices[i]);
        }
        if (n == 0) {
            printf("no CUDA device: %s\n", has_list ? "the driver has none" : why.text);
        }
    }
    cuzk_ctx_destroy(ctx);
    return code;
}
