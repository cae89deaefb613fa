/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The gate in front of receiving (rpc_gate.h). */
#include "server/rpc_gate.h"

#include "base/clock.h"
#include "server/rpc_internal.h"
#include "server/rpc_line.h"

#include <stdlib.h>
#include <string.h>

enum {
    FAIR_TURNS = 8,      /* in a slow lane one of so many is the oldest's, whoever it is of */
    SCAN_MAX = 256,      /* calls in line that are looked at for one that may start */
    YOUNG_NS = 50000000, /* a message that has just begun is not measured: most are there at once */
    MARGIN = 48 << 20,
    PATIENCE_MIN_NS = 1000000000, /* unless the whole patience is less */
    PACE = 256 << 10,             /* bytes with which a message goes on, and patience begins anew */
    /* small messages that wait for the engine do not keep a place from others, up to so many bytes;
     * they are reserved nowhere */
    SMALL_HELD_MAX = 16 << 20
};

/* PATIENCE_MIN_NS where nobody counts the bytes that come */
#define UNSEEN_NS 3000000000u

typedef struct {
    cuzk_line line;
    cuzk_seats receiving;
    unsigned n_receiving;
    uint64_t patience_ns;
    bool is_slow;      /* a message was given up, and since then somebody waits */
    bool takes_newest; /* whose turn is next: in a slow lane it changes */
    unsigned n_turns;  /* since it is slow */
} lane;

struct cuzk_gate {
    cuzk_engine *engine;
    uint64_t max_message;
    uint64_t limits[CUZK_GATE_LANES]; /* bytes of a message */
    unsigned small_places;
    bool (*measure)(void *user, const char *peer, uint64_t *bytes);
    void *measure_user;
    pthread_mutex_t lock; /* guards what follows, and waits (rpc_wait.c) */
    unsigned refs;
    lane lanes[CUZK_GATE_LANES];
    cuzk_gate_peers peers;
    uint64_t small_held;    /* bytes of small messages that the engine has not taken yet */
    uint64_t pool, charged; /* of the payload lane: bytes held from the engine; of them in use */
    unsigned n_asked, n_refused; /* reservations: not answered yet; that will never be */
    bool is_closed;
};

/* Where what a whole message holds is counted. */
static uint64_t *held(cuzk_gate *gate, uint64_t charge)
{
    return charge <= CUZK_GATE_SMALL_PAYLOAD ? &gate->small_held : &gate->charged;
}

static bool is_receiving(const lane *l, const char *peer)
{
    for (const cuzk_gate_seat *s = l->receiving.first; s != NULL; s = s->next) {
        if (strcmp(s->peer, peer) == 0) {
            return true;
        }
    }
    return false;
}

/* Take a call out of the line. Lock held. */
static void leave_line(lane *l, cuzk_gate_seat *seat)
{
    cuzk_line_remove(&l->line, seat);
    seat->state = CUZK_SEAT_NONE;
    if (l->line.n == 0) {
        l->is_slow = l->takes_newest = false;
        l->n_turns = 0;
    }
}

/* The same for one that is not to be received. Lock held. */
static void leave_gate(cuzk_gate *gate, cuzk_gate_seat *seat)
{
    leave_line(&gate->lanes[seat->lane], seat);
    cuzk_peers_leave(&gate->peers, seat);
}

/* The one in line whose turn it is. */
static cuzk_gate_seat *first_in_line(const lane *l)
{
    if (l->n_turns % FAIR_TURNS == FAIR_TURNS - 1) {
        return cuzk_line_oldest(&l->line);
    }
    for (unsigned i = 0; i < CUZK_LINE_LEVELS; i++) {
        const cuzk_seats *level = &l->line.levels[i];
        if (level->first != NULL) {
            return l->takes_newest ? level->last : level->first;
        }
    }
    return NULL;
}

/* One in line whose connection is not receiving: of those that behave best, SCAN_MAX are looked
 * at. */
