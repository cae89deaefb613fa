/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The hands: threads that run whatever the stages have, in the order in which it was given. One
 * that ends an item takes the next, tells what there is to tell, and only then sleeps; so a lone
 * job wakes one thread, not one a stage, and what waits for a hand that wakes up is taken by one
 * that is awake. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "engine/inner.h"

#include <errno.h>
#include <stdlib.h>

enum { LOADERS = 4 };

/* Wake hands, until as many are on their way as have to come. */
static void call(cuzk_engine *engine, unsigned n_needed)
{
    while (engine->n_called < n_needed && engine->idle_hands != NULL) {
        cuzk_hand *hand = engine->idle_hands;
        engine->idle_hands = hand->next_idle;
        hand->is_called = true;
        engine->n_called++;
        pthread_cond_signal(&hand->wake);
    }
}

void cuzk_hands_give(cuzk_thread *thread)
{
    cuzk_engine *engine = thread->engine;
    thread->next = NULL;
    *(engine->given != NULL ? &engine->given_last->next : &engine->given) = thread;
    engine->given_last = thread;
    engine->n_given++;
    if (!engine->is_looking) {
        call(engine, engine->n_given);
    }
}

void cuzk_hands_place(const cuzk_engine *engine, int device, int maker)
{
    const cuzk_engine_options *o = &engine->options;
    if (o->place != NULL) {
        o->place(o->place_user, device, maker);
    }
}

static cuzk_thread *take(cuzk_engine *engine)
{
    cuzk_thread *thread = engine->given;
    if (thread != NULL) {
        engine->given = thread->next;
        engine->n_given--;
    }
    return thread;
}

/* See what there is to do; for the first of it nobody is woken, since this hand takes it. */
static void look(cuzk_engine *engine)
{
    engine->is_looking = true;
    cuzk_schedule(engine);
    engine->is_looking = false;
    if (engine->n_given > 0) {
        call(engine, engine->n_given - 1);
    }
    if (engine->is_draining) { /* or stopping, which drains too */
        pthread_cond_broadcast(&engine->quiet);
    }
}

static void sleep_until_called(cuzk_engine *engine, cuzk_hand *hand)
{
    hand->next_idle = engine->idle_hands;
    engine->idle_hands = hand;
    while (!hand->is_called && !engine->is_ended) {
        pthread_cond_wait(&hand->wake, &engine->lock);
    }
    engine->n_called -= hand->is_called;
    hand->is_called = false;
}

/* Wait for the next item. What there is to tell is told before. NULL: the engine has ended. */
static cuzk_thread *next_thread(cuzk_engine *engine, cuzk_hand *hand)
{
    for (;;) {
        look(engine);
        bool told = cuzk_clerk_stand_in(engine);
        if (told) {
            look(engine); /* it may have given memory back, and the lock was */
        }
        cuzk_thread *thread = take(engine);
        if (thread != NULL) {
            return thread;
        }
        if (!told && engine->is_ended) {
            return NULL;
        }
        if (!told) {
            sleep_until_called(engine, hand);
        }
    }
}

static void stand_ready(cuzk_thread *thread)
{
    thread->next = thread->stage->idle;
    thread->stage->idle = thread;
}

