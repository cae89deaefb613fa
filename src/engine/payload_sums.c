/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "engine/payload_sums.h"

#include <string.h>

static void make(cuzk_payload_sum *p)
{
    p->sum = cuzk_store_sum_piece(p->seq, 0, p->payload, p->n_bytes);
}

/* With the mutex: p, which was asked for and not begun, out of the list. */
static void take(cuzk_payload_sums *sums, cuzk_payload_sum *p)
{
    cuzk_payload_sum **at = &sums->first;
    while (*at != p) {
        at = &(*at)->next;
    }
    *at = p->next;
    if (p->next == NULL) {
        sums->last = at;
    }
    p->state = CUZK_SUM_BEGUN;
}

static void *run(void *user)
{
    cuzk_payload_sums *sums = (cuzk_payload_sums *)user;
    pthread_mutex_lock(&sums->mutex);
    while (!sums->is_closing) {
        pthread_cond_wait(&sums->wake, &sums->mutex);
        while (sums->first != NULL && !sums->is_closing) {
            cuzk_payload_sum *p = sums->first;
            take(sums, p);
            pthread_mutex_unlock(&sums->mutex);
            make(p);
            pthread_mutex_lock(&sums->mutex);
            p->state = CUZK_SUM_MADE;
            pthread_cond_signal(&sums->made);
        }
    }
    pthread_mutex_unlock(&sums->mutex);
    return NULL;
}

cuzk_status cuzk_payload_sums_start(cuzk_payload_sums *sums, cuzk_error *err)
{
    *sums = (cuzk_payload_sums){.first = NULL};
    sums->last = &sums->first;
    pthread_mutex_init(&sums->mutex, NULL);
    pthread_cond_init(&sums->wake, NULL);
    pthread_cond_init(&sums->made, NULL);
    int rc = pthread_create(&sums->thread, NULL, run, sums);
    CUZK_FAIL_IF(rc != 0, err, CUZK_E_MEMORY, "starting the thread of its checksums: %s",
                 strerror(rc));
    return CUZK_OK;
}

void cuzk_payload_sums_stop(cuzk_payload_sums *sums)
{
    pthread_mutex_lock(&sums->mutex);
    sums->is_closing = true;
    pthread_cond_signal(&sums->wake);
    pthread_mutex_unlock(&sums->mutex);
    pthread_join(sums->thread, NULL);
    pthread_cond_destroy(&sums->made);
    pthread_cond_destroy(&sums->wake);
    pthread_mutex_destroy(&sums->mutex);
}

void cuzk_payload_sums_ask(cuzk_payload_sums *sums, cuzk_payload_sum *p, bool is_busy)
{
    pthread_mutex_lock(&sums->mutex);
    p->state = CUZK_SUM_ASKED;
    p->next = NULL;
    *sums->last = p;
    sums->last = &p->next;
    if (is_busy) {
        pthread_cond_signal(&sums->wake);
    }
    pthread_mutex_unlock(&sums->mutex);
}

/* With the mutex: wait until the thread has made what it has begun. */
static void await(cuzk_payload_sums *sums, const cuzk_payload_sum *p)
{
    while (p->state == CUZK_SUM_BEGUN) {
        pthread_cond_wait(&sums->made, &sums->mutex);
    }
}

cuzk_store_sum cuzk_payload_sums_get(cuzk_payload_sums *sums, cuzk_payload_sum *p)
{
    pthread_mutex_lock(&sums->mutex);
    if (p->state == CUZK_SUM_ASKED) {
        take(sums, p);
        if (sums->first != NULL) {
            pthread_cond_signal(&sums->wake); /* the next ones meanwhile */
        }
        pthread_mutex_unlock(&sums->mutex);
        make(p);
        pthread_mutex_lock(&sums->mutex);
        p->state = CUZK_SUM_MADE;
    }
    await(sums, p);
    pthread_mutex_unlock(&sums->mutex);
    return p->sum;
}

void cuzk_payload_sums_drop(cuzk_payload_sums *sums, cuzk_payload_sum *p)
{
    pthread_mutex_lock(&sums->mutex);
    if (p->state == CUZK_SUM_ASKED) {
        take(sums, p);
        p->state = CUZK_SUM_NONE;
    }
    await(sums, p);
    pthread_mutex_unlock(&sums->mutex);
}
