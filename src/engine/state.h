/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the engine is made of. One lock, cuzk_engine.lock, guards all of it; inner.h has the calls.
 */
#ifndef CUZK_ENGINE_STATE_H
#define CUZK_ENGINE_STATE_H

#include "engine/budget.h"
#include "engine/engine.h"
#include "engine/filter.h"
#include "engine/order.h"
#include "engine/table.h"

#include <pthread.h>
#include <stdatomic.h>

/* The struct of which `pointer` is a member. */
#define CUZK_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

typedef struct cuzk_job cuzk_job;
typedef struct cuzk_unit cuzk_unit;
typedef struct cuzk_waiter cuzk_waiter;
typedef struct cuzk_slot cuzk_slot;
typedef struct cuzk_thread cuzk_thread;

/* ---- the clerk's queue: what is told to the outside, in order -------------------------------- */

typedef enum {
    CUZK_NOTICE_SUBMITTED, /* of a waiter */
    CUZK_NOTICE_RESULT,    /* of a waiter */
    CUZK_NOTICE_RESERVED,  /* of a claim */
    CUZK_NOTICE_ACCEPTED,  /* of a job */
    CUZK_NOTICE_ENDED,     /* of a job */
    CUZK_NOTICE_SWEEP,     /* of a job: free its task */
    CUZK_NOTICE_PAYLOAD,   /* of a job: wipe and free its payload */
    CUZK_NOTICE_CLAIM      /* of a claim: the same, and the claim */
} cuzk_notice_kind;

typedef struct cuzk_notice {
    struct cuzk_notice *next, *prev;
    cuzk_notice_kind kind;
    bool is_queued;
} cuzk_notice;

typedef enum {
    CUZK_TIMER_AWAIT,   /* of a waiter */
    CUZK_TIMER_ABANDON, /* of a job */
    CUZK_TIMER_ENGINE   /* the engine's own: look again at memory, journal, old results */
} cuzk_timer_kind;

typedef struct {
    cuzk_order_node order; /* seq: when, on cuzk_now_ns' clock */
    cuzk_timer_kind kind;
} cuzk_timer;

/* ---- payloads -------------------------------------------------------------------------------- */

/* Somebody who waits for memory of the intake: a caller of cuzk_engine_reserve (on_reserved set),
 * or a payload on its way to a decoder. */
typedef struct {
    cuzk_order_node order;
    cuzk_notice notice;
    uint64_t bytes; /* of the payload */
    void (*on_reserved)(void *user, cuzk_status status, const char *error);
    void *user;
    cuzk_status status;
    char *error;

    cuzk_waiter *waiter; /* NULL: recovered from the journal */
    cuzk_job *recovered;
    char *request_id;
    unsigned kind, priority;
    void *payload;
    cuzk_share_id share;
    bool has_payload; /* the payload's bytes are reserved; decoder's bytes are waited for next */
    uint64_t since_ns;
    cuzk_trace_context trace;
} cuzk_claim;

/* One caller who waits for a job. */
struct cuzk_waiter {
    cuzk_table_node by_id; /* hash: its number */
    cuzk_notice submitted, result;
    cuzk_timer deadline;
    cuzk_waiter *next, *prev; /* of its job */
    cuzk_job *job;
    cuzk_on_submitted on_submitted;
    cuzk_on_result on_result;
    void *user;
    bool awaits_accept; /* on_submitted has not been queued */
    bool has_left;      /* on_result will not be called */
    bool timed_out, was_known;
    unsigned queue_position;
    cuzk_status status;      /* why there is no job */
    char *job_id;            /* while the journal is asked for it */
    cuzk_status lost_status; /* why there is no result */
    char *error;             /* of either */
    unsigned n_refs;         /* submission on its way, job, notices */
};

/* ---- jobs and units -------------------------------------------------------------------------- */

typedef enum {
    CUZK_AT_REST,        /* not begun, its task is not there yet */
    CUZK_AT_MEMORY,      /* waits for memory, or for its resident */
    CUZK_AT_WITNESS,     /* its witness is being made */
    CUZK_AT_READY,       /* waits for a device */
    CUZK_AT_DEVICE,      /* in prove_start */
    CUZK_AT_FINISH_WAIT, /* waits for a finisher */
    CUZK_AT_FINISH,
    CUZK_AT_VERIFY_WAIT,
    CUZK_AT_VERIFY,
    CUZK_AT_ASSEMBLE, /* all units were in the journal: waits for a verifier to assemble */
    CUZK_AT_DISCARD,  /* of a stopped job: a finisher frees what it holds */
    CUZK_AT_VERIFIED, /* until the journal has it */
    CUZK_AT_DONE,
    CUZK_AT_DROPPED
} cuzk_unit_at;

