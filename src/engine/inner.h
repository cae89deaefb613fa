/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls between the engine's files. Unless said otherwise each is made with the engine's lock
 * held and returns with it held. docs/threads.md tells who runs where. */
#ifndef CUZK_ENGINE_INNER_H
#define CUZK_ENGINE_INNER_H

#include "engine/state.h"

/* ---- engine.c -------------------------------------------------------------------------------- */

static inline void cuzk_engine_lock(cuzk_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
}

/* Why nothing is taken any more, for callers. */
#define CUZK_ENGINE_ENDS "no new work is taken: the server ends"

/** Give work to idle threads, then give the lock back. */
void cuzk_engine_unlock(cuzk_engine *engine);

/** Milliseconds of the wall clock. Without the lock too. */
int64_t cuzk_engine_unix_ms(void);

/** Text for an error that outlives its cuzk_error; NULL where memory is short. */
char *cuzk_engine_text(const char *fmt, ...) CUZK_PRINTF(1, 2);

/* ---- hands.c --------------------------------------------------------------------------------- */

/** The calling thread works for a device next, or makes witnesses as number `maker`, or neither
 *  (-1, -1): options.place. Without the lock. */
void cuzk_hands_place(const cuzk_engine *engine, int device, int maker);
/** A thread of a stage has its item: a hand shall run it. */
void cuzk_hands_give(cuzk_thread *thread);
/** Without the lock: how many threads each stage has, which scheduling asks before any runs. */
void cuzk_hands_size(cuzk_engine *engine);
/** Start the clerk, and a hand for each thread of a stage. Errors: E_MEMORY; join those that run.
 */
cuzk_status cuzk_hands_start(cuzk_engine *engine, cuzk_error *err) CUZK_WARN_UNUSED;
/** Without the lock: have all of them leave, the clerk after its last notice. */
void cuzk_hands_join(cuzk_engine *engine);

/* ---- observe.c: without the lock ------------------------------------------------------------- */

void cuzk_observe(const cuzk_engine *engine, const cuzk_event *event);

/** An event of a unit, whose job's text and numbers it takes. thread: a device's, or NULL. */
void cuzk_observe_unit(const cuzk_engine *engine, cuzk_event_id id, cuzk_event_phase phase,
                       const cuzk_unit *unit, const cuzk_thread *thread, cuzk_status status,
                       const char *text);

/** RECOVERED, ACCEPTED or ENDED of a job. */
void cuzk_observe_job(const cuzk_engine *engine, cuzk_event_id id, const cuzk_job *job);

/** WAITING, if it waits: it is about to be taken out of its queue. Inside the lock. */
void cuzk_observe_unit_left(const cuzk_engine *engine, const cuzk_unit *unit);
void cuzk_observe_slot_left(const cuzk_engine *engine, const cuzk_slot *slot);

/** An event that is about no job. */
void cuzk_observe_text(const cuzk_engine *engine, cuzk_event_id id, cuzk_event_phase phase,
                       int device, uint64_t value, const char *text);

/* ---- schedule.c ------------------------------------------------------------------------------ */

/** Grant memory and hand work to idle threads until nothing more can be. */
void cuzk_schedule(cuzk_engine *engine);

/** Whether a unit may have its witness made now, apart from memory. */
bool cuzk_may_make_witness(const cuzk_engine *engine, const cuzk_unit *unit);

/** Whether so many units wait for a finisher that devices stop. */
bool cuzk_is_finish_full(const cuzk_engine *engine);

/** Whether a stage has an idle thread. */
static inline bool cuzk_stage_is_idle(const cuzk_stage *stage)
{
    return stage->idle != NULL;
}

/** Give an idle thread of the stage an item; there must be one. */
cuzk_thread *cuzk_stage_give(cuzk_stage *stage, void *item);

/** A unit of a job with a slot waits for a device, or does not (any more). */
void cuzk_unit_waits(cuzk_unit *unit, bool waits);

/** Units: into a queue, out of the one they are in (fine in none). */
void cuzk_unit_push(cuzk_unit *unit, cuzk_order *queue);
void cuzk_unit_pull(cuzk_unit *unit);

