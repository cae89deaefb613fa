/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The list of devices, and the one that a key is on. */
#include "api/api.h"

#include "base/placement.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuzk_api_device_number(const char *name)
{
    if (name == NULL || strcmp(name, "cpu") == 0) {
        return -1;
    }
    size_t n_digits = strncmp(name, "cuda:", 5) == 0 ? strspn(name + 5, "0123456789") : 0;
    bool is_name = n_digits > 0 && n_digits < 4 && name[5 + n_digits] == '\0';
    return is_name ? atoi(name + 5) : -2;
}

cuzk_status cuzk_api_device_check(const char *name, cuzk_error *err)
{
    if (cuzk_api_device_is_auto(name)) {
        return CUZK_OK;
    }
    int number = cuzk_api_device_number(name);
    CUZK_FAIL_IF(number == -2, err, CUZK_E_ARGUMENT,
                 "device \"%s\": expected cpu, cuda:N, auto or auto:N", name);
    CUZK_FAIL_IF(number >= 0 && !CUZK_HAVE_CUDA, err, CUZK_E_UNSUPPORTED,
                 "device \"%s\": this library was built without CUDA", name);
    return CUZK_OK;
}

#if CUZK_HAVE_CUDA

#include "backend/cuda/device_prover.h"
#include "backend/cuda/self_test.h"

static void describe(cuzk_device_info *info, const cuzk_placement *placement, int index)
{
    cuzk_cuda_device d;
    cuzk_error err = {0};
    memset(info, 0, sizeof *info);
    info->numa_node = CUZK_PLACEMENT_ANYWHERE;
    snprintf(info->id, sizeof info->id, "cuda:%d", index);
    if (cuzk_cuda_device_open(&d, index, &err) != CUZK_OK) {
        snprintf(info->reason, sizeof info->reason, "%s", err.text);
        return;
    }
    size_t free_bytes = 0, all_bytes = 0;
    snprintf(info->name, sizeof info->name, "%s", d.name);
    snprintf(info->pci, sizeof info->pci, "%s", d.pci);
    info->numa_node = cuzk_placement_of_pci(placement, d.pci);
    info->memory_bytes = d.memory_bytes;
    info->capability = (unsigned)d.capability;
    info->driver = (unsigned)d.driver_version;
    if (CUZK_CU(d.api, cuMemGetInfo)(&free_bytes, &all_bytes) == CUDA_SUCCESS) {
        info->free_bytes = free_bytes;
    }
    info->is_usable = cuzk_cuda_self_test(&d, &err) == CUZK_OK;
    if (!info->is_usable) {
        snprintf(info->reason, sizeof info->reason, "%s", err.text);
    }
    cuzk_cuda_device_close(&d);
}

cuzk_status cuzk_devices(cuzk_device_info *devices, size_t capacity, size_t *n, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, devices);
    CUZK_API_NOT_NULL(err, n);
    const cuzk_cuda_api *api;
    int count = 0;
    CUZK_TRY(cuzk_cuda_driver(&api, err));
    CUZK_CUDA_TRY(api, err, cuDeviceGetCount, (&count));
    size_t found = (size_t)count < capacity ? (size_t)count : capacity;
    cuzk_placement *placement;
    CUZK_TRY(cuzk_placement_create(&placement, err));
    for (size_t i = 0; i < found; i++) {
        describe(&devices[i], placement, (int)i);
    }
    cuzk_placement_destroy(placement);
    *n = found;
    return CUZK_OK;
}

unsigned cuzk_api_device_count(void)
{
    const cuzk_cuda_api *api;
    int count = 0;
    bool has_driver = cuzk_cuda_driver(&api, NULL) == CUZK_OK;
    return has_driver && CUZK_CU(api, cuDeviceGetCount)(&count) == CUDA_SUCCESS ? (unsigned)count
                                                                                : 0;
}

struct cuzk_api_device {
    cuzk_cuda_device device;
    cuzk_device_prover *prover;
};

