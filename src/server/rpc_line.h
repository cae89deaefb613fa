/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls in line of a lane of the gate, by how their connections behave: those of a connection
 * whose messages did not come, again and again, stand behind those of others. So whoever opens any
 * number of streams and says nothing keeps others from a place only until one of his streams was
 * given up. All is under the gate's lock. */
#ifndef CUZK_SERVER_RPC_LINE_H
#define CUZK_SERVER_RPC_LINE_H

#include "server/rpc_gate.h"

enum { CUZK_LINE_LEVELS = 4, CUZK_LINE_BUCKETS = 512 };

/* Seats, the oldest first. */
typedef struct {
    cuzk_gate_seat *first, *last;
} cuzk_seats;

void cuzk_seats_append(cuzk_seats *seats, cuzk_gate_seat *seat);
void cuzk_seats_remove(cuzk_seats *seats, cuzk_gate_seat *seat);

/* A connection that has calls at the gate. */
struct cuzk_gate_peer {
    struct cuzk_gate_peer *next;
    cuzk_gate_seat *waiting; /* in any order */
    unsigned n_seats;        /* in line and receiving */
    unsigned n_lost;         /* messages of it that did not come */
    char name[64];
};

typedef struct {
    struct cuzk_gate_peer *buckets[CUZK_LINE_BUCKETS];
} cuzk_gate_peers;

/* All zero is an empty one. */
typedef struct {
    cuzk_seats levels[CUZK_LINE_LEVELS];
    unsigned n;
} cuzk_line;

/** Count a seat for its connection, by seat->peer; where memory is short it is counted for none. */
void cuzk_peers_enter(cuzk_gate_peers *peers, cuzk_gate_seat *seat);
/** It left the gate. */
void cuzk_peers_leave(cuzk_gate_peers *peers, cuzk_gate_seat *seat);
/** Free all records; no seat is looked at. */
void cuzk_peers_clear(cuzk_gate_peers *peers);
/** The seat's message did not come: what its connection has in line goes one level back. lines: of
 *  all lanes. */
void cuzk_peers_lost(cuzk_line *const lines[CUZK_GATE_LANES], const cuzk_gate_seat *seat);

void cuzk_line_add(cuzk_line *line, cuzk_gate_seat *seat);
void cuzk_line_remove(cuzk_line *line, cuzk_gate_seat *seat);

/** The seat that came first, of all levels; NULL: none. */
cuzk_gate_seat *cuzk_line_oldest(const cuzk_line *line);

#endif
