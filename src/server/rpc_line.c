/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/rpc_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cuzk_seats_append(cuzk_seats *seats, cuzk_gate_seat *seat)
{
    seat->next = NULL;
    seat->previous = seats->last;
    *(seats->last != NULL ? &seats->last->next : &seats->first) = seat;
    seats->last = seat;
}

void cuzk_seats_remove(cuzk_seats *seats, cuzk_gate_seat *seat)
{
    *(seat->previous != NULL ? &seat->previous->next : &seats->first) = seat->next;
    *(seat->next != NULL ? &seat->next->previous : &seats->last) = seat->previous;
    seat->previous = seat->next = NULL;
}

static struct cuzk_gate_peer **bucket_of(cuzk_gate_peers *peers, const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a: gRPC makes the names, no client does */
    for (const char *p = name; *p != '\0'; p++) {
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    }
    return &peers->buckets[hash % CUZK_LINE_BUCKETS];
}

void cuzk_peers_enter(cuzk_gate_peers *peers, cuzk_gate_seat *seat)
{
    struct cuzk_gate_peer **bucket = bucket_of(peers, seat->peer);
    struct cuzk_gate_peer *peer = *bucket;
    while (peer != NULL && strcmp(peer->name, seat->peer) != 0) {
        peer = peer->next;
    }
    if (peer == NULL) {
        peer = calloc(1, sizeof *peer);
        if (peer == NULL) {
            return;
        }
        snprintf(peer->name, sizeof peer->name, "%s", seat->peer);
        peer->next = *bucket;
        *bucket = peer;
    }
    peer->n_seats++;
    seat->connection = peer;
}

void cuzk_peers_leave(cuzk_gate_peers *peers, cuzk_gate_seat *seat)
{
    struct cuzk_gate_peer *peer = seat->connection;
    seat->connection = NULL;
    if (peer == NULL || --peer->n_seats > 0) {
        return;
    }
    struct cuzk_gate_peer **at = bucket_of(peers, peer->name);
    while (*at != peer) {
        at = &(*at)->next;
    }
    *at = peer->next;
    free(peer);
}

void cuzk_peers_clear(cuzk_gate_peers *peers)
{
    for (unsigned i = 0; i < CUZK_LINE_BUCKETS; i++) {
        while (peers->buckets[i] != NULL) {
            struct cuzk_gate_peer *peer = peers->buckets[i];
            peers->buckets[i] = peer->next;
            free(peer);
        }
    }
}

static cuzk_seats *level_of(cuzk_line *line, const cuzk_gate_seat *seat)
{
    return &line->levels[seat->level];
}

static unsigned level_now(const cuzk_gate_seat *seat)
{
    unsigned n = seat->connection != NULL ? seat->connection->n_lost : 0;
    return n < CUZK_LINE_LEVELS ? n : CUZK_LINE_LEVELS - 1;
}

void cuzk_peers_lost(cuzk_line *const lines[CUZK_GATE_LANES], const cuzk_gate_seat *seat)
{
    struct cuzk_gate_peer *peer = seat->connection;
    if (peer == NULL) {
        return;
    }
    peer->n_lost++;
    for (cuzk_gate_seat *s = peer->waiting; s != NULL; s = s->next_of_peer) {
        cuzk_seats_remove(level_of(lines[s->lane], s), s);
        s->level = level_now(s);
        cuzk_seats_append(level_of(lines[s->lane], s), s);
    }
}

void cuzk_line_add(cuzk_line *line, cuzk_gate_seat *seat)
{
    struct cuzk_gate_peer *peer = seat->connection;
    seat->level = level_now(seat);
    cuzk_seats_append(level_of(line, seat), seat);
    line->n++;
    if (peer != NULL) {
        seat->previous_of_peer = NULL;
        seat->next_of_peer = peer->waiting;
        if (peer->waiting != NULL) {
            peer->waiting->previous_of_peer = seat;
        }
        peer->waiting = seat;
    }
}

void cuzk_line_remove(cuzk_line *line, cuzk_gate_seat *seat)
{
    struct cuzk_gate_peer *peer = seat->connection;
    cuzk_seats_remove(level_of(line, seat), seat);
    line->n--;
    if (peer != NULL) {
        *(seat->previous_of_peer != NULL ? &seat->previous_of_peer->next_of_peer : &peer->waiting) =
            seat->next_of_peer;
        if (seat->next_of_peer != NULL) {
            seat->next_of_peer->previous_of_peer = seat->previous_of_peer;
        }
        seat->previous_of_peer = seat->next_of_peer = NULL;
    }
}

cuzk_gate_seat *cuzk_line_oldest(const cuzk_line *line)
{
    cuzk_gate_seat *oldest = NULL;
    for (unsigned i = 0; i < CUZK_LINE_LEVELS; i++) {
        cuzk_gate_seat *first = line->levels[i].first;
        if (first != NULL && (oldest == NULL || first->since_ns < oldest->since_ns)) {
            oldest = first;
        }
    }
    return oldest;
}
