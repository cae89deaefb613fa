/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The clerk tells the outside what happened, in the order in which it happened, and looks after
 * what comes with time. A caller's callbacks are thereby never under the lock, never two at once,
 * and a result never before its acceptance. It has a thread; but a hand that has something to tell
 * and finds nobody telling does it itself, which saves waking another one. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "engine/inner.h"

#include "base/clock.h"

#include <errno.h>

void cuzk_clerk_tell(cuzk_engine *engine, cuzk_notice *notice, cuzk_notice_kind kind)
{
    CUZK_ASSERT(!notice->is_queued);
    cuzk_notices *list = &engine->notices;
    *notice = (cuzk_notice){.prev = list->last, .kind = kind, .is_queued = true};
    if (list->last != NULL) {
        list->last->next = notice;
    } else {
        list->first = notice;
    }
    list->last = notice;
}

bool cuzk_clerk_untell(cuzk_engine *engine, cuzk_notice *notice)
{
    if (!notice->is_queued) {
        return false;
    }
    cuzk_notices *list = &engine->notices;
    *(notice->prev != NULL ? &notice->prev->next : &list->first) = notice->next;
    *(notice->next != NULL ? &notice->next->prev : &list->last) = notice->prev;
    notice->is_queued = false;
    return true;
}

void cuzk_timer_set(cuzk_engine *engine, cuzk_timer *timer, uint64_t when_ns)
{
    cuzk_timer_cancel(engine, timer);
    timer->order.seq = when_ns;
    cuzk_order_push(&engine->timers, &timer->order);
    if (cuzk_order_first(&engine->timers) == &timer->order) {
        pthread_cond_signal(&engine->clerk_wake);
    }
}

void cuzk_timer_cancel(cuzk_engine *engine, cuzk_timer *timer)
{
    if (timer->order.is_queued) {
        cuzk_order_remove(&engine->timers, &timer->order);
    }
}

void cuzk_timer_engine(cuzk_engine *engine, uint64_t when_ns)
{
    if (!engine->timer.order.is_queued || when_ns < engine->timer.order.seq) {
        cuzk_timer_set(engine, &engine->timer, when_ns);
    }
}

static void call_job(cuzk_engine *engine, cuzk_job *job, cuzk_event_id id)
{
    pthread_mutex_unlock(&engine->lock);
    cuzk_observe_job(engine, id, job);
    pthread_mutex_lock(&engine->lock);
    cuzk_job_unref(engine, job);
}

static void call_out(cuzk_engine *engine, cuzk_notice *notice)
{
    switch (notice->kind) {
    case CUZK_NOTICE_SUBMITTED:
        cuzk_waiter_call_submitted(engine, CUZK_OF(notice, cuzk_waiter, submitted));
        break;
    case CUZK_NOTICE_RESULT:
        cuzk_waiter_call_result(engine, CUZK_OF(notice, cuzk_waiter, result));
        break;
    case CUZK_NOTICE_RESERVED:
        cuzk_intake_call_reserved(engine, CUZK_OF(notice, cuzk_claim, notice));
        break;
    case CUZK_NOTICE_ACCEPTED:
        call_job(engine, CUZK_OF(notice, cuzk_job, accepted), CUZK_EVENT_ACCEPTED);
        break;
    case CUZK_NOTICE_ENDED:
        call_job(engine, CUZK_OF(notice, cuzk_job, ended), CUZK_EVENT_ENDED);
        break;
    case CUZK_NOTICE_SWEEP:
        cuzk_job_sweep(engine, CUZK_OF(notice, cuzk_job, sweep));
        break;
    case CUZK_NOTICE_PAYLOAD:
        cuzk_job_wipe(engine, CUZK_OF(notice, cuzk_job, wipe));
        break;
    case CUZK_NOTICE_CLAIM:
        cuzk_claim_wipe(engine, CUZK_OF(notice, cuzk_claim, notice));
        break;
    }
}

