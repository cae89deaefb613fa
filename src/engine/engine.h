/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The engine: jobs come in, their units flow through bounded stages under a memory budget, verified
 * proofs come out.
 *
 *     submit: decode → journal → accepted
 *     unit:   witness → prove start (device worker, lane) → prove finish → verify → journal
 *     job:    assemble → journal → answer
 *
 * Order at every hand-over: priority, then the oldest job, then the lowest unit. A stage starts a
 * unit only with its bytes reserved. Nothing here knows about networks. Callbacks to callers come
 * from one thread of the engine, in the order of what happened, events from all of them; never
 * under a lock, and they must not block for long. All functions may be called from any thread, from
 * callbacks too. docs/engine.md tells the whole story. */
#ifndef CUZK_ENGINE_ENGINE_H
#define CUZK_ENGINE_ENGINE_H

#include "base/trace_context.h"
#include "engine/journal.h"
#include "engine/work.h"

typedef struct cuzk_engine cuzk_engine;

enum {
    CUZK_JOB_ID_MAX = 1024, /* bytes of a job's id, its NUL included */
    /* bytes of a request's id, without NUL: leaves room for "~" and a whole digest */
    CUZK_REQUEST_ID_MAX = CUZK_JOB_ID_MAX - 1 - 1 - 64,
    CUZK_KINDS_MAX = 8,
    CUZK_ENGINE_DEVICES_MAX = 16,
    CUZK_ENGINE_KEPT_MAX = 1000, /* ended jobs in memory */
    CUZK_ENGINE_WORKERS_MAX = 8  /* of a device */
};

/* Higher is served first. The numbers are those of the wire. */
typedef enum {
    CUZK_PRIORITY_LOW = 1,
    CUZK_PRIORITY_NORMAL = 2,
    CUZK_PRIORITY_HIGH = 3,
    CUZK_PRIORITY_CRITICAL = 4
} cuzk_priority;

/* A kind of proof: index into cuzk_engine_options.kinds. */
typedef struct {
    const char *name;       /* "porep-c2"; NULL: there is no such kind */
    const char *label;      /* "porep_c2" */
    cuzk_priority priority; /* where a submission names none */
    const cuzk_work *work;
} cuzk_engine_kind;

/* Moments of a unit's or job's life, for logs, metrics, recordings and tests. Each BEGIN has its
 * END, on the same thread. */
typedef enum {
    CUZK_EVENT_ACCEPTED,     /* job: decoded and journalled */
    CUZK_EVENT_RECOVERED,    /* job: unfinished in the journal when the engine was made */
    CUZK_EVENT_WAITING,      /* unit, or resident (text: its circuit): what since_ns tells has not
                                come until now: it was taken out, or cuzk_engine_waits asks. Inside
                                the engine's lock: nothing of the engine may be called */
    CUZK_EVENT_ENDED,        /* job: state, total time in ns */
    CUZK_EVENT_DECODE,       /* span, of a submission that has no job yet */
    CUZK_EVENT_RESIDENT,     /* span: a resident is loaded; text: its circuit */
    CUZK_EVENT_EVICTED,      /* text: circuit; bytes */
    CUZK_EVENT_WITNESS,      /* span, unit */
    CUZK_EVENT_QUEUED,       /* unit: waits for a device */
    CUZK_EVENT_PROVE_START,  /* span, unit, device, worker: the whole call */
    CUZK_EVENT_LANE_WAIT,    /* span inside it, or inside PROVE_HELP */
    CUZK_EVENT_LANE,         /* span inside either: the lane is held */
    CUZK_EVENT_PROVE_HELP,   /* span, unit, device, worker: another device makes a part of it */
    CUZK_EVENT_PROVE_FINISH, /* span, unit */
    CUZK_EVENT_VERIFY,       /* span, unit; status tells the outcome */
    CUZK_EVENT_UNIT_DONE,    /* unit: verified and journalled */
    CUZK_EVENT_RETRY,        /* unit: proved again, and why (text) */
    CUZK_EVENT_DEVICE_OUT,   /* device: taken out, and why (text); status E_DEVICE_LOST: it was lost
                                and could not be begun anew; that is tried again */
    CUZK_EVENT_DEVICE_LOST,  /* device: lost, and why (text) */
    CUZK_EVENT_DEVICE_RETRIED,  /* device: begun anew in vain, and why (text); value: ns until that
                                   is  tried again, 0: it is not */
    CUZK_EVENT_DEVICE_RENEWED,  /* device: lost, and why (text), and begun anew; value: how often */
    CUZK_EVENT_DEVICE_DRAINING, /* device: gets no new unit, as asked */
    CUZK_EVENT_DEVICE_DRAINED,  /* device: nothing is on it any more, as asked */
    CUZK_EVENT_DEVICE_BACK,     /* device: used again, as asked */
    CUZK_EVENT_JOURNAL,         /* status, text: what went wrong with the journal; OK: well again */
    CUZK_EVENT_COUNT
} cuzk_event_id;