cuzk_status cuzk_api_device_open(cuzk_api_device **out, const char *name, const cuzk_prover *prover,
                                 const cuzk_api_device_params *how, cuzk_error *err)
{
    const cuzk_device_prover_params params = {.memory_limit = how->limit,
                                              .pinned = how->pinned,
                                              .peer = how->peer == NULL ? NULL : how->peer->prover,
                                              .peer_stays = how->peer_stays,
                                              .peer_done = how->peer_done,
                                              .peer_ctx = how->peer_ctx,
                                              .pass = how->pass,
                                              .is_expected = how->is_expected,
                                              .is_peer = how->is_peer};
    int number = cuzk_api_device_number(name);
    *out = NULL;
    if (number < 0) {
        return CUZK_OK;
    }
    cuzk_api_device *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "opening device \"%s\": out of memory", name);
    cuzk_status status = cuzk_cuda_device_open_tested(&made->device, number, err);
    if (status == CUZK_OK) {
        status = cuzk_device_prover_create(&made->prover, &made->device, prover, &params, err);
        if (status != CUZK_OK) {
            cuzk_cuda_device_close(&made->device);
        }
    }
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "device \"%s\"", name);
        free(made);
        return status;
    }
    *out = made;
    return CUZK_OK;
}

bool cuzk_api_device_can_copy(const char *to, const char *from)
{
    const cuzk_cuda_api *api;
    int can = 0, a = cuzk_api_device_number(to), b = cuzk_api_device_number(from);
    CUdevice device, peer;
    return a >= 0 && b >= 0 && a != b && cuzk_cuda_driver(&api, NULL) == CUZK_OK &&
           CUZK_CU(api, cuDeviceGet)(&device, a) == CUDA_SUCCESS &&
           CUZK_CU(api, cuDeviceGet)(&peer, b) == CUDA_SUCCESS &&
           CUZK_CU(api, cuDeviceCanAccessPeer)(&can, device, peer) == CUDA_SUCCESS && can != 0;
}

cuzk_status cuzk_api_pass_create(struct cuzk_key_pass **out, cuzk_error *err)
{
    return cuzk_key_pass_create(out, err);
}

void cuzk_api_pass_destroy(struct cuzk_key_pass *pass)
{
    cuzk_key_pass_destroy(pass);
}

void cuzk_api_pass_expect(struct cuzk_key_pass *pass, unsigned n)
{
    cuzk_key_pass_expect(pass, n);
}

void cuzk_api_pass_forget(struct cuzk_key_pass *pass)
{
    cuzk_key_pass_forget(pass);
}

cuzk_status cuzk_api_device_renew(uint64_t *free_bytes, const char *name, cuzk_error *err)
{
    cuzk_cuda_device d;
    size_t free = 0, all = 0;
    int number = cuzk_api_device_number(name);
    CUZK_FAIL_IF(number < 0, err, CUZK_E_DEVICE, "\"%s\" is no card", name);
    CUZK_TRY(cuzk_cuda_device_reset(number, err));
    CUZK_TRY(cuzk_cuda_device_open_tested(&d, number, err));
    CUresult result = CUZK_CU(d.api, cuMemGetInfo)(&free, &all);
    cuzk_cuda_device_close(&d);
    *free_bytes = result == CUDA_SUCCESS ? free : 0;
    return CUZK_OK;
}

cuzk_status cuzk_api_pinned_create(struct cuzk_pinned_pool **out, uint64_t limit, cuzk_error *err)
{
    return cuzk_pinned_pool_create(out, limit, err);
}

void cuzk_api_pinned_destroy(struct cuzk_pinned_pool *pool)
{
    cuzk_pinned_pool_destroy(pool);
}

cuzk_api_pinned_use cuzk_api_pinned_look(struct cuzk_pinned_pool *pool)
{
    cuzk_pinned_use use = pool == NULL ? (cuzk_pinned_use){0} : cuzk_pinned_pool_use(pool);
    return (cuzk_api_pinned_use){use.limit_bytes, use.used_bytes, use.peak_bytes};
}

const char *cuzk_device_purpose_name(unsigned purpose)
{
    static_assert((int)CUZK_DEVICE_PURPOSES == (int)CUZK_ARENA_PURPOSES, "the same purposes");
    return cuzk_arena_purpose_name((cuzk_arena_purpose)purpose);
}