static cuzk_gate_seat *first_of_idle(const lane *l)
{
    unsigned n = 0;
    for (unsigned i = 0; i < CUZK_LINE_LEVELS; i++) {
        const cuzk_seats *level = &l->line.levels[i];
        for (cuzk_gate_seat *s = l->takes_newest ? level->last : level->first;
             s != NULL && n < SCAN_MAX; s = l->takes_newest ? s->previous : s->next, n++) {
            if (!is_receiving(l, s->peer)) {
                return s;
            }
        }
    }
    return NULL;
}

/* The next call of a lane that may start, or NULL. Lock held. */
static cuzk_gate_seat *choose(const cuzk_gate *gate, const lane *l)
{
    cuzk_gate_seat *next = first_in_line(l);
    if (next == NULL || gate->is_closed) {
        return NULL;
    }
    if (l == &gate->lanes[CUZK_GATE_SMALL]) {
        return l->n_receiving < gate->small_places ? next : NULL;
    }
    uint64_t places = gate->pool / gate->max_message;
    uint64_t used = gate->charged;
    used += gate->small_held > SMALL_HELD_MAX ? gate->small_held - SMALL_HELD_MAX : 0;
    uint64_t left = used < gate->pool ? (gate->pool - used) / gate->max_message : 0;
    if (left == 0) {
        return NULL;
    }
    if (left > places / 4) {
        return next;
    }
    return first_of_idle(l);
}

/* Start all that may start. Takes the lock. */
static void pump(cuzk_gate *gate)
{
    for (;;) {
        cuzk_gate_seat *seat = NULL;
        pthread_mutex_lock(&gate->lock);
        for (int k = 0; k < CUZK_GATE_LANES && seat == NULL; k++) {
            lane *l = &gate->lanes[k];
            seat = choose(gate, l);
            if (seat != NULL) {
                l->takes_newest = l->is_slow && !l->takes_newest;
                l->n_turns += l->is_slow;
                leave_line(l, seat);
                cuzk_seats_append(&l->receiving, seat);
                l->n_receiving++;
                seat->state = CUZK_SEAT_RECEIVING;
                seat->since_ns = cuzk_now_ns();
                seat->moved_ns = 0;
                seat->is_given_up = false;
                seat->is_measured = false;
                seat->charge = k == CUZK_GATE_PAYLOAD ? gate->max_message : 0;
                gate->charged += seat->charge;
            }
        }
        pthread_mutex_unlock(&gate->lock);
        if (seat == NULL) {
            return;
        }
        cuzk_call_receive_now(seat->call);
    }
}

static void on_reserved(void *user, cuzk_status status, const char *error)
{
    (void)error;
    cuzk_gate *gate = user;
    pthread_mutex_lock(&gate->lock);
    gate->n_asked--;
    bool give_back = status == CUZK_OK && gate->is_closed;
    if (status != CUZK_OK) {
        gate->n_refused++;
    } else if (!gate->is_closed) {
        gate->pool += gate->max_message;
    }
    pthread_mutex_unlock(&gate->lock);
    if (give_back) {
        cuzk_engine_release(gate->engine, gate->max_message);
    } else {
        pump(gate);
    }
    cuzk_gate_unref(gate);
}

cuzk_status cuzk_gate_create(cuzk_gate **out, const cuzk_gate_options *options, cuzk_error *err)
{
    cuzk_gate *gate = calloc(1, sizeof *gate);
    CUZK_FAIL_IF(gate == NULL, err, CUZK_E_MEMORY, "out of memory");
    gate->engine = options->engine;
    gate->max_message = options->max_message;
    gate->small_places = options->small_places;
    gate->measure = options->measure;
    gate->measure_user = options->measure_user;
    gate->limits[CUZK_GATE_PAYLOAD] = options->max_message;
    gate->limits[CUZK_GATE_SMALL] = options->small_message;
    for (int k = 0; k < CUZK_GATE_LANES; k++) {
        gate->lanes[k].patience_ns = options->patience_ns[k];
    }
    pthread_mutex_init(&gate->lock, NULL);
    gate->refs = 1 + options->n_places;
    gate->n_asked = options->n_places;
    for (unsigned i = 0; i < options->n_places; i++) {
        cuzk_engine_reserve(gate->engine, gate->max_message, on_reserved, gate);
    }
    *out = gate;
    return CUZK_OK;
}