/** A unit that may begin: queue it for memory, or behind its resident. */
void cuzk_unit_want(cuzk_engine *engine, cuzk_unit *unit);

/* ---- clerk.c --------------------------------------------------------------------------------- */

cuzk_status cuzk_clerk_start(cuzk_engine *engine, cuzk_error *err) CUZK_WARN_UNUSED;
/** Queue a notice. Whoever gives the lock away reminds the clerk, as cuzk_engine_unlock does, or
 *  tells himself. */
void cuzk_clerk_tell(cuzk_engine *engine, cuzk_notice *notice, cuzk_notice_kind kind);
/** Take a notice back; fine when it is not queued. True: it was. */
bool cuzk_clerk_untell(cuzk_engine *engine, cuzk_notice *notice);
/** In place of the clerk: tell what there is, a few at most, if nobody does; the clerk gets the
 *  rest. Gives the lock away meanwhile: the caller sees to it that the engine stays. False: there
 *  was nothing. */
bool cuzk_clerk_stand_in(cuzk_engine *engine);
/** Wake the clerk if there is something to tell and nobody tells. */
void cuzk_clerk_remind(cuzk_engine *engine);
/** A hand's, in the midst of its item: give the lock away for something that takes time. What is to
 *  be told does not wait for it. */
void cuzk_engine_step_out(cuzk_engine *engine);
/** Set or move a timer; cancel: fine when it is not set. */
void cuzk_timer_set(cuzk_engine *engine, cuzk_timer *timer, uint64_t when_ns);
void cuzk_timer_cancel(cuzk_engine *engine, cuzk_timer *timer);
/** Have the engine looked at again no later than then. */
void cuzk_timer_engine(cuzk_engine *engine, uint64_t when_ns);

/* ---- waiters.c ------------------------------------------------------------------------------- */

/** A waiter with a number, in the table, held once. NULL: no memory. */
cuzk_waiter *cuzk_waiter_new(cuzk_engine *engine);
void cuzk_waiter_unref(cuzk_engine *engine, cuzk_waiter *waiter);
void cuzk_waiter_attach(cuzk_engine *engine, cuzk_waiter *waiter, cuzk_job *job);
void cuzk_waiter_detach(cuzk_engine *engine, cuzk_waiter *waiter);
/** Tell all that wait for a job how it was accepted; how it ended. */
void cuzk_waiters_accepted(cuzk_engine *engine, cuzk_job *job);
void cuzk_waiters_ended(cuzk_engine *engine, cuzk_job *job);
/** Tell a waiter that has no job why. */
void cuzk_waiter_refuse(cuzk_engine *engine, cuzk_waiter *waiter, cuzk_status status,
                        const char *error);
/** The journal was asked for its job; what it had is in the table. */
void cuzk_waiter_found(cuzk_engine *engine, cuzk_waiter *waiter, cuzk_status status);
/** Tell those of an unfinished job that the engine ends. */
void cuzk_waiters_stop(cuzk_engine *engine, cuzk_job *job);
/** The clerk's part: call out. Gives the lock away meanwhile. */
void cuzk_waiter_call_submitted(cuzk_engine *engine, cuzk_waiter *waiter);
void cuzk_waiter_call_result(cuzk_engine *engine, cuzk_waiter *waiter);
void cuzk_waiter_timed_out(cuzk_engine *engine, cuzk_waiter *waiter);

/* ---- intake.c, resolve.c --------------------------------------------------------------------- */

/** Start the way of a claim: its payload's memory is there (reserved_bytes, at least its bytes: the
 *  rest is given back) or is waited for; or it is refused at once. claim: handed over; bytes, kind,
 *  priority, request_id, and waiter with payload, or recovered. */
void cuzk_intake_admit(cuzk_engine *engine, cuzk_claim *claim, uint64_t reserved_bytes);
/** Free a claim, its hold on waiter or job and its payload, which is wiped: it may hold a private
 *  witness. */
void cuzk_claim_free(cuzk_engine *engine, cuzk_claim *claim);
/** The clerk's part of the end of a claim with a large payload. Gives the lock away meanwhile. */
void cuzk_claim_wipe(cuzk_engine *engine, cuzk_claim *claim);

