/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The work of null_work.h. */
#include "null_work.h"

#include "base/sha256.h"
#include "engine/engine.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT_MAX = 512 };

struct null_work {
    null_options options;
    cuzk_work table;
    atomic_long group_loads, tasks, residents, on_device, n_puts, n_helped, witnesses, pending,
        bytes, bytes_max, device_bytes_max;
    atomic_long device_bytes[CUZK_ENGINE_DEVICES_MAX]; /* of residents */
};

struct cuzk_task {
    char text[TEXT_MAX];
    uint8_t digest[32];
    cuzk_task_info info;
    bool fill;
    void *memory;
};

struct cuzk_resident {
    const null_circuit *circuit;
    uint64_t bytes;
    atomic_uint is_on; /* bits of devices */
};

struct cuzk_unit_witness {
    uint64_t bytes;
    uint8_t digest[32];
    uint8_t memory[];
};

struct cuzk_pending {
    uint64_t bytes;
    uint8_t proof[NULL_PROOF_BYTES];
    uint8_t memory[];
};

static void count(atomic_long *bytes, atomic_long *bytes_max, long more)
{
    long now = atomic_fetch_add(bytes, more) + more;
    long max = atomic_load(bytes_max);
    while (now > max && !atomic_compare_exchange_weak(bytes_max, &max, now)) {
    }
}

static void add_bytes(null_work *work, long bytes)
{
    count(&work->bytes, &work->bytes_max, bytes);
}

/* ---- the payload's words --------------------------------------------------------------------- */

/* What follows NAME= in the text, or NULL. */
static const char *word(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)) != NULL; p++) {
        if ((p == text || p[-1] == ' ' || p[-1] == '\n') && p[n] == '=') {
            return p + n + 1;
        }
    }
    return NULL;
}

static uint64_t number(const char *text, const char *name, uint64_t fallback)
{
    const char *p = word(text, name);
    return p != NULL ? strtoull(p, NULL, 10) : fallback;
}