static void *run_hand(void *arg)
{
    cuzk_hand *hand = (cuzk_hand *)arg;
    cuzk_engine *engine = hand->engine;
    const char *name = NULL;
    cuzk_engine_lock(engine);
    /* with each hand a thread comes: there is a hand for every item */
    stand_ready(&engine->threads[hand - engine->hands]);
    for (cuzk_thread *thread = next_thread(engine, hand); thread != NULL;
         thread = next_thread(engine, hand)) {
        if (name != thread->stage->name) {
            name = thread->stage->name;
            pthread_setname_np(pthread_self(), name);
        }
        void *item = thread->item;
        thread->item = NULL;
        thread->stage->run(thread, item);
        thread->stage->n_busy--;
        stand_ready(thread);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

static cuzk_status start_threads(cuzk_engine *engine, cuzk_stage *stage, unsigned n_threads,
                                 const char *name, void (*run)(cuzk_thread *, void *),
                                 unsigned device, unsigned first_worker, cuzk_error *err)
{
    stage->name = name;
    stage->run = run;
    for (unsigned i = 0; i < n_threads; i++) {
        cuzk_thread *thread = &engine->threads[engine->n_threads];
        cuzk_hand *hand = &engine->hands[engine->n_threads];
        *thread = (cuzk_thread){
            .engine = engine, .stage = stage, .device = device, .worker = first_worker + i};
        hand->engine = engine;
        pthread_cond_init(&hand->wake, NULL);
        pthread_cond_init(&thread->lane_wake, NULL);
        int rc = pthread_create(&hand->id, NULL, run_hand, hand);
        if (rc != 0) {
            pthread_cond_destroy(&hand->wake);
            pthread_cond_destroy(&thread->lane_wake);
            return CUZK_FAIL(err, CUZK_E_MEMORY, "starting thread %u of the engine: %s",
                             engine->n_threads,
                             rc == EAGAIN ? "the system has no thread to give" : "refused");
        }
        engine->n_threads++;
    }
    return CUZK_OK;
}

static unsigned count_threads(const cuzk_engine_options *options)
{
    unsigned n = options->n_decoders + options->n_witness + options->n_finishers +
                 options->n_verifiers + LOADERS;
    for (unsigned d = 0; d < options->n_devices; d++) {
        n += options->devices[d].n_workers + 1;
    }
    return n;
}

void cuzk_hands_size(cuzk_engine *engine)
{
    const cuzk_engine_options *options = &engine->options;
    engine->decoders.n_threads = options->n_decoders;
    engine->makers.n_threads = options->n_witness;
    engine->finishers.n_threads = options->n_finishers;
    engine->verifiers.n_threads = options->n_verifiers;
    engine->loaders.n_threads = LOADERS;
    for (unsigned d = 0; d < options->n_devices; d++) {
        engine->devices[d].workers.n_threads = options->devices[d].n_workers;
        engine->devices[d].express.n_threads = 1;
    }
}

cuzk_status cuzk_hands_start(cuzk_engine *engine, cuzk_error *err)
{
    const cuzk_engine_options *options = &engine->options;
    unsigned n = count_threads(options);
    engine->threads = calloc(n, sizeof *engine->threads);
    engine->hands = calloc(n, sizeof *engine->hands);
    CUZK_FAIL_IF(engine->threads == NULL || engine->hands == NULL, err, CUZK_E_MEMORY,
                 "no memory for %u threads", n);
    CUZK_TRY(cuzk_clerk_start(engine, err));
    CUZK_TRY(start_threads(engine, &engine->decoders, options->n_decoders, "decode",
                           cuzk_intake_decode, 0, 0, err));
    CUZK_TRY(start_threads(engine, &engine->makers, options->n_witness, "witness",
                           cuzk_stage_witness, 0, 0, err));
    CUZK_TRY(start_threads(engine, &engine->finishers, options->n_finishers, "finish",
                           cuzk_stage_finish, 0, 0, err));
    CUZK_TRY(start_threads(engine, &engine->verifiers, options->n_verifiers, "verify",
                           cuzk_stage_verify, 0, 0, err));
    CUZK_TRY(start_threads(engine, &engine->loaders, LOADERS, "load", cuzk_slot_run, 0, 0, err));
    for (unsigned d = 0; d < options->n_devices; d++) {
        cuzk_device *device = &engine->devices[d];
        unsigned n_workers = options->devices[d].n_workers;
        CUZK_TRY(start_threads(engine, &device->workers, n_workers, "device", cuzk_device_run, d, 0,
                               err));
        CUZK_TRY(start_threads(engine, &device->express, 1, "reserve", cuzk_device_run, d,
                               n_workers, err));
    }
    return CUZK_OK;
}

void cuzk_hands_join(cuzk_engine *engine)
{
    cuzk_engine_lock(engine);
    engine->is_ended = true;
    for (unsigned i = 0; i < engine->n_threads; i++) {
        pthread_cond_signal(&engine->hands[i].wake);
    }
    pthread_cond_signal(&engine->clerk_wake);
    pthread_mutex_unlock(&engine->lock);
    for (unsigned i = 0; i < engine->n_threads; i++) {
        pthread_join(engine->hands[i].id, NULL);
        pthread_cond_destroy(&engine->hands[i].wake);
        pthread_cond_destroy(&engine->threads[i].lane_wake);
    }
    if (engine->has_clerk) {
        pthread_join(engine->clerk, NULL);
    }
}