enum { CUZK_WIPE_NOW_BYTES = 64 << 10 }; /* payloads up to this are wiped under the lock */
/** The end of a claim that gave no job of its own, or whose job has all it had: bytes go back. */
void cuzk_claim_end(cuzk_engine *engine, cuzk_claim *claim);
/** Tell its waiter that there will be no job, or fail its job; then end. */
void cuzk_claim_refuse(cuzk_engine *engine, cuzk_claim *claim, cuzk_status status,
                       const char *error);
/** Its payload came from the journal, or did not. payload: handed over. */
void cuzk_intake_loaded(cuzk_engine *engine, cuzk_claim *claim, cuzk_status status,
                        const char *error, void *payload, size_t n_bytes);
/** There is no memory for one that came from the journal, now: again in a while. */
void cuzk_intake_postpone(cuzk_engine *engine, cuzk_claim *claim);
/** Try again those that were postponed. */
void cuzk_intake_again(cuzk_engine *engine);
/** A decoder's stage; item: a cuzk_claim whose bytes are reserved. */
void cuzk_intake_decode(cuzk_thread *thread, void *item);
/** Grant the payloads' shares. */
void cuzk_intake_serve(cuzk_engine *engine);
/** Refuse all that has not reached a decoder. */
void cuzk_intake_refuse(cuzk_engine *engine);
/** The clerk's part of a reservation. Gives the lock away meanwhile. */
void cuzk_intake_call_reserved(cuzk_engine *engine, cuzk_claim *claim);

/* ---- job_record.c, job_table.c, jobs.c ------------------------------------------------------- */

/** A job with its units and strings, held once, not in the table. Without the lock. Errors:
 *  E_MEMORY. */
cuzk_status cuzk_job_new(cuzk_job **out, cuzk_engine *engine, const char *id,
                         const char *request_id, unsigned kind, unsigned priority, unsigned n_units,
                         cuzk_error *err) CUZK_WARN_UNUSED;
/** Bytes of a job's record. */
uint64_t cuzk_job_record_bytes(const cuzk_job *job);
void cuzk_job_unref(cuzk_engine *engine, cuzk_job *job);
cuzk_job *cuzk_job_find(const cuzk_engine *engine, const char *id);
/** Into the table and the list of unfinished jobs. */
void cuzk_job_enter(cuzk_engine *engine, cuzk_job *job);
/** Out of the list of unfinished jobs; the caller holds the job. */
void cuzk_job_unlink_live(cuzk_engine *engine, cuzk_job *job);
/** Out of the table: its id is free. */
void cuzk_job_forget(cuzk_engine *engine, cuzk_job *job);
/** Let its units begin. */
void cuzk_job_begin(cuzk_engine *engine, cuzk_job *job);
/** It is in the journal: count it and tell. */
void cuzk_job_accept(cuzk_engine *engine, cuzk_job *job);
/** It is not, and will not be. */
void cuzk_job_refuse(cuzk_engine *engine, cuzk_job *job, cuzk_status status, const char *error);
/** A unit begins. */
void cuzk_job_start(cuzk_engine *engine, cuzk_job *job);
/** Decide how a job ends, if that is not decided: journal, then close. error: handed over. */
void cuzk_job_end(cuzk_engine *engine, cuzk_job *job, cuzk_job_state state, cuzk_status status,
                  char *error);