struct cuzk_unit {
    cuzk_order_node order;
    cuzk_order *queue; /* the one it is in; NULL: none */
    cuzk_job *job;
    unsigned index;
    cuzk_unit_at at;
    unsigned attempts;       /* proofs begun */
    unsigned n_lost;         /* of them, on devices that were lost meanwhile: those do not count */
    cuzk_status last_status; /* of the last attempt that failed */
    int device;              /* the last one; -1: none yet */
    cuzk_thread *thread;
    cuzk_unit_witness *witness;
    cuzk_pending *pending;
    size_t proof_bytes;
    uint64_t witness_from, witness_ns, prove_from, prove_ns;
    uint64_t memory_ns; /* when its bytes were first not there for it; 0: they were */
    uint64_t ready_ns;  /* when its witness was ready, or its last attempt had failed */
    bool wants_write;   /* the journal did not take it: again later */
    bool has_memory;    /* its bytes are reserved and its resident is held */
    bool is_waiting;    /* no device has it: counted in its slot */
    bool was_helped;    /* in the last attempt: two devices have made the proof */
    int suspect;        /* device whose proof did not verify, unless the witness is to blame; -1 */
};

struct cuzk_job {
    cuzk_engine *engine;
    cuzk_table_node by_id;
    const char *seen_id;   /* id in the picture that is being taken */
    cuzk_job *next, *prev; /* engine's list of unfinished or ended ones */
    unsigned n_refs;
    char *id, *request_id;
    uint64_t seq;
    unsigned kind, priority;
    const cuzk_work *work;
    uint8_t digest[32];

    cuzk_job_state state;
    bool in_table, is_accepted, is_refused, is_recovered;
    bool has_end;           /* how it ends is known; state tells when the end is on the disk */
    bool is_closed;         /* ended, waiters told */
    atomic_bool is_stopped; /* read by its units' stages without the lock: a hint to stop early */
    cuzk_job_state end_state;
    cuzk_status status;
    char *error; /* NULL: none */
    uint8_t *answer;
    size_t answer_bytes;

    cuzk_task *task;
    uint64_t task_reserved;
    bool has_payload; /* until the journal has it: its bytes are reserved */
    void *payload;
    size_t payload_bytes;
    cuzk_share_id payload_share;
    cuzk_slot *slot;
    uint64_t unit_bytes, device_bytes, resident_device_bytes;
    bool is_unchecked;

    cuzk_unit *units; /* NULL once swept */
    cuzk_unit_view *views;
    uint8_t *proofs;
    unsigned n_units;
    unsigned n_active; /* units and others that use task and units; each is one of n_refs too */
    unsigned n_verified, n_done;
    unsigned n_writes; /* asked of the journal, not answered */
    bool is_rewrite;   /* in the engine's list of writes to do again */
    bool wants_end_write;
    cuzk_job *next_rewrite;

    cuzk_waiter *waiters;
    unsigned n_waiters;
    bool is_kept; /* submitted by somebody who does not wait: never dropped */
    cuzk_timer abandon;
    cuzk_notice accepted, ended, sweep, wipe;

    int64_t accepted_unix_ms, ended_unix_ms;
    uint64_t submitted_ns, accepted_ns, started_ns, ended_ns; /* 0: not yet */
    uint64_t entered_ns;      /* when it came into the table of this process */
    cuzk_trace_context trace; /* of the submission that made it */
    unsigned n_before;        /* units that were proved before that */
    uint64_t kept_ns;         /* since then it is among the ended ones in memory */
    uint64_t total_ns, queue_ns, resident_ns, witness_ns, prove_ns, lane_ns;
    uint64_t kept_bytes;
};

/* ---- residents ------------------------------------------------------------------------------- */

typedef enum {
    CUZK_SLOT_EMPTY,
    CUZK_SLOT_WANTED, /* waits for memory or a loader */
    CUZK_SLOT_LOADING,
    CUZK_SLOT_READY,
    CUZK_SLOT_EVICTING
} cuzk_slot_state;