cuzk_api_device_facts cuzk_api_device_look(const cuzk_api_device *device)
{
    cuzk_api_device_facts facts = {.way = "", .from = "", .why_not = ""};
    if (device == NULL) {
        return facts;
    }
    const cuzk_arena *arena = cuzk_device_prover_memory(device->prover);
    cuzk_stream_stats stream = cuzk_device_prover_stream(device->prover);
    for (int i = 0; i < CUZK_DEVICE_PURPOSES; i++) {
        facts.bytes[i] = arena->bytes[i];
    }
    facts.is_streamed = cuzk_device_prover_plan(device->prover)->mode == CUZK_CARD_STREAMED;
    facts.copied_bytes = stream.n_bytes;
    facts.copied_ns = stream.busy_ns;
    facts.way = cuzk_stream_way_name(stream.way);
    const cuzk_arrival *arrival = cuzk_device_prover_arrival(device->prover);
    facts.from = cuzk_arrival_way_name(arrival->way);
    facts.peer = arrival->from;
    facts.may_give = arrival->may_give;
    facts.arrived_bytes = arrival->n_bytes;
    facts.arrived_ns = arrival->ns;
    facts.read_bytes = stream.n_read_bytes;
    facts.why_not = arrival->why_not;
    facts.is_bad_link = arrival->is_bad_link;
    return facts;
}

const struct cuzk_prove_device *cuzk_api_device_get(const cuzk_api_device *device)
{
    return device == NULL ? NULL : cuzk_device_prover_get(device->prover);
}

void cuzk_api_device_stats(cuzk_prove_stats *stats, cuzk_api_device *device)
{
    float ms[CUZK_TIME_KINDS];
    if (device == NULL) {
        return;
    }
    cuzk_device_prover_times(device->prover, ms);
    stats->n_device_stages = CUZK_TIME_KINDS;
    for (int i = 0; i < CUZK_TIME_KINDS; i++) {
        stats->device_stage[i] = cuzk_time_kind_name((cuzk_time_kind)i);
        stats->device_ns[i] += (uint64_t)((double)ms[i] * 1e6);
    }
}

void cuzk_api_device_close(cuzk_api_device *device)
{
    if (device != NULL) {
        cuzk_device_prover_destroy(device->prover);
        cuzk_cuda_device_close(&device->device);
        free(device);
    }
}

#else

unsigned cuzk_api_device_count(void)
{
    return 0;
}

void cuzk_api_device_stats(cuzk_prove_stats *stats, cuzk_api_device *device)
{
    (void)stats;
    (void)device;
}

cuzk_status cuzk_api_device_open(cuzk_api_device **out, const char *name, const cuzk_prover *prover,
                                 const cuzk_api_device_params *how, cuzk_error *err)
{
    (void)prover;
    (void)how;
    *out = NULL;
    return cuzk_api_device_check(name, err);
}

bool cuzk_api_device_can_copy(const char *to, const char *from)
{
    (void)to;
    (void)from;
    return false;
}

cuzk_status cuzk_api_pass_create(struct cuzk_key_pass **out, cuzk_error *err)
{
    (void)err;
    *out = NULL;
    return CUZK_OK;
}

void cuzk_api_pass_destroy(struct cuzk_key_pass *pass)
{
    (void)pass;
}

void cuzk_api_pass_expect(struct cuzk_key_pass *pass, unsigned n)
{
    (void)pass;
    (void)n;
}

void cuzk_api_pass_forget(struct cuzk_key_pass *pass)
{
    (void)pass;
}

cuzk_status cuzk_api_device_renew(uint64_t *free_bytes, const char *name, cuzk_error *err)
{
    *free_bytes = 0;
    return CUZK_FAIL(err, CUZK_E_DEVICE, "\"%s\" is no card", name);
}

cuzk_status cuzk_api_pinned_create(struct cuzk_pinned_pool **out, uint64_t limit, cuzk_error *err)
{
    (void)limit;
    (void)err;
    *out = NULL;
    return CUZK_OK;
}

void cuzk_api_pinned_destroy(struct cuzk_pinned_pool *pool)
{
    (void)pool;
}

cuzk_api_pinned_use cuzk_api_pinned_look(struct cuzk_pinned_pool *pool)
{
    (void)pool;
    return (cuzk_api_pinned_use){0};
}

const char *cuzk_device_purpose_name(unsigned purpose)
{
    (void)purpose;
    return "";
}

cuzk_api_device_facts cuzk_api_device_look(const cuzk_api_device *device)
{
    (void)device;
    return (cuzk_api_device_facts){.way = "", .from = "", .why_not = ""};
}

const struct cuzk_prove_device *cuzk_api_device_get(const cuzk_api_device *device)
{
    (void)device;
    return NULL;
}

void cuzk_api_device_close(cuzk_api_device *device)
{
    (void)device;
}

cuzk_status cuzk_devices(cuzk_device_info *devices, size_t capacity, size_t *n, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, devices);
    CUZK_API_NOT_NULL(err, n);
    (void)capacity;
    return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "this library was built without CUDA");
}

#endif