static cuzk_status status_of(const char *name, size_t n)
{
#define CASE(s, value, exit_code, grpc, sentence)                                                  \
    if (strlen(#s) == n && strncmp(#s, name, n) == 0) {                                            \
        return CUZK_##s;                                                                           \
    }
    CUZK_STATUS_MAP(CASE)
#undef CASE
    return CUZK_E_INTERNAL;
}

/* Whether fail=STAGE[@UNIT][:STATUS] is about this stage and unit. */
static cuzk_status failure(const char *text, const char *stage, int unit, cuzk_status fallback)
{
    const char *p = word(text, "fail");
    size_t n = strlen(stage);
    if (p == NULL || strncmp(p, stage, n) != 0) {
        return CUZK_OK;
    }
    p += n;
    if (*p == '@') {
        char *end = NULL;
        if (strtol(p + 1, &end, 10) != unit) {
            return CUZK_OK;
        }
        p = end;
    }
    return *p == ':' ? status_of(p + 1, strcspn(p + 1, " \n")) : fallback;
}

/* Sleep as told, in slices of a millisecond. False: cancelled. */
static bool rest(const char *text, const char *name, const cuzk_work_call *call)
{
    uint64_t us = number(text, name, 0);
    while (us > 0) {
        if (call != NULL && call->is_cancelled(call->context)) {
            return false;
        }
        uint64_t slice = us < 1000 ? us : 1000;
        nanosleep(&(struct timespec){.tv_nsec = (long)slice * 1000}, NULL);
        us -= slice;
    }
    return true;
}

static cuzk_status hook(null_work *work, null_stage stage, const char *text, int unit,
                        const cuzk_work_call *call)
{
    const null_options *o = &work->options;
    return o->hook != NULL ? o->hook(o->hook_user, stage, text, unit, call) : CUZK_OK;
}

/* What every stage does first. */
static cuzk_status begin(null_work *work, null_stage stage, const char *name, const char *delay,
                         const char *text, const cuzk_work_call *call, cuzk_error *err)
{
    int unit = call != NULL ? (int)call->unit : -1;
    cuzk_status status = hook(work, stage, text, unit, call);
    if (status == CUZK_OK && !rest(text, delay, call)) {
        status = CUZK_E_CANCELLED;
    }
    if (status == CUZK_OK) {
        status = failure(text, name, unit,
                         stage == NULL_VERIFY ? CUZK_E_INVALID_PROOF : CUZK_E_INTERNAL);
    }
    CUZK_FAIL_IF(status != CUZK_OK, err, status, "the payload asked for %s in %s",
                 cuzk_status_name(status), name);
    return CUZK_OK;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static const null_circuit *circuit_of(const null_work *work, const char *name, size_t n)
{
    for (unsigned i = 0; i < work->options.n_circuits; i++) {
        const null_circuit *c = &work->options.circuits[i];
        if (strlen(c->name) == n && strncmp(c->name, name, n) == 0) {
            return c;
        }
    }
    return NULL;
}

static cuzk_status read_info(cuzk_task *task, const null_work *work, size_t n_bytes,
                             cuzk_error *err)
{
    const char *text = task->text;
    const char *name = word(text, "circuit");
    name = name != NULL ? name : "null-a";
    const null_circuit *c = circuit_of(work, name, strcspn(name, " \n"));
    CUZK_FAIL_IF(c == NULL, err, CUZK_E_FORMAT, "a null payload names circuit %.*s: there is none",
                 (int)strcspn(name, " \n"), name);
    cuzk_task_info *info = &task->info;
    info->n_units = (unsigned)number(text, "units", 1);
    snprintf(info->circuit, sizeof info->circuit, "%s", c->name);
    memcpy(info->digest, task->digest, 32);
    info->task_bytes = number(text, "task", n_bytes);
    info->witness_bytes = number(text, "witness", 0);
    info->host_bytes = number(text, "host", 0);
    info->device_bytes = number(text, "device", 0);
    info->resident_bytes = c->bytes;
    info->resident_device_bytes = c->device_bytes;
    info->is_unchecked = number(text, "unchecked", 0) != 0;
    return CUZK_OK;
}

static cuzk_status decode(void *user, cuzk_task **out, cuzk_task_info *info, const void *payload,
                          size_t n_bytes, cuzk_error *err)
{
    null_work *work = (null_work *)user;
    const void *end = memchr(payload, '\0', n_bytes);
    size_t n = end != NULL ? (size_t)((const char *)end - (const char *)payload) : n_bytes;
    CUZK_FAIL_IF(n >= TEXT_MAX, err, CUZK_E_FORMAT, "a null payload with a text of %zu bytes", n);
    cuzk_task *task = calloc(1, sizeof *task);
    CUZK_FAIL_IF(task == NULL, err, CUZK_E_MEMORY, "no memory for a null task");
    memcpy(task->text, payload, n);
    cuzk_sha256_digest(task->digest, payload, n_bytes);
    cuzk_status status = begin(work, NULL_DECODE, "decode", "decode_us", task->text, NULL, err);
    if (status == CUZK_OK) {
        status = read_info(task, work, n_bytes, err);
    }
    if (status == CUZK_OK && number(task->text, "fill", 0) != 0) {
        task->fill = true;
        task->memory = malloc(task->info.task_bytes);
        if (task->memory == NULL) {
            status = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a null task");
        } else {
            memset(task->memory, 1, task->info.task_bytes);
        }
    }
    if (status != CUZK_OK) {
        free(task);
        return status;
    }
    atomic_fetch_add(&work->tasks, 1);
    add_bytes(work, (long)task->info.task_bytes);
    *info = task->info;
    *out = task;
    return CUZK_OK;
}

static void task_destroy(void *user, cuzk_task *task)
{
    null_work *work = (null_work *)user;
    atomic_fetch_sub(&work->tasks, 1);
    add_bytes(work, -(long)task->info.task_bytes);
    free(task->memory);
    free(task);
}

/* ---- residents ------------------------------------------------------------------------------- */

static void rest_us(unsigned us)
{
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000},
              NULL);
}

static cuzk_status find_circuit(const null_circuit **out, const null_work *work, const char *name,
                                cuzk_error *err)
{
    *out = circuit_of(work, name, strlen(name));
    CUZK_FAIL_IF(*out == NULL, err, CUZK_E_NOT_FOUND,
                 "there is no circuit \"%s\"; the first of %u is %s", name,
                 work->options.n_circuits, work->options.circuits[0].name);
    return CUZK_OK;
}