typedef struct {
    bool is_loaded, is_loading; /* either: its bytes are reserved */
    bool is_leaving;            /* it is being taken off; nothing is put there meanwhile */
    unsigned n_users;           /* units on the device */
    uint64_t used_ns;
    cuzk_slot *next_evict; /* of a worker's list */
    cuzk_status status;    /* of the last load */
} cuzk_slot_device;

/* A circuit that is resident, is to be, or was. */
struct cuzk_slot {
    cuzk_slot *next;
    char circuit[CUZK_CIRCUIT_ID_MAX];
    const char *seen_circuit; /* the same, in the picture that is being taken */
    const cuzk_work *work;
    unsigned kind;
    cuzk_slot_state state;
    cuzk_order_node order; /* among the loads; its best unit's */
    cuzk_order parked;     /* units that wait until it is ready */
    cuzk_order ready;      /* units that wait for any device */
    unsigned n_waiting;    /* units of unfinished jobs that no device has */
    uint64_t unit_ns;      /* what a unit takes of a device's time, as measured; 0: not yet */
    uint64_t put_ns;       /* what putting it on a device took last; 0: not yet */
    cuzk_resident *resident;
    uint64_t need_bytes;   /* before it is loaded */
    uint64_t bytes;        /* reserved, while it is loading, ready, evicting */
    uint64_t device_bytes; /* on a device with memory of its own; 0: not known yet */
    unsigned n_users;      /* units that hold memory */
    unsigned n_jobs;       /* unfinished */
    unsigned n_preloads;   /* callers of preload */
    uint64_t memory_ns;    /* when the next load's bytes were first not there; 0: they were */
    uint64_t used_ns, load_ns;
    bool evict_when_idle;
    bool is_kept;        /* once it is ready, only a caller evicts it */
    unsigned n_attempts; /* loads that ended, well or not */
    cuzk_status status;  /* of the last one */
    char *error;
    cuzk_slot_device devices[CUZK_ENGINE_DEVICES_MAX];
};

/* ---- threads and devices --------------------------------------------------------------------- */

/* A stage has as many threads as the configuration says: that is how many of its items may run at
 * once. What runs them are the engine's hands. */
typedef struct {
    cuzk_thread *idle;
    unsigned n_threads, n_busy;
    const char *name; /* of its threads, for top and gdb */
    /* Called with the lock held, which it gives away while it works. */
    void (*run)(cuzk_thread *thread, void *item);
} cuzk_stage;

struct cuzk_lane {
    cuzk_order_node order; /* among a device's waiters */
    bool is_held;
    uint64_t held_from;
};

/* A part of a unit that is on a device, for a thread of another one (help.c). */
typedef struct {
    cuzk_help_run run;
    void *ctx;
    cuzk_thread *helper;
    bool has_ended;
    cuzk_status status;
    cuzk_error error;
} cuzk_part;

/* A thread of a stage: a place for one item, and what its hand needs to know of it. */
struct cuzk_thread {
    cuzk_engine *engine;
    pthread_cond_t lane_wake; /* it may have the lane, its unit is stopped, or its part is made */
    cuzk_stage *stage;
    cuzk_thread *next; /* idle ones of its stage; those that have an item and no hand yet */
    void *item;
    unsigned device, worker; /* of a device's */
    cuzk_unit *unit;         /* a device's: what it proves */
    uint64_t since_ns;
    cuzk_lane lane;
    cuzk_slot *evict; /* off the device, before it proves */
    bool is_loader;   /* puts the unit's resident on the device */
    cuzk_part part;   /* of its unit, that another device's thread makes */
    cuzk_thread *of;  /* whose part it makes; NULL: it proves a unit */
};

/* A thread of the system, one for each thread of a stage. It runs what was given first, whatever
 * the stage. */
typedef struct cuzk_hand {
    cuzk_engine *engine;
    pthread_t id;
    pthread_cond_t wake;
    struct cuzk_hand *next_idle;
    bool is_called;
} cuzk_hand;