typedef enum { CUZK_EVENT_INSTANT, CUZK_EVENT_BEGIN, CUZK_EVENT_END } cuzk_event_phase;

typedef struct {
    cuzk_event_id id;
    cuzk_event_phase phase;
    uint64_t ns;        /* cuzk_now_ns */
    uint64_t job;       /* sequence number of the job; 0: none */
    const char *job_id; /* borrowed for the call; NULL: none */
    unsigned kind;
    unsigned priority;
    int unit, device, worker; /* -1: none */
    uint64_t value;     /* ENDED: total ns; EVICTED, RESIDENT, DECODE: bytes; WITNESS: bytes of
                           host memory that the unit has until its verdict */
    uint64_t since_ns;  /* RECOVERED, ACCEPTED, ENDED: when the job came into the table; BEGIN of
                           PROVE_START: when the unit became ready; of WITNESS and RESIDENT:
                           when memory for it was first not there, 0 if it was; WAITING: one
                           of the two, is_ready which */
    unsigned n_units;   /* RECOVERED, ACCEPTED, ENDED: the job's partitions, without those
                           that a recovered one had proved before; else 0 */
    bool is_ready;      /* WAITING: for a worker, not for memory */
    int state;          /* ENDED: cuzk_job_state */
    cuzk_status status; /* END of a stage, ENDED */
    const char *text;   /* borrowed for the call; NULL: none */
    const cuzk_trace_context *trace; /* the job's, borrowed for the call; NULL: of no job */
} cuzk_event;

typedef struct {
    const char *id; /* "cuda:0", "cpu" */
    const char *name;
    uint64_t memory_bytes; /* budget of the device; 0: it uses host memory */
    unsigned n_workers;    /* 1 … CUZK_ENGINE_WORKERS_MAX; one more serves what is CRITICAL */
    const char *missing; /* why it cannot be used at first: as if lost, it is tried again; NULL: it
                            can */
} cuzk_engine_device;

typedef struct {
    cuzk_engine_kind kinds[CUZK_KINDS_MAX];
    const cuzk_engine_device *devices;
    unsigned n_devices;
    uint64_t budget_bytes; /* of host memory, everything together */
    uint64_t intake_bytes; /* the part of it that payloads and tasks may take; 0: an eighth, or 2
                              GiB or half of the budget where an eighth is less than both */
    unsigned n_decoders, n_witness, n_finishers, n_verifiers; /* threads of the stages */
    unsigned witness_ahead; /* units a device whose witness may be ready or in the making while all
                               its workers are busy */
    unsigned attempts;      /* proofs of a unit before its job fails; 2 */
    unsigned device_faults; /* bad proofs before a device is taken out; 2 */
    uint64_t abandon_ns;    /* a queued job that nobody waits for is dropped after this; 0: never */
    uint64_t keep_ns, keep_bytes; /* results in memory, at most CUZK_ENGINE_KEPT_MAX: how long, and
                                     how many bytes of all together; 0: an hour, 64 MiB. What left
                                     is found in the journal, if there is one, as long as that
                                     keeps it */
    uint64_t evict_idle_ns;       /* a resident is not evicted before it was idle for this long, but
                                     for what is CRITICAL, or when nothing is running and the first
                                     that waits for memory could not go on */
    cuzk_journal *journal;        /* NULL: none. Borrowed until destroy */
    bool journal_was_damaged;     /* from its report, for the view */
    uint64_t journal_salvaged;
    /* Begin a device anew and test it, which was lost (E_DEVICE_LOST), taken out or drained:
     * nothing is on it, and nobody uses it. From one of its threads. NULL: as if it failed. After
     * an error a lost device is out, and is tried again after retry_ns, then twice as long each
     * time. */
    cuzk_status (*renew)(void *user, unsigned device, cuzk_error *err);
    void *renew_user;
    uint64_t retry_ns; /* 0: a second; at most five minutes */
    /* Put the calling thread of a stage where it works best: beside a device, as the maker-th of
     * those that make witnesses, or anywhere; what is not meant is -1. Outside the lock, before
     * each piece of work: cheap where nothing changes. May be NULL. */
    void (*place)(void *user, int device, int maker);
    void *place_user;
    void (*observe)(void *user, const cuzk_event *event); /* may be NULL */
    void *observe_user;
} cuzk_engine_options;