/** Take its units out of everything. */
void cuzk_job_stop_units(cuzk_engine *engine, cuzk_job *job);
/** Free all jobs: no thread is left. */
void cuzk_jobs_free(cuzk_engine *engine);
/** A unit as the outside sees it. */
cuzk_unit_view cuzk_unit_look(const cuzk_unit *unit, uint64_t now_ns);
/** The end is on the disk, or need not be: tell. */
void cuzk_job_close(cuzk_engine *engine, cuzk_job *job);
/** Hold a job with its task and units: a unit that has begun, others that use them. */
void cuzk_job_hold(cuzk_job *job);
/** End the hold of a unit's or another's work on task and units. */
void cuzk_job_leave(cuzk_engine *engine, cuzk_job *job);
/** Free what an ended job needs no more, once nobody uses it. */
void cuzk_job_sweep_if_idle(cuzk_engine *engine, cuzk_job *job);
/** The clerk's part of freeing a large payload. Gives the lock away meanwhile. */
void cuzk_job_wipe(cuzk_engine *engine, cuzk_job *job);
/** The clerk's part of it. Gives the lock away meanwhile. */
void cuzk_job_sweep(cuzk_engine *engine, cuzk_job *job);
/** Nobody waits for it any more: if it is still queued it will be dropped. */
void cuzk_job_abandoned(cuzk_engine *engine, cuzk_job *job);
void cuzk_job_drop_abandoned(cuzk_engine *engine, cuzk_job *job);
/** Let ended jobs that are too old go from memory. */
void cuzk_jobs_expire(cuzk_engine *engine, uint64_t now_ns);
/** Put an ended job into the list of ended ones; the oldest leave it, where there are too many. */
void cuzk_job_keep(cuzk_engine *engine, cuzk_job *job);

/* ---- records.c, find.c, recover.c
 * -------------------------------------------------------------------- */

/** Ask the journal. Without one: as if it had answered. */
void cuzk_records_accept(cuzk_engine *engine, cuzk_job *job);
void cuzk_records_unit(cuzk_engine *engine, cuzk_unit *unit);
void cuzk_records_end(cuzk_engine *engine, cuzk_job *job);
/** Ask for the payload of an unfinished job; cuzk_intake_loaded follows. */
void cuzk_records_load(cuzk_engine *engine, cuzk_claim *claim);
void cuzk_records_drop(cuzk_engine *engine, cuzk_job *job);
/** Before a request to the journal; after it: what was refused at once; at the beginning of its
 *  answer, without the lock: whether it came from inside the request (then that is all); when the
 *  answer has been dealt with. The engine does not end before. */
void cuzk_records_ask(cuzk_engine *engine);
cuzk_status cuzk_records_asked(void);
bool cuzk_records_is_at_once(cuzk_status status);
void cuzk_records_answered(cuzk_engine *engine);

/** Whether the journal may have an ended job of this id that is not in memory. */
bool cuzk_records_may_have(const cuzk_engine *engine, const char *id);
/** Ask it for the job that a waiter waits for (job_id); a hold of the waiter is handed over,
 *  cuzk_waiter_found follows. */
void cuzk_records_find(cuzk_engine *engine, cuzk_waiter *waiter);
/** Ask it and wait for its answer; what it has is then in the table. Gives the lock away meanwhile.
 */
void cuzk_records_find_now(cuzk_engine *engine, const char *id);
/** Put an ended job of the journal into the table, unless its id is there. Errors: E_MEMORY. */
cuzk_status cuzk_records_take_back(cuzk_engine *engine, const cuzk_journal_entry *entry,
                                   cuzk_error *err);
/** Ask again for all that it did not take. */
void cuzk_records_again(cuzk_engine *engine);
/** Read it at the start. Without the lock, before any thread runs. */
cuzk_status cuzk_records_recover(cuzk_engine *engine, cuzk_error *err) CUZK_WARN_UNUSED;

/* ---- residents.c ----------------------------------------------------------------------------- */

/** The slot of a circuit; made if there is none. NULL: no memory. */
cuzk_slot *cuzk_slot_get(cuzk_engine *engine, const cuzk_work *work, unsigned kind,
                         const char *circuit, uint64_t bytes);
/** Have it loaded, at the place in the queue of what waits for it. */
void cuzk_slot_want(cuzk_engine *engine, cuzk_slot *slot);
/** The slot to load next, or NULL. Forgets those that nobody wants any more. */
cuzk_slot *cuzk_slots_first_load(cuzk_engine *engine);
/** Errors: E_MEMORY: a circuit's key and a unit of it can never have their bytes beside the kept
 *  residents; all numbers. */
cuzk_status cuzk_slots_check_room(const cuzk_engine *engine, const char *circuit,
                                  uint64_t key_bytes, uint64_t unit_bytes,
                                  cuzk_error *err) CUZK_WARN_UNUSED;