typedef struct {
    char *id, *name;
    cuzk_stage workers, express; /* express: one thread more, for what is CRITICAL */
    cuzk_order ready;            /* units that this device is to prove and no other */
    cuzk_share memory;           /* cap 0: it uses host memory */
    uint64_t leaving_bytes;      /* of residents that its threads are about to take off: reserved no
                                    more, but there, and free for nobody else until they are off */
    cuzk_lane *lane_holder;
    cuzk_order lane_waiters;
    pthread_cond_t loaded;           /* a resident has been put on it, or could not be */
    pthread_cond_t changed;          /* its state, what is wanted of it, it may be entered, or a
                                        resident is off it */
    unsigned n_inside;               /* threads that use it, or what is on it */
    cuzk_device_state state, before; /* before: that to go back to when opening it fails */
    uint64_t since_ns;
    bool is_counted;   /* among engine.n_devices */
    bool wants_used;   /* what was asked for last; false: drained */
    bool needs_open;   /* its context is gone or not to be trusted */
    bool is_tended;    /* one of its threads takes everything off, or opens it: nobody enters */
    uint64_t retry_ns; /* LOST: when it is begun anew, on cuzk_now_ns' clock */
    unsigned n_tries;  /* times that it was begun anew since a unit, or a part, was proved on it */
    unsigned n_opened; /* times that opening it ended */
    unsigned n_faults, n_renewals;
    char reason[256];
} cuzk_device;

typedef struct {
    cuzk_notice *first, *last;
} cuzk_notices;

struct cuzk_engine {
    pthread_mutex_t lock;
    cuzk_engine_options options;
    uint64_t born_ns;
    bool is_draining, is_stopping;
    atomic_bool stops; /* is_stopping, for work that asks without the lock */
    bool is_ended;     /* threads leave */

    cuzk_budget budget;
    uint64_t next_arrival, next_seq;
    cuzk_order payload_claims[2]; /* of CUZK_SHARE_SMALL, CUZK_SHARE_PAYLOAD */
    cuzk_order decode_claims;     /* have their payload, wait for a decoder and its bytes */
    cuzk_order kept_claims;       /* used while claims are refused */
    cuzk_order postponed;         /* of jobs from the journal, for which there was no memory */
    unsigned n_submissions;

    cuzk_table jobs;        /* by id */
    cuzk_job *live, *ended; /* ended: the oldest first */
    cuzk_job *ended_last;
    uint64_t kept_bytes; /* of ended ones */
    unsigned n_kept;
    cuzk_filter gone; /* ids that left memory and may be in the journal */
    pthread_cond_t found;
    unsigned n_unfinished;
    struct {
        unsigned pending, in_progress;
        uint64_t completed, failed, cancelled;
    } counts[CUZK_KINDS_MAX];
    uint64_t n_retries;

    cuzk_table waiters; /* by number */
    uint64_t next_waiter;

    cuzk_order units;    /* resident is ready, wait for memory */
    cuzk_order stranded; /* could be taken by none of the devices that are used: either waits for
                            memory, or has its witness */
    unsigned n_ahead;    /* units whose witness is being made or is ready, but the stranded ones */
    cuzk_order finish;   /* wait for a finisher */
    cuzk_order verify;   /* wait for a verifier */
    unsigned n_devices;  /* used, or about to be again */
    cuzk_device devices[CUZK_ENGINE_DEVICES_MAX];

    cuzk_slot *slots;
    cuzk_order loads;
    uint64_t bytes_evicting;
    unsigned n_evict_wanted; /* slots with evict_when_idle */
    bool wants_reap;         /* a slot may have become one that nobody needs */
    pthread_cond_t slots_changed;

    cuzk_stage decoders, makers, finishers, verifiers, loaders;
    cuzk_thread *threads;
    cuzk_hand *hands; /* n_threads */
    unsigned n_threads;
    cuzk_hand *idle_hands; /* they sleep, the last one first */
    cuzk_thread *given, *given_last;
    unsigned n_given, n_called; /* threads with an item and no hand yet; hands that are waking up */
    bool is_looking;            /* a hand looks what there is to do, and takes the first */

    pthread_t clerk;
    bool has_clerk;
    pthread_cond_t clerk_wake;
    cuzk_notices notices;
    cuzk_order timers;
    cuzk_timer timer;
    bool is_calling;      /* the clerk, or a hand in its place, is in a callback */
    pthread_cond_t quiet; /* something ended: for drain and stop */
    unsigned n_callers;   /* inside cuzk_engine_preload; the journal's thread that calls out */

    cuzk_job *rewrites; /* jobs with something the journal did not take */
    unsigned n_writes;
    bool journal_failed; /* its last answer */
    /* what was told of its health: that it fails; that it does so again and again; when it was told
     * to be well, when it failed last, 0: never */
    bool journal_told, journal_flaps;
    uint64_t journal_well_ns, journal_bad_ns;
};

#endif