/** Start an engine: threads, and with a journal the jobs that it holds. Returned:
 *  cuzk_engine_destroy. options: copied, but for what it points to. Errors: E_ARGUMENT, E_MEMORY,
 *  those of the journal. */
cuzk_status cuzk_engine_create(cuzk_engine **out, const cuzk_engine_options *options,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** Take no new work (E_UNAVAILABLE from now on) and wait until nothing is left to do or, with all
 *  devices drained or out, nothing can be done; at most until the time on cuzk_now_ns' clock. True:
 *  all jobs have ended, and no unit is in a stage. */
bool cuzk_engine_drain(cuzk_engine *engine, uint64_t deadline_ns);

/** Stop: what runs is cancelled, unfinished jobs stay in the journal, their waiters are told
 *  E_UNAVAILABLE. Waits for the threads. */
void cuzk_engine_destroy(cuzk_engine *engine);

/* ---- jobs ------------------------------------------------------------------------------------ */

typedef enum {
    CUZK_JOB_QUEUED, /* accepted, no unit has begun */
    CUZK_JOB_RUNNING,
    CUZK_JOB_COMPLETED,
    CUZK_JOB_FAILED,
    CUZK_JOB_CANCELLED, /* also: dropped, as nobody asked for it */
    CUZK_JOB_TIMEOUT,   /* of an await, not of a job: it goes on */
    CUZK_JOB_UNKNOWN    /* of an await: the journal has no such job any more */
} cuzk_job_state;

typedef struct {
    const char *job_id;
    cuzk_job_state state;
    cuzk_status status; /* CUZK_OK for COMPLETED */
    const char *error;  /* "" for COMPLETED */
    const uint8_t *answer;
    size_t answer_bytes;
    unsigned kind;
    /* wall times: total from submission; summed over units: witness, prove (start to end of finish,
     * lane waits included), lane (held, of each device of a unit) */
    uint64_t total_ns, queue_ns, resident_ns, witness_ns, prove_ns, lane_ns;
} cuzk_job_result; /* borrowed for the call */

typedef void (*cuzk_on_result)(void *user, const cuzk_job_result *result);

typedef struct {
    cuzk_status status; /* why it was not accepted */
    const char *error;
    const char *job_id; /* the request id, or with another payload than a known job's of that id
                           "ID~DIGEST"; NULL if not accepted */
    unsigned queue_position; /* jobs that were queued before it */
    bool is_known;           /* the same id with the same payload: attached to it */
} cuzk_submitted;            /* borrowed for the call */

typedef void (*cuzk_on_submitted)(void *user, const cuzk_submitted *answer);

typedef struct {
    /* any text without NUL of at most CUZK_REQUEST_ID_MAX bytes; copied; "" or NULL: one is
     * made */
    const char *request_id;
    unsigned kind;
    unsigned priority; /* 0: the kind's own */
    void *payload;     /* handed over: freed with free, also when it is refused */
    size_t payload_bytes;
    uint64_t reserved_bytes;  /* of one cuzk_engine_reserve, at least payload_bytes, taken over with
                                 the payload; 0: the engine reserves, and the submission waits */
    cuzk_trace_context trace; /* the caller's, told with the job's events; not journalled */
    cuzk_on_submitted on_submitted; /* called once, from any thread, maybe before submit returns */
    cuzk_on_result on_result; /* NULL: nobody waits. Else called once, after on_submitted, unless it
                                 was not accepted or cuzk_engine_leave came first */
    void *user;
} cuzk_submission;

/** Submit a job. Returns at once; the submission waits where memory is short, it is never refused
 *  for being one too many. waiter: names the wait for cuzk_engine_leave; may be NULL. */
void cuzk_engine_submit(cuzk_engine *engine, const cuzk_submission *submission, uint64_t *waiter);

/** Wait for a job. on_result: called once, unless cuzk_engine_leave came first: maybe before the
 *  return. timeout_ns: 0: none. Errors: E_NOT_FOUND: there is none, in memory or in the journal.
 *  Where the journal was believed to have it and has not, on_result comes with CUZK_JOB_UNKNOWN and
 *  E_NOT_FOUND. */
cuzk_status cuzk_engine_await(cuzk_engine *engine, uint64_t *waiter, const char *job_id,
                              uint64_t timeout_ns, cuzk_on_result on_result, void *user,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/** The caller goes away; its job stays. True: its on_result has not been called and will not be;
 *  an on_submitted that has not come still comes. False: it has been, or is being called now. */
bool cuzk_engine_leave(cuzk_engine *engine, uint64_t waiter);

/** Cancel a job: waiters are told at once, its units stop soon. was_running: it had not ended.
 *  Errors: E_NOT_FOUND. */
cuzk_status cuzk_engine_cancel(cuzk_engine *engine, bool *was_running, const char *job_id,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** Reserve memory for a payload before it is received. on_reserved: called once, from any thread,
 *  maybe before the return, when the bytes are there. Errors: E_MEMORY when they can never be
 *  (both numbers), E_UNAVAILABLE when the engine ends: then also through a call. */
void cuzk_engine_reserve(cuzk_engine *engine, uint64_t bytes,
                         void (*on_reserved)(void *user, cuzk_status status, const char *error),
                         void *user);
/** Give back what one call reserved and was not handed over. */
void cuzk_engine_release(cuzk_engine *engine, uint64_t bytes);

/** Bytes of the largest payload that can ever be taken in. */
uint64_t cuzk_engine_payload_max(const cuzk_engine *engine);

/* ---- residents ------------------------------------------------------------------------------- */

/** Load a circuit and make it ready for a first proof. Blocks. keep: from now on nothing but
 *  cuzk_engine_evict evicts it, and what has no room beside it is refused. Errors: E_NOT_FOUND,
 *  E_FILE, E_MEMORY (both numbers, where there can never be room), those of loading. */
cuzk_status cuzk_engine_preload(cuzk_engine *engine, bool *was_loaded, uint64_t *load_ns,
                                const char *circuit, bool keep, cuzk_error *err) CUZK_WARN_UNUSED;

/** Evict a circuit, a kept one too: at once if no unit uses it, else when the last one ends.
 *  was_loaded, bytes: as was; a circuit that is not loaded is no error. Errors: E_NOT_FOUND: there
 *  is no such circuit, with the list. */
cuzk_status cuzk_engine_evict(cuzk_engine *engine, bool *was_loaded, uint64_t *freed_bytes,
                              const char *circuit, cuzk_error *err) CUZK_WARN_UNUSED;

/* ---- devices --------------------------------------------------------------------------------- */

/* The numbers are those of the wire. */
typedef enum {
    CUZK_DEVICE_USED = 0,
    CUZK_DEVICE_DRAINING =
        1, /* gets no new unit; what runs there ends, what is there is taken off */
    CUZK_DEVICE_DRAINED = 2, /* nothing is on it, until it is added */
    CUZK_DEVICE_LOST = 3,    /* its context is gone; it is begun anew, again and again */
    CUZK_DEVICE_OUT = 4,     /* it failed too often, until it is added */
    CUZK_DEVICE_OPENING = 5, /* to be added: begun anew and tested */
    CUZK_DEVICE_STATES
} cuzk_device_state;

/** "used", "draining", … */
static inline const char *cuzk_device_state_name(cuzk_device_state state)
{
    static const char *const names[CUZK_DEVICE_STATES] = {"used", "draining", "drained",
                                                          "lost", "out",      "opening"};
    return (unsigned)state < CUZK_DEVICE_STATES ? names[state] : "unknown";
}

/** The index of a device, by its id or by the number at its end: "cuda:1", "1". Errors:
 *  E_NOT_FOUND (the text lists those there are), E_ARGUMENT (a number that two have). */
cuzk_status cuzk_engine_device_find(const cuzk_engine *engine, unsigned *device, const char *name,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** The id of a device: valid as long as the engine. device: below the number of devices. */
const char *cuzk_engine_device_id(const cuzk_engine *engine, unsigned device);

/** Give no new unit to a device, let those on it end, then take everything off it. Blocks until
 *  that is done; wait false: returns at once, and it goes on. One that is lost is not begun anew
 *  any more. was: its state before the call; DRAINED is fine. The last one may be drained, too:
 *  jobs wait then, and new ones are refused. Errors: E_ARGUMENT (no such index), E_CANCELLED (it
 * was added meanwhile), E_UNAVAILABLE (the engine ends). */
cuzk_status cuzk_engine_device_drain(cuzk_engine *engine, cuzk_device_state *was, unsigned device,
                                     bool wait, cuzk_error *err) CUZK_WARN_UNUSED;

/** Use a device again, whatever kept it from being used: it is begun anew and tested, its faults
 *  are forgotten. Blocks until that is done; wait false: returns at once, and it goes on: the
 * device is OPENING until it is used or, with the reason, what it was before. was: its state before
 * the call; USED is fine. Errors: E_ARGUMENT, E_DEVICE (why not; it is as it was), E_CANCELLED (it
 * was drained meanwhile), E_UNAVAILABLE (the engine ends). */
cuzk_status cuzk_engine_device_add(cuzk_engine *engine, cuzk_device_state *was, unsigned device,
                                   bool wait, cuzk_error *err) CUZK_WARN_UNUSED;

/* ---- what it is doing ------------------------------------------------------------------------ */

typedef enum {
    CUZK_RESIDENT_LOADING,
    CUZK_RESIDENT_READY,
    CUZK_RESIDENT_STREAMING,
    CUZK_RESIDENT_EVICTING
} cuzk_resident_state;

typedef enum {
    CUZK_UNIT_PENDING,
    CUZK_UNIT_WITNESS,
    CUZK_UNIT_READY, /* waits for a device */
    CUZK_UNIT_DEVICE,
    CUZK_UNIT_DONE,
    CUZK_UNIT_FAILED
} cuzk_unit_state;

typedef struct {
    cuzk_unit_state state;
    uint64_t witness_ns, prove_ns; /* so far; 0: not begun */
} cuzk_unit_view;

/* What an unfinished job waits for. */
typedef enum {
    CUZK_WAIT_NOTHING,       /* it is worked on, or has ended */
    CUZK_WAIT_JOB,           /* its turn, behind the job `name` */
    CUZK_WAIT_MEMORY,        /* of the host; name: for that circuit's key; NULL: for a unit */
    CUZK_WAIT_DEVICE_MEMORY, /* of `device` */
    CUZK_WAIT_RESIDENT,      /* the circuit `name` is being loaded */
    CUZK_WAIT_STAGE,         /* all n_threads of the stage `name` are busy */
    CUZK_WAIT_LANE,          /* that of `device`, which the job `name` holds */
    CUZK_WAIT_PAYLOAD,       /* out of the journal; with bytes: for memory to read it into */
    CUZK_WAIT_DEVICE         /* none is used; with bytes: none that has as many */
} cuzk_wait_reason;

typedef struct {
    cuzk_wait_reason reason;
    const char *name; /* of the view; NULL: none */
    unsigned device, n_threads;
    uint64_t needed_bytes, free_bytes, cap_bytes; /* of memory; 0 elsewhere */
} cuzk_wait_view;

typedef struct {
    char *job_id;
    uint64_t seq;
    unsigned kind, priority;
    cuzk_wait_view wait;
    cuzk_job_state state;
    uint64_t age_ns, started_ns_ago; /* since submission; since its first unit began, 0: not yet */
    unsigned n_units, n_done, n_waiters;
    cuzk_unit_view *units;
    char *error; /* NULL: none */
} cuzk_job_view;

typedef struct {
    unsigned device, worker;
    bool is_busy;
    char *job_id; /* NULL: idle */
    int unit;
    unsigned kind;
    uint64_t busy_ns;
} cuzk_worker_view;

typedef struct {
    char circuit[CUZK_CIRCUIT_ID_MAX];
    cuzk_resident_state state;
    uint64_t bytes, idle_ns;
    unsigned n_users;
    bool is_kept; /* evicted only by cuzk_engine_evict */
} cuzk_resident_view;

typedef struct {
    char id[32];
    char name[96];
    uint64_t memory_bytes, reserved_bytes;
    cuzk_device_state state;
    uint64_t state_ns; /* since when, in ns ago */
    uint64_t retry_ns; /* LOST: until it is begun anew; 0: now, or it is being done */
    bool is_out;       /* it is not used, and will not be by itself at once */
    unsigned n_units;  /* on it */
    unsigned n_faults;
    unsigned n_renewals; /* times that it was lost and begun anew */
    char reason[256];    /* why it is not used; "" where it is */
} cuzk_device_view;

typedef struct {
    uint64_t uptime_ns;
    uint64_t budget_bytes, reserved_bytes, peak_bytes, intake_bytes, intake_reserved_bytes;
    cuzk_job_view *jobs; /* unfinished ones, and up to 1,000 that ended in the last 30 s */
    unsigned n_jobs;
    cuzk_worker_view *workers;
    unsigned n_workers;
    cuzk_resident_view *residents;
    unsigned n_residents;
    cuzk_device_view devices[CUZK_ENGINE_DEVICES_MAX];
    unsigned n_devices;
    struct {
        unsigned pending, in_progress; /* exact: their sum is the number of unfinished jobs */
        uint64_t completed, failed, cancelled; /* since the start */
    } kinds[CUZK_KINDS_MAX];
    unsigned submissions;       /* not yet accepted: being decoded, or waiting for memory */
    unsigned n_intake;          /* payloads that wait to be received, read back or decoded */
    cuzk_wait_view intake_wait; /* of the first of them: MEMORY of the intake, or a STAGE */
    unsigned in_witness, in_device, in_finish, in_verify, ready; /* units */
    uint64_t retries;
    bool is_draining;
    bool has_journal, journal_failed; /* failed: new work is refused until a write succeeds */
    uint64_t journal_salvaged;        /* jobs that a damaged journal still gave at the start */
    bool journal_was_damaged;
} cuzk_engine_view;

/** A consistent picture of this instant; never waits for a load. view: filled;
 * cuzk_engine_view_clear. with_units: fill jobs[].units too. Errors: E_MEMORY. */
cuzk_status cuzk_engine_look(cuzk_engine *engine, cuzk_engine_view *view, bool with_units,
                             cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_engine_view_clear(cuzk_engine_view *view);

/** Of host memory the bytes that residents and units share, and those of them that are for what is
 *  CRITICAL while others hold some. Pure. */
void cuzk_engine_work_bytes(const cuzk_engine_options *options, uint64_t *work_bytes,
                            uint64_t *critical_bytes);

/** Tell what waits at this moment, and since when: a CUZK_EVENT_WAITING for each unit that waits
 * for memory or, ready, for a worker, and each resident that waits for memory. observe: called
 * inside the engine's lock, from which nothing of the engine may be called. Thread-safe. */
void cuzk_engine_waits(cuzk_engine *engine, void (*observe)(void *user, const cuzk_event *event),
                       void *user);

#endif