void cuzk_gate_ref(cuzk_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->refs++;
    pthread_mutex_unlock(&gate->lock);
}

void cuzk_gate_unref(cuzk_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    bool last = --gate->refs == 0;
    pthread_mutex_unlock(&gate->lock);
    if (last) {
        cuzk_peers_clear(&gate->peers);
        pthread_mutex_destroy(&gate->lock);
        free(gate);
    }
}

void cuzk_gate_close(cuzk_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    uint64_t pool = gate->is_closed ? 0 : gate->pool;
    gate->is_closed = true;
    pthread_mutex_unlock(&gate->lock);
    /* piece by piece, as they were reserved */
    for (; pool > 0; pool -= gate->max_message) {
        cuzk_engine_release(gate->engine, gate->max_message);
    }
}

bool cuzk_gate_enter(cuzk_gate *gate, cuzk_gate_seat *seat)
{
    pthread_mutex_lock(&gate->lock);
    bool never = seat->lane == CUZK_GATE_PAYLOAD && gate->pool == 0 && gate->n_asked == 0;
    if (!never) {
        lane *l = &gate->lanes[seat->lane];
        cuzk_peers_enter(&gate->peers, seat);
        cuzk_line_add(&l->line, seat);
        seat->state = CUZK_SEAT_WAITING;
        seat->since_ns = cuzk_now_ns();
    }
    pthread_mutex_unlock(&gate->lock);
    if (!never) {
        pump(gate);
    }
    return !never;
}

uint64_t cuzk_gate_received(cuzk_gate *gate, cuzk_gate_seat *seat, uint64_t size)
{
    pthread_mutex_lock(&gate->lock);
    lane *l = &gate->lanes[seat->lane];
    cuzk_seats_remove(&l->receiving, seat);
    l->n_receiving--;
    seat->state = CUZK_SEAT_NONE;
    uint64_t keeps = size < seat->charge ? size : seat->charge;
    gate->charged -= seat->charge;
    *held(gate, keeps) += keeps;
    seat->charge = 0;
    if (seat->is_given_up && size == 0) {
        cuzk_line *lines[CUZK_GATE_LANES];
        for (int k = 0; k < CUZK_GATE_LANES; k++) {
            lines[k] = &gate->lanes[k].line;
        }
        cuzk_peers_lost(lines, seat);
    }
    cuzk_peers_leave(&gate->peers, seat);
    bool is_awaited = l->line.n > 0;
    for (int k = 0; k < CUZK_GATE_LANES; k++) {
        for (cuzk_gate_seat *s = gate->lanes[k].receiving.first; s != NULL; s = s->next) {
            s->told_bytes += s->is_measured && strcmp(s->peer, seat->peer) == 0 ? size : 0;
        }
    }
    pthread_mutex_unlock(&gate->lock);
    if (is_awaited) {
        pump(gate);
    }
    return keeps;
}

void cuzk_gate_return(cuzk_gate *gate, uint64_t charge)
{
    if (charge == 0) {
        return;
    }
    pthread_mutex_lock(&gate->lock);
    *held(gate, charge) -= charge;
    bool is_awaited = gate->lanes[CUZK_GATE_PAYLOAD].line.n > 0;
    pthread_mutex_unlock(&gate->lock);
    if (is_awaited) {
        pump(gate);
    }
}

uint64_t cuzk_gate_hand_over(cuzk_gate *gate, uint64_t charge)
{
    pthread_mutex_lock(&gate->lock);
    bool gives = !gate->is_closed && gate->pool >= gate->max_message &&
                 gate->pool - gate->max_message >= gate->charged - charge;
    if (gives) {
        gate->pool -= gate->max_message;
        gate->charged -= charge;
        gate->n_asked++;
        gate->refs++;
    }
    pthread_mutex_unlock(&gate->lock);
    if (!gives) {
        return 0;
    }
    cuzk_engine_reserve(gate->engine, gate->max_message, on_reserved, gate);
    return gate->max_message;
}