static cuzk_status resident_size(void *user, const char *circuit, uint64_t *bytes,
                                 uint64_t *device_bytes, cuzk_error *err)
{
    const null_circuit *c = NULL;
    CUZK_TRY(find_circuit(&c, (const null_work *)user, circuit, err));
    *bytes = c->bytes;
    if (device_bytes != NULL) {
        *device_bytes = c->device_bytes;
    }
    return CUZK_OK;
}

static cuzk_status resident_load(void *user, cuzk_resident **out, uint64_t *bytes,
                                 const char *circuit, bool warm, cuzk_error *err)
{
    (void)warm;
    null_work *work = (null_work *)user;
    const null_circuit *c = NULL;
    CUZK_TRY(find_circuit(&c, work, circuit, err));
    CUZK_TRY(hook(work, NULL_LOAD, circuit, -1, NULL));
    rest_us(c->load_us);
    CUZK_FAIL_IF(c->load_status != CUZK_OK, err, c->load_status, "its file is not there");
    cuzk_resident *resident = calloc(1, sizeof *resident);
    CUZK_FAIL_IF(resident == NULL, err, CUZK_E_MEMORY, "no memory for a null resident");
    resident->circuit = c;
    resident->bytes = c->bytes;
    *bytes = c->bytes;
    atomic_fetch_add(&work->residents, 1);
    add_bytes(work, (long)c->bytes);
    *out = resident;
    return CUZK_OK;
}

static void resident_close(void *user, cuzk_resident *resident)
{
    null_work *work = (null_work *)user;
    atomic_fetch_sub(&work->residents, 1);
    add_bytes(work, -(long)resident->bytes);
    free(resident);
}

static cuzk_status device_load(void *user, cuzk_resident *resident, unsigned device,
                               cuzk_error *err)
{
    null_work *work = (null_work *)user;
    long bytes = (long)resident->circuit->device_bytes;
    rest_us(resident->circuit->put_us);
    CUZK_FAIL_IF((work->options.refusing >> device & 1) != 0, err, CUZK_E_DEVICE,
                 "device %u refuses", device);
    CUZK_FAIL_IF((atomic_fetch_or(&resident->is_on, 1u << device) >> device & 1) != 0, err,
                 CUZK_E_INTERNAL, "%s is on device %u already", resident->circuit->name, device);
    count(&work->device_bytes[device], &work->device_bytes_max, bytes);
    atomic_fetch_add(&work->on_device, 1);
    atomic_fetch_add(&work->n_puts, 1);
    return CUZK_OK;
}

static void devices_load(void *user, cuzk_resident *resident, const cuzk_devices_load *load)
{
    atomic_fetch_add(&((null_work *)user)->group_loads, 1);
    for (unsigned i = 0; i < load->n; i++) {
        load->place(load->ctx, load->devices[i]);
        load->errors[i].status = device_load(user, resident, load->devices[i], &load->errors[i]);
    }
}

static void device_evict(void *user, cuzk_resident *resident, unsigned device)
{
    null_work *work = (null_work *)user;
    (void)hook(work, NULL_EVICT, resident->circuit->name, -1, NULL);
    atomic_fetch_and(&resident->is_on, ~(1u << device));
    atomic_fetch_sub(&work->device_bytes[device], (long)resident->circuit->device_bytes);
    atomic_fetch_sub(&work->on_device, 1);
}

/* ---- units ----------------------------------------------------------------------------------- */

static void make_proof(uint8_t proof[NULL_PROOF_BYTES], const uint8_t digest[32], unsigned unit)
{
    for (unsigned i = 0; i < NULL_PROOF_BYTES / 32; i++) {
        uint8_t in[40];
        memcpy(in, digest, 32);
        memcpy(in + 32, &unit, 4);
        memcpy(in + 36, &i, 4);
        cuzk_sha256_digest(proof + (size_t)32 * i, in, sizeof in);
    }
}

static cuzk_status witness(void *user, cuzk_unit_witness **out, const cuzk_task *task,
                           const cuzk_resident *resident, const cuzk_work_call *call,
                           cuzk_error *err)
{
    (void)resident;
    null_work *work = (null_work *)user;
    CUZK_TRY(begin(work, NULL_WITNESS, "witness", "witness_us", task->text, call, err));
    size_t n = task->fill ? task->info.witness_bytes : 0;
    cuzk_unit_witness *w = malloc(sizeof *w + n);
    CUZK_FAIL_IF(w == NULL, err, CUZK_E_MEMORY, "no memory for a null witness");
    memset(w->memory, 1, n);
    memcpy(w->digest, task->digest, 32);
    w->bytes = task->info.witness_bytes;
    atomic_fetch_add(&work->witnesses, 1);
    add_bytes(work, (long)w->bytes);
    *out = w;
    return CUZK_OK;
}