/* Tell the first notice, if there is one and nobody tells. Gives the lock away meanwhile. */
static bool tell_first(cuzk_engine *engine)
{
    cuzk_notice *notice = engine->notices.first;
    if (notice == NULL || engine->is_calling) {
        return false;
    }
    cuzk_clerk_untell(engine, notice);
    engine->is_calling = true;
    call_out(engine, notice);
    engine->is_calling = false;
    if (engine->is_draining && engine->notices.first == NULL) {
        pthread_cond_broadcast(&engine->quiet);
    }
    return true;
}

bool cuzk_clerk_stand_in(cuzk_engine *engine)
{
    /* a job's end makes three; a hand is not kept from its own work by what others have to tell */
    enum { AT_ONCE = 4 };
    unsigned n = 0;
    while (n < AT_ONCE && tell_first(engine)) {
        n++;
    }
    if (n > 0) {
        cuzk_clerk_remind(engine);
    }
    return n > 0;
}

void cuzk_clerk_remind(cuzk_engine *engine)
{
    if (!engine->is_calling && (engine->notices.first != NULL || engine->is_ended)) {
        pthread_cond_signal(&engine->clerk_wake);
    }
}

void cuzk_engine_step_out(cuzk_engine *engine)
{
    cuzk_clerk_remind(engine);
    pthread_mutex_unlock(&engine->lock);
}

static void run_timer(cuzk_engine *engine, cuzk_timer *timer, uint64_t now_ns)
{
    switch (timer->kind) {
    case CUZK_TIMER_AWAIT:
        cuzk_waiter_timed_out(engine, CUZK_OF(timer, cuzk_waiter, deadline));
        break;
    case CUZK_TIMER_ABANDON:
        cuzk_job_drop_abandoned(engine, CUZK_OF(timer, cuzk_job, abandon));
        break;
    case CUZK_TIMER_ENGINE:
        cuzk_jobs_expire(engine, now_ns);
        cuzk_records_again(engine);
        cuzk_intake_again(engine);
        break;
    }
}

/* The first timer if it is due. */
static cuzk_timer *due_timer(const cuzk_engine *engine, uint64_t now_ns)
{
    cuzk_order_node *node = cuzk_order_first(&engine->timers);
    return node != NULL && node->seq <= now_ns ? CUZK_OF(node, cuzk_timer, order) : NULL;
}

static void sleep_until_needed(cuzk_engine *engine)
{
    cuzk_order_node *node = cuzk_order_first(&engine->timers);
    if (node == NULL) {
        pthread_cond_wait(&engine->clerk_wake, &engine->lock);
        return;
    }
    struct timespec t = {.tv_sec = (time_t)(node->seq / 1000000000u),
                         .tv_nsec = (long)(node->seq % 1000000000u)};
    pthread_cond_timedwait(&engine->clerk_wake, &engine->lock, &t);
}

static void *run(void *arg)
{
    cuzk_engine *engine = (cuzk_engine *)arg;
    pthread_setname_np(pthread_self(), "clerk");
    cuzk_engine_lock(engine);
    for (;;) {
        bool told = tell_first(engine);
        if (!told && engine->is_ended && !engine->is_calling) {
            break;
        }
        uint64_t now_ns = cuzk_now_ns();
        cuzk_timer *timer = due_timer(engine, now_ns);
        if (timer != NULL) { /* in turn with notices, however many there are */
            cuzk_timer_cancel(engine, timer);
            run_timer(engine, timer, now_ns);
        }
        if (told || timer != NULL) {
            continue;
        }
        cuzk_schedule(engine);
        if (engine->notices.first == NULL || engine->is_calling) {
            sleep_until_needed(engine);
        }
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

cuzk_status cuzk_clerk_start(cuzk_engine *engine, cuzk_error *err)
{
    int rc = pthread_create(&engine->clerk, NULL, run, engine);
    CUZK_FAIL_IF(rc != 0, err, CUZK_E_MEMORY, "starting the engine's clerk thread: %s",
                 rc == EAGAIN ? "the system has no thread to give" : "refused");
    engine->has_clerk = true;
    return CUZK_OK;
}