bool cuzk_gate_forget(cuzk_gate *gate, cuzk_gate_seat *seat)
{
    pthread_mutex_lock(&gate->lock);
    bool is_waiting = seat->state == CUZK_SEAT_WAITING;
    if (is_waiting) {
        leave_gate(gate, seat);
    }
    pthread_mutex_unlock(&gate->lock);
    return is_waiting;
}

/* Whether the connection of a message has received more than all that is under way on it may be.
 * Notes whether it goes on. Lock held. */
static bool is_too_large(const cuzk_gate *gate, cuzk_gate_seat *seat, uint64_t now_ns)
{
    uint64_t bytes, allowed = 0;
    if (!seat->is_measured) {
        seat->told_bytes = 0;
        seat->is_measured = gate->measure(gate->measure_user, seat->peer, &seat->begin_bytes);
        seat->moved_bytes = seat->begin_bytes;
        return false;
    }
    if (!gate->measure(gate->measure_user, seat->peer, &bytes) || bytes < seat->begin_bytes) {
        return false;
    }
    if (bytes >= seat->moved_bytes + PACE) {
        seat->moved_bytes = bytes;
        seat->moved_ns = now_ns;
    }
    for (int k = 0; k < CUZK_GATE_LANES; k++) {
        for (const cuzk_gate_seat *s = gate->lanes[k].receiving.first; s != NULL; s = s->next) {
            allowed += strcmp(s->peer, seat->peer) == 0 ? gate->limits[k] : 0;
        }
    }
    /* frames, headers, and what calls in line may have sent ahead */
    allowed += allowed / 8 + MARGIN + seat->told_bytes;
    return bytes - seat->begin_bytes > allowed;
}

/* How long a message may take that does not go on: less, the more calls wait for the places.
 * Lock held. */
static uint64_t short_patience(const cuzk_gate *gate, const lane *l)
{
    bool is_small = l == &gate->lanes[CUZK_GATE_SMALL];
    uint64_t places = is_small ? gate->small_places : gate->pool / gate->max_message;
    places = places > 0 ? places : 1;
    uint64_t shrunk = l->patience_ns / (places + l->line.n) * places;
    uint64_t least = l->patience_ns < PATIENCE_MIN_NS ? l->patience_ns : PATIENCE_MIN_NS;
    return shrunk > least ? shrunk : least;
}

/* The oldest receive of a lane that has not gone on within the patience, or that has used up the
 * whole patience of the lane. Its call is the caller's to end. Lock held. */
static cuzk_gate_seat *give_up_one(lane *l, uint64_t patience, uint64_t now_ns)
{
    for (cuzk_gate_seat *s = l->receiving.first; s != NULL; s = s->next) {
        bool is_late = l->line.n > 0 && s->since_ns + l->patience_ns < now_ns;
        bool is_unseen = !s->is_measured && patience < UNSEEN_NS && l->patience_ns > UNSEEN_NS;
        uint64_t short_ns = is_unseen ? UNSEEN_NS : patience;
        is_late |= s->moved_ns != 0 && s->moved_ns + short_ns < now_ns;
        if (is_late && !s->is_given_up) {
            s->is_given_up = true; /* not to be chosen again while its stream is being closed */
            if (!l->is_slow && l->line.n > 0) {
                l->is_slow = l->takes_newest = true;
            }
            return s;
        }
    }
    return NULL;
}

/* A receive of a lane to be given up, with a reference; NULL: none. */
static struct cuzk_call *find_late(cuzk_gate *gate, lane *l, uint64_t now_ns)
{
    struct cuzk_call *late = NULL;
    pthread_mutex_lock(&gate->lock);
    cuzk_gate_seat *seat = l->line.n > 0 ? give_up_one(l, short_patience(gate, l), now_ns) : NULL;
    if (seat != NULL) {
        late = seat->call;
        cuzk_call_ref(late);
    }
    pthread_mutex_unlock(&gate->lock);
    return late;
}