static void witness_destroy(void *user, cuzk_unit_witness *w)
{
    null_work *work = (null_work *)user;
    atomic_fetch_sub(&work->witnesses, 1);
    add_bytes(work, -(long)w->bytes);
    free(w);
}

/* cuzk_help_run */
typedef struct {
    null_work *work;
    const cuzk_task *task;
    const cuzk_resident *resident;
} helping;

static cuzk_status help(void *ctx, const cuzk_work_call *call, cuzk_error *err)
{
    const helping *h = ctx;
    CUZK_FAIL_IF((h->resident->is_on >> call->device & 1) == 0, err, CUZK_E_INTERNAL,
                 "%s is not on device %u", h->resident->circuit->name, call->device);
    CUZK_TRY(begin(h->work, NULL_HELP, "help", "help_us", h->task->text, call, err));
    CUZK_TRY(cuzk_lane_take(call->lane, err));
    cuzk_lane_give(call->lane);
    atomic_fetch_add(&h->work->n_helped, 1);
    return CUZK_OK;
}

static cuzk_status regions(null_work *work, const cuzk_task *task, const cuzk_work_call *call,
                           cuzk_error *err)
{
    CUZK_TRY(cuzk_lane_take(call->lane, err));
    cuzk_status status = hook(work, NULL_LANE, task->text, (int)call->unit, call);
    bool goes_on = rest(task->text, "lane_us", call);
    for (uint64_t left = number(task->text, "regions", 1); left > 1 && goes_on; left--) {
        CUZK_TRY(cuzk_lane_yield(call->lane, err));
        status =
            status == CUZK_OK ? hook(work, NULL_LANE, task->text, (int)call->unit, call) : status;
        goes_on = rest(task->text, "lane_us", call);
    }
    cuzk_lane_give(call->lane);
    CUZK_FAIL_IF(status != CUZK_OK, err, status, "the device failed, as asked");
    CUZK_FAIL_IF(!goes_on, err, CUZK_E_CANCELLED, "cancelled on the device");
    return CUZK_OK;
}

static cuzk_status prove_start(void *user, cuzk_pending **out, const cuzk_task *task,
                               const cuzk_resident *resident, const cuzk_unit_witness *w,
                               const cuzk_work_call *call, cuzk_error *err)
{
    null_work *work = (null_work *)user;
    CUZK_TRY(begin(work, NULL_PROVE, "prove", "prove_us", task->text, call, err));
    helping h = {work, task, resident};
    bool is_helped = number(task->text, "help", 0) != 0 && cuzk_help_begin(call->lane, help, &h);
    cuzk_status status = regions(work, task, call, err);
    cuzk_error why;
    if (is_helped && cuzk_help_end(call->lane, &why) != CUZK_OK && status == CUZK_OK) {
        status = regions(work, task, call, err);
    }
    if (status != CUZK_OK) {
        return status;
    }
    size_t n = task->fill ? task->info.host_bytes : 0;
    cuzk_pending *pending = malloc(sizeof *pending + n);
    CUZK_FAIL_IF(pending == NULL, err, CUZK_E_MEMORY, "no memory for a null proof");
    memset(pending->memory, 1, n);
    pending->bytes = task->info.host_bytes;
    make_proof(pending->proof, w->digest, call->unit);
    atomic_fetch_add(&work->pending, 1);
    add_bytes(work, (long)pending->bytes);
    *out = pending;
    return CUZK_OK;
}

static void pending_destroy(void *user, cuzk_pending *pending)
{
    null_work *work = (null_work *)user;
    atomic_fetch_sub(&work->pending, 1);
    add_bytes(work, -(long)pending->bytes);
    free(pending);
}