/** A slot that is WANTED can never be loaded: who waits for it fails. error: handed over. */
void cuzk_slot_refuse(cuzk_engine *engine, cuzk_slot *slot, cuzk_status status, char *error);
/** Start evictions that callers asked for. */
void cuzk_slots_serve_evictions(cuzk_engine *engine);
/** A user less. */
void cuzk_slot_leave(cuzk_engine *engine, cuzk_slot *slot);
/** Forget slots that hold nothing and that nobody needs. */
void cuzk_slots_reap(cuzk_engine *engine);
/** Start to evict idle residents, so that `bytes` become free in the work's share; nothing, where
 *  that many cannot. Not the kept ones; and where something is running and it is not CRITICAL, not
 *  those that were idle only for a short time. keep: not this one; may be NULL. */
void cuzk_slots_make_room(cuzk_engine *engine, uint64_t bytes, bool is_critical,
                          const cuzk_slot *keep);
/** A loader's stage; item: a slot that is LOADING or EVICTING. */
void cuzk_slot_run(cuzk_thread *thread, void *item);

/* ---- devices.c ------------------------------------------------------------------------------- */

/** Whether a unit's bytes on the device, resident included, are free or can be made so; with
 *  thread: take them, and note in it what is to be evicted. */
bool cuzk_device_fits(const cuzk_engine *engine, unsigned device, const cuzk_unit *unit);
/** The same with both numbers; 0 where it uses host memory. */
bool cuzk_device_room(const cuzk_engine *engine, unsigned device, const cuzk_unit *unit,
                      uint64_t *needed_bytes, uint64_t *room_bytes);
/** Whether its bytes are free now, without taking another resident off. */
bool cuzk_device_has_free(const cuzk_engine *engine, unsigned device, const cuzk_unit *unit);
void cuzk_device_take(cuzk_engine *engine, cuzk_thread *thread, cuzk_unit *unit);
/** A device worker's stage; item: a unit whose device bytes are taken, or the device, to tend it.
 */
void cuzk_device_run(cuzk_thread *thread, void *item);
/** Take off the thread's device what it was to take off. Gives the lock away meanwhile. */
void cuzk_device_run_evictions(cuzk_engine *engine, cuzk_thread *thread);
/** How urgent loops of the calling thread are in pools that it shares with others: by priority,
 *  then whoever holds a lane. Without the lock too. */
void cuzk_thread_urgency(unsigned priority, bool has_lane);
/** Wake a unit that waits for a lane, so that it sees that its job is stopped. */
void cuzk_lane_wake(cuzk_unit *unit);
/** Put a resident on all devices that have room. Without the lock. */
void cuzk_devices_warm(cuzk_engine *engine, cuzk_slot *slot);
/** Take a resident off all devices. Without the lock; nobody uses it. */
void cuzk_devices_cool(cuzk_engine *engine, cuzk_slot *slot);

/** The unit's part of the thread's device's memory ends, and the thread is without a unit. */
void cuzk_device_release(cuzk_engine *engine, cuzk_thread *thread);

/* ---- help.c ---------------------------------------------------------------------------------- */

/** A device worker's that is to make a part of another one's unit, whose device bytes are taken.
 *  Gives the lock away meanwhile. */
void cuzk_help_make(cuzk_thread *thread);

/* ---- place.c --------------------------------------------------------------------------------- */

/** Whether a device could ever take the unit, were nothing else on it. */
bool cuzk_device_is_able(const cuzk_device *device, const cuzk_unit *unit);
/** Put a unit aside, out of its queue, if devices are used and none of them is able to take it.
 *  False: that is not so. */
bool cuzk_device_strand(cuzk_engine *engine, cuzk_unit *unit);
/** Queue a unit that is ready and counted in n_ahead: for any device, or, where it was tried on one
 *  (else -1), for one of its own: another one than tried, if there is one; or put it aside. */
