/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The gate in front of receiving. gRPC tells a message's size only when it is there, so each
 * receive holds memory for the largest one from before it begins; what is more than the message is
 * given back when it has come, the rest when the engine has the payload in its own books.
 *
 * The memory is reserved from the engine in places of one largest message. A large payload takes
 * its place along into the engine, and another one is reserved; a small one leaves it to the next
 * call and is reserved by the engine itself, which then knows its priority. Calls take turns in the
 * order in which they came, but for two rules that keep a small message from waiting behind
 * uploads: a connection that is receiving already does not get the last quarter of the places, and
 * while somebody waits, a message that takes longer than the patience of its lane is given up.
 * Patience shrinks with the number of those who wait, though not for messages that go on; and
 * once a message was given up, its connection stands behind the others, and every other turn is the
 * last one's in line, so that no number of silent calls keeps others waiting for more than a few
 * turns; every eighth turn is the oldest call's, whoever it is of. Methods with small requests have
 * a lane of their own.
 *
 * A gate counts its users (the server, and waits that the engine still knows) and ends with the
 * last. Thread-safe. */
#ifndef CUZK_SERVER_RPC_GATE_H
#define CUZK_SERVER_RPC_GATE_H

#include "engine/engine.h"

#include <pthread.h>

typedef struct cuzk_gate cuzk_gate;
struct cuzk_call;

enum { CUZK_GATE_SMALL_PAYLOAD = 1 << 20 }; /* bytes of what counts as small: most PoSts do */

typedef enum { CUZK_GATE_PAYLOAD, CUZK_GATE_SMALL, CUZK_GATE_LANES } cuzk_gate_lane;

/* A call's place: in line, receiving, or neither. Belongs to the gate. */
typedef struct cuzk_gate_seat {
    struct cuzk_call *call;
    cuzk_gate_lane lane;
    enum { CUZK_SEAT_NONE, CUZK_SEAT_WAITING, CUZK_SEAT_RECEIVING } state;
    uint64_t since_ns; /* in line or receiving */
    uint64_t moved_ns; /* when the ticker saw it begin, or go on; 0: not yet */
    uint64_t charge;
    bool is_given_up;     /* its receive is about to end */
    char peer[64];        /* the connection */
    bool is_measured;     /* what follows is known */
    uint64_t begin_bytes; /* that the connection had received when this message began */
    uint64_t moved_bytes; /* … at moved_ns */
    uint64_t told_bytes;  /* of them since then in messages that have come whole */
    struct cuzk_gate_seat *previous, *next;
    struct cuzk_gate_peer *connection; /* its record while it is at the gate; NULL: none */
    struct cuzk_gate_seat *previous_of_peer, *next_of_peer; /* in line */
    unsigned level;                                         /* of the line */
} cuzk_gate_seat;

typedef struct {
    cuzk_engine *engine;
    uint64_t max_message;
    unsigned n_places; /* of the payload lane */
    uint64_t patience_ns[CUZK_GATE_LANES];
    uint64_t small_message; /* bytes of a message in the small lane, at most */
    unsigned small_places;
    /* Bytes that the connection of a peer has received so far; false: nobody counts them. */
    bool (*measure)(void *user, const char *peer, uint64_t *bytes);
    void *measure_user; /* alive until cuzk_gate_close */
} cuzk_gate_options;

cuzk_status cuzk_gate_create(cuzk_gate **out, const cuzk_gate_options *options,
                             cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_gate_ref(cuzk_gate *gate);
void cuzk_gate_unref(cuzk_gate *gate);

/** No more receives: memory goes back to the engine. Calls still in line are left alone. */
void cuzk_gate_close(cuzk_gate *gate);

/** Get in line; cuzk_call_receive_now is called when it is the call's turn, maybe at once. The
 *  caller's reference of the call is lent until cuzk_gate_received or cuzk_gate_forget. False: the
 *  engine will never have memory for a largest message, and the call is not in line. */
bool cuzk_gate_enter(cuzk_gate *gate, cuzk_gate_seat *seat);

/** The message is there, or will not come (size 0). Returned: what it holds of the gate's memory,
 * for cuzk_gate_return. */
uint64_t cuzk_gate_received(cuzk_gate *gate, cuzk_gate_seat *seat, uint64_t size);

/** Memory that a message held is free again. */
void cuzk_gate_return(cuzk_gate *gate, uint64_t charge);

/** The memory of a whole place for a message that was received, to hand to the engine with the
 * payload; the gate reserves another one. charge: what the message holds; it is given up. 0: the
 * place is needed for others, and the message goes on holding its charge. */
uint64_t cuzk_gate_hand_over(cuzk_gate *gate, uint64_t charge);

/** A call that shall end to make place for another one, where a server has as many calls as it may:
 * one whose message does not come, or else the one that is in line for the longest time, a second
 * or more, behind such messages. of_payloads: of the payload lane, too. Never one whose message was
 * received. Returned: with a reference of the caller's, out of the line; NULL: none. */
struct cuzk_call *cuzk_gate_make_room(cuzk_gate *gate, bool of_payloads, uint64_t now_ns);

/** Leave the line. True: it was in it, and will not be called. */
bool cuzk_gate_forget(cuzk_gate *gate, cuzk_gate_seat *seat);

/** Give up receives that took too long, or are too large. Called by one thread, ten times a second.
 */
void cuzk_gate_tick(cuzk_gate *gate, uint64_t now_ns);

void cuzk_gate_look(cuzk_gate *gate, unsigned *receiving, unsigned *waiting, uint64_t *bytes);

/** The lock that waits (rpc_wait.c) share with the gate. */
pthread_mutex_t *cuzk_gate_lock(cuzk_gate *gate);

#endif