/* The call that is in line for the longest time behind messages that do not come. Lock held. */
static cuzk_gate_seat *oldest_in_line(cuzk_gate *gate, bool of_payloads, uint64_t now_ns)
{
    cuzk_gate_seat *oldest = NULL;
    for (int k = of_payloads ? CUZK_GATE_PAYLOAD : CUZK_GATE_SMALL; k < CUZK_GATE_LANES; k++) {
        cuzk_gate_seat *first = cuzk_line_oldest(&gate->lanes[k].line);
        /* where messages come, those in line are probably there, too */
        if (gate->lanes[k].is_slow && first->since_ns + PATIENCE_MIN_NS < now_ns &&
            (oldest == NULL || first->since_ns < oldest->since_ns)) {
            oldest = first;
        }
    }
    return oldest;
}

struct cuzk_call *cuzk_gate_make_room(cuzk_gate *gate, bool of_payloads, uint64_t now_ns)
{
    lane *lanes = gate->lanes;
    pthread_mutex_lock(&gate->lock);
    cuzk_gate_seat *seat = give_up_one(&lanes[CUZK_GATE_SMALL], PATIENCE_MIN_NS, now_ns);
    cuzk_gate_seat *in_line = seat == NULL ? oldest_in_line(gate, of_payloads, now_ns) : NULL;
    if (in_line != NULL) {
        leave_gate(gate, in_line);
    } else if (seat == NULL && of_payloads) {
        seat = give_up_one(&lanes[CUZK_GATE_PAYLOAD], PATIENCE_MIN_NS, now_ns);
    }
    if (seat != NULL) {
        cuzk_call_ref(seat->call);
    } else {
        seat = in_line; /* with the reference that the line held */
    }
    pthread_mutex_unlock(&gate->lock);
    return seat != NULL ? seat->call : NULL;
}

static struct cuzk_call *find_large(cuzk_gate *gate, lane *l, uint64_t now_ns)
{
    struct cuzk_call *large = NULL;
    pthread_mutex_lock(&gate->lock);
    for (cuzk_gate_seat *s = l->receiving.first; s != NULL && large == NULL; s = s->next) {
        if (s->since_ns + YOUNG_NS >= now_ns) {
            continue;
        }
        s->moved_ns = s->moved_ns != 0 ? s->moved_ns : now_ns;
        if (is_too_large(gate, s, now_ns)) {
            s->since_ns = now_ns;
            s->is_measured = false;
            large = s->call;
            cuzk_call_ref(large);
        }
    }
    pthread_mutex_unlock(&gate->lock);
    return large;
}

static unsigned count_waiting(cuzk_gate *gate, int k)
{
    pthread_mutex_lock(&gate->lock);
    unsigned n = gate->lanes[k].line.n;
    pthread_mutex_unlock(&gate->lock);
    return n;
}

void cuzk_gate_tick(cuzk_gate *gate, uint64_t now_ns)
{
    for (int k = 0; k < CUZK_GATE_LANES; k++) {
        struct cuzk_call *call;
        /* first, for it notes which messages go on */
        while ((call = find_large(gate, &gate->lanes[k], now_ns)) != NULL) {
            cuzk_call_too_large(call, gate->limits[k]);
            cuzk_call_unref(call);
        }
        /* no more than are waited for; uploads one by one, for others may be about to end */
        unsigned n = k == CUZK_GATE_SMALL ? count_waiting(gate, k) : 1;
        while (n-- > 0 && (call = find_late(gate, &gate->lanes[k], now_ns)) != NULL) {
            cuzk_call_too_slow(call);
            cuzk_call_unref(call);
        }
    }
}

void cuzk_gate_look(cuzk_gate *gate, unsigned *receiving, unsigned *waiting, uint64_t *bytes)
{
    pthread_mutex_lock(&gate->lock);
    *receiving = gate->lanes[CUZK_GATE_PAYLOAD].n_receiving;
    *waiting = gate->lanes[CUZK_GATE_PAYLOAD].line.n;
    *bytes = gate->pool;
    pthread_mutex_unlock(&gate->lock);
}

pthread_mutex_t *cuzk_gate_lock(cuzk_gate *gate)
{
    return &gate->lock;
}