void cuzk_device_queue(cuzk_engine *engine, cuzk_unit *unit, int tried);
/** Queue all that are ready or stranded anew: other devices are used than before. */
void cuzk_devices_requeue(cuzk_engine *engine);
/** Give units to devices while any has a place. */
void cuzk_devices_serve(cuzk_engine *engine);
/** Threads of a device that have an item. */
unsigned cuzk_device_load(const cuzk_device *device);
/** The device that may make a part of a unit which is on another one; NULL: none. */
cuzk_device *cuzk_device_helper(cuzk_engine *engine, const cuzk_unit *unit);

/* ---- device_states.c ------------------------------------------------------------------------- */

/** A device that cannot be used when the engine is made, before there are threads. */
void cuzk_device_set_missing(cuzk_engine *engine, unsigned device, const char *why);
/** Once there are: tell of those, and have them tried again. */
void cuzk_devices_await_missing(cuzk_engine *engine);
/** Before and after using a device, or what is on it: enter waits while it is tended, and gives the
 *  lock away meanwhile. */
void cuzk_device_enter(cuzk_engine *engine, unsigned device);
void cuzk_device_leave(cuzk_engine *engine, unsigned device);
/** Have devices tended that nobody is inside any more. */
void cuzk_devices_tend(cuzk_engine *engine);
/** A device worker's: take everything off, and open it if it is to be used. Gives the lock away
 *  meanwhile. */
void cuzk_device_tend(cuzk_engine *engine, unsigned device);
/** Hold a fault against a device. True: it has been taken out now. */
bool cuzk_device_blame(cuzk_engine *engine, unsigned device, const char *why);
/** A device is lost: it is to be begun anew. Gives the lock away meanwhile. */
void cuzk_device_handle_loss(cuzk_engine *engine, unsigned device, const char *why);
/** Whether a device is used, or may be again. */
bool cuzk_devices_may_come(const cuzk_engine *engine);
/** A thread has left its device, which was lost (err; status OK: before the unit began): it is
 *  tended, and the unit goes back to the queue. Gives the lock away meanwhile. */
void cuzk_device_lost(cuzk_engine *engine, const cuzk_thread *thread, cuzk_unit *unit,
                      cuzk_error *err);

/* ---- wait.c ---------------------------------------------------------------------------------- */

/** What an unfinished job waits for; seen_id and seen_circuit of all must be set. */
cuzk_wait_view cuzk_job_wait(const cuzk_engine *engine, const cuzk_job *job);
/** What the first waits for of the payloads that wait to be taken in. */
cuzk_wait_view cuzk_intake_wait(const cuzk_engine *engine);

/* ---- stages.c -------------------------------------------------------------------------------- */

void cuzk_stage_witness(cuzk_thread *thread, void *item);
void cuzk_stage_finish(cuzk_thread *thread, void *item);
void cuzk_stage_verify(cuzk_thread *thread, void *item);
/** What a call of the work is given; the thread becomes as urgent as the unit. Without the lock. */
cuzk_work_call cuzk_stage_call(cuzk_unit *unit, cuzk_thread *thread);
/** Whether a unit's job is stopped. Without the lock too. */
bool cuzk_unit_is_stopped(const cuzk_unit *unit);
/** A unit whose job is stopped: free what it holds. Gives the lock away meanwhile. */
void cuzk_unit_discard(cuzk_engine *engine, cuzk_unit *unit);
/** Queue a unit for another proof of the same witness. Gives the lock away meanwhile. */
void cuzk_unit_again(cuzk_engine *engine, cuzk_unit *unit, const cuzk_error *err);
/** No device is left or will come: units that wait for another attempt have none, and their jobs
 *  fail. What has not been tried stays queued, and in the journal for a start with a better device.
 */
void cuzk_units_fail_tried(cuzk_engine *engine);
/** Hold a fault with a unit against a device. Gives the lock away meanwhile. */
void cuzk_unit_blame(cuzk_engine *engine, const cuzk_unit *unit, unsigned device, const char *why);
/** A stage failed: prove again, or fail the job. Gives the lock away meanwhile. */
void cuzk_unit_failed(cuzk_engine *engine, cuzk_unit *unit, const char *what, cuzk_error *err);

#endif