static cuzk_status prove_finish(void *user, uint8_t *proof, size_t *proof_bytes,
                                cuzk_pending *pending, const cuzk_task *task,
                                const cuzk_resident *resident, const cuzk_work_call *call,
                                cuzk_error *err)
{
    (void)resident;
    cuzk_status status =
        begin((null_work *)user, NULL_FINISH, "finish", "finish_us", task->text, call, err);
    memcpy(proof, pending->proof, NULL_PROOF_BYTES);
    *proof_bytes = NULL_PROOF_BYTES;
    pending_destroy(user, pending);
    return status;
}

static cuzk_status verify(void *user, const cuzk_task *task, const cuzk_resident *resident,
                          const uint8_t *proof, size_t proof_bytes, const cuzk_work_call *call,
                          cuzk_error *err)
{
    (void)resident;
    CUZK_TRY(begin((null_work *)user, NULL_VERIFY, "verify", "verify_us", task->text, call, err));
    uint8_t right[NULL_PROOF_BYTES];
    make_proof(right, task->digest, call->unit);
    CUZK_FAIL_IF(proof_bytes != sizeof right || memcmp(proof, right, sizeof right) != 0, err,
                 CUZK_E_INVALID_PROOF, "the proof does not verify");
    return CUZK_OK;
}

static cuzk_status assemble(void *user, uint8_t **answer, size_t *answer_bytes,
                            const cuzk_task *task, const uint8_t *proofs, const size_t *proof_bytes,
                            cuzk_error *err)
{
    CUZK_TRY(
        begin((null_work *)user, NULL_ASSEMBLE, "assemble", "assemble_us", task->text, NULL, err));
    size_t n = (size_t)task->info.n_units * NULL_PROOF_BYTES;
    *answer = malloc(n);
    CUZK_FAIL_IF(*answer == NULL, err, CUZK_E_MEMORY, "no memory for an answer");
    for (unsigned i = 0; i < task->info.n_units; i++) {
        CUZK_FAIL_IF(proof_bytes[i] != NULL_PROOF_BYTES, err, CUZK_E_INTERNAL,
                     "partition %u has a proof of %zu bytes", i, proof_bytes[i]);
        memcpy(*answer + (size_t)i * NULL_PROOF_BYTES, proofs + (size_t)i * CUZK_UNIT_PROOF_MAX,
               NULL_PROOF_BYTES);
    }
    *answer_bytes = n;
    return CUZK_OK;
}

/* ---- the outside ----------------------------------------------------------------------------- */

null_work *null_work_create(const null_options *options)
{
    static const null_circuit ONE = {.name = "null-a", .bytes = 1};
    null_work *work = calloc(1, sizeof *work);
    if (work == NULL) {
        return NULL;
    }
    work->options = *options;
    if (options->n_circuits == 0) {
        work->options.circuits = &ONE;
        work->options.n_circuits = 1;
    }
    work->table = (cuzk_work){
        .user = work,
        .decode = decode,
        .task_destroy = task_destroy,
        .resident_size = resident_size,
        .resident_load = resident_load,
        .resident_close = resident_close,
        .device_load = device_load,
        .devices_load = devices_load,
        .device_evict = device_evict,
        .witness = witness,
        .witness_destroy = witness_destroy,
        .prove_start = prove_start,
        .prove_finish = prove_finish,
        .pending_destroy = pending_destroy,
        .verify = verify,
        .assemble = assemble,
    };
    return work;
}

void null_work_destroy(null_work *work)
{
    free(work);
}

const cuzk_work *null_work_table(const null_work *work)
{
    return &work->table;
}

null_alive null_work_alive(const null_work *work)
{
    return (null_alive){
        .tasks = atomic_load(&work->tasks),
        .residents = atomic_load(&work->residents),
        .on_device = atomic_load(&work->on_device),
        .group_loads = atomic_load(&work->group_loads),
        .n_puts = atomic_load(&work->n_puts),
        .n_helped = atomic_load(&work->n_helped),
        .witnesses = atomic_load(&work->witnesses),
        .pending = atomic_load(&work->pending),
        .bytes = atomic_load(&work->bytes),
        .bytes_max = atomic_load(&work->bytes_max),
        .device_bytes_max = atomic_load(&work->device_bytes_max),
    };
}

void null_work_proof(uint8_t proof[NULL_PROOF_BYTES], const void *payload, size_t n_bytes,
                     unsigned unit)
{
    uint8_t digest[32];
    cuzk_sha256_digest(digest, payload, n_bytes);
    make_proof(proof, digest, unit);
}
