/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Twice over the pieces: first their sums and how much they hold, so that every array is allocated
 * once and never beyond what the bytes can fill, then what is in them. */
#include "timeline/plain_text.h"
#include "timeline/recording.h"
#include "timeline/recording_bytes.h"
#include "timeline/sort.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The least bytes of a packed span: flags, name, thread, begin, duration. */
enum { SPAN_BYTES_MIN = 5 };

/* A piece's payload, read from the front. */
typedef struct {
    const uint8_t *start, *at, *end;
    uint64_t offset; /* of `start` in the recording */
    uint32_t type;
    bool is_short; /* something was not there */
} piece;

typedef struct {
    cuzk_recording *out;
    uint16_t names[UINT8_MAX + 1]; /* the file's number → ours, CUZK_SPAN_NAMES: unknown */
    size_t n_names;
    uint64_t room; /* spans that `spans` has room for */
} reading;

static uint64_t take_varint(piece *p)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (p->at == p->end) {
            break;
        }
        uint8_t byte = *p->at++;
        if (shift == 63 && byte > 1) {
            break;
        }
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            return v;
        }
    }
    p->is_short = true;
    return 0;
}

static uint8_t take_byte(piece *p)
{
    if (p->at == p->end) {
        p->is_short = true;
        return 0;
    }
    return *p->at++;
}

/* The next whole piece; false where the rest holds none. */
static bool next_piece(piece *p, const uint8_t *data, size_t n_bytes, size_t *at)
{
    if (n_bytes - *at < CUZK_PIECE_HEADER) {
        return false;
    }
    const uint8_t *header = data + *at;
    uint32_t n = cuzk_load_u32_le(header + 4);
    /* type 0: there is none; zeros are what a power loss leaves */
    if (cuzk_load_u32_le(header) == 0 || n > CUZK_PIECE_MAX ||
        n > n_bytes - *at - CUZK_PIECE_HEADER ||
        crc32(0, header + CUZK_PIECE_HEADER, n) != cuzk_load_u32_le(header + 8)) {
        return false;
    }
    *p = (piece){.start = header + CUZK_PIECE_HEADER,
                 .at = header + CUZK_PIECE_HEADER,
                 .end = header + CUZK_PIECE_HEADER + n,
                 .offset = *at + CUZK_PIECE_HEADER,
                 .type = cuzk_load_u32_le(header)};
    *at += CUZK_PIECE_HEADER + n;
    return true;
}

static cuzk_status bad(const piece *p, const char *what, cuzk_error *err)
{
    return CUZK_FAIL(err, CUZK_E_FORMAT, "recording: piece of type %u at offset %" PRIu64 ": %s",
                     p->type, p->offset - CUZK_PIECE_HEADER, what);
}

/* The most spans, and the highest numbers, of all pieces. */
static cuzk_status count(reading *r, piece *p, cuzk_error *err)
{
    bool has_number =
        p->type == CUZK_PIECE_SPANS || p->type == CUZK_PIECE_THREAD || p->type == CUZK_PIECE_TEXT;
    uint64_t number = has_number ? take_varint(p) : 0;
    uint64_t left = (uint64_t)(p->end - p->at);
    switch (p->type) {
    case CUZK_PIECE_SPANS:
        if (p->is_short || number > left / SPAN_BYTES_MIN) {
            return bad(p, "it cannot hold as many spans as it says", err);
        }
        r->room += number;
        break;
    case CUZK_PIECE_THREAD:
        if (p->is_short || number > UINT16_MAX) {
            return bad(p, "a thread's number is above 65535", err);
        }
        r->out->n_threads = number >= r->out->n_threads ? number + 1 : r->out->n_threads;
        break;
    case CUZK_PIECE_TEXT:
        if (p->is_short || number == 0 || number > UINT32_MAX) {
            return bad(p, "a text's number is not in 1 to 4294967295", err);
        }
        r->out->n_texts++; /* how many there are: they are found by number below */
        break;
    default:
        break;
    }
    return CUZK_OK;
}

static cuzk_status read_names(reading *r, piece *p, cuzk_error *err)
{
    r->n_names = 0;
    while (p->at < p->end) {
        const uint8_t *nul = memchr(p->at, 0, (size_t)(p->end - p->at));
        if (nul == NULL || r->n_names > UINT8_MAX) {
            return bad(p, nul == NULL ? "a name has no end" : "more than 256 names", err);
        }
        r->names[r->n_names++] =
            (uint16_t)cuzk_span_find((const char *)p->at, (size_t)(nul - p->at));
        p->at = nul + 1;
    }
    return CUZK_OK;
}

/* The rest of a piece as a label; NULs and what is too long are refused. */
static cuzk_status read_label(piece *p, char label[CUZK_RECORDING_LABEL], cuzk_error *err)
{
    size_t n = (size_t)(p->end - p->at);
    if (p->is_short || n >= CUZK_RECORDING_LABEL || memchr(p->at, 0, n) != NULL) {
        return bad(p, "a label is longer than 63 bytes, or has a NUL", err);
    }
    memset(label, 0, CUZK_RECORDING_LABEL);
    if (n > 0) {
        memcpy(label, p->at, n);
    }
    cuzk_plain_text(label);
    return CUZK_OK;
}

static cuzk_status read_string(piece *p, char **to, cuzk_error *err)
{
    size_t n = (size_t)(p->end - p->at);
    char *s = malloc(n + 1);
    if (s == NULL) {
        return CUZK_FAIL(err, CUZK_E_MEMORY,
                         "reading a recording's text of %zu bytes: out of memory", n);
    }
    if (n > 0) {
        memcpy(s, p->at, n);
    }
    s[n] = 0;
    cuzk_plain_text(s);
    free(*to);
    *to = s;
    return CUZK_OK;
}

static bool unpack(piece *p, cuzk_timespan *s, uint64_t *begin_ns, uint64_t *job)
{
    unsigned flags = take_byte(p);
    uint64_t name = take_varint(p);
    uint64_t thread = take_varint(p);
    *begin_ns += cuzk_unzigzag(take_varint(p));
    uint64_t ns = take_varint(p);
    *s = (cuzk_timespan){.begin_ns = *begin_ns, .unit = -1, .device = -1, .worker = -1};
    if (flags > CUZK_PACK_ALL || name > UINT8_MAX || thread > UINT16_MAX || *begin_ns > INT64_MAX ||
        ns > INT64_MAX - *begin_ns) {
        return false;
    }
    s->end_ns = *begin_ns + ns;
    s->name = (uint16_t)name;
    s->thread = (uint16_t)thread;
    if ((flags & CUZK_PACK_JOB) != 0) {
        *job += cuzk_unzigzag(take_varint(p));
        s->job = *job;
        s->kind = take_byte(p);
        s->priority = take_byte(p);
    }
    if ((flags & CUZK_PACK_UNIT) != 0) {
        uint64_t unit = take_varint(p);
        if (unit > INT16_MAX) {
            return false;
        }
        s->unit = (int16_t)unit;
    }
    if ((flags & CUZK_PACK_DEVICE) != 0) {
        s->device = (int8_t)take_byte(p);
        s->worker = (int8_t)take_byte(p);
        if (s->device < -1 || s->device >= CUZK_RECORDING_DEVICES || s->worker < -1) {
            return false;
        }
    }
    s->value = (flags & CUZK_PACK_VALUE) != 0 ? take_varint(p) : 0;
    uint64_t text = (flags & CUZK_PACK_TEXT) != 0 ? take_varint(p) : 0;
    s->text = (uint32_t)text;
    s->status = (flags & CUZK_PACK_STATUS) != 0 ? take_byte(p) : 0;
    return !p->is_short && text <= UINT32_MAX;
}

static cuzk_status read_spans(reading *r, piece *p, cuzk_error *err)
{
    cuzk_recording *out = r->out;
    uint64_t n = take_varint(p);
    uint64_t begin_ns = 0;
    uint64_t job = 0;
    for (uint64_t i = 0; i < n; i++) {
        cuzk_timespan s;
        if (!unpack(p, &s, &begin_ns, &job)) {
            cuzk_fail_at(err, CUZK_E_FORMAT, __FILE__, __LINE__,
                         "recording: span %" PRIu64 " of %" PRIu64
                         " of the piece at offset %" PRIu64
                         " is cut off or has a field out of its range",
                         i, n, p->offset - CUZK_PIECE_HEADER);
            return CUZK_E_FORMAT;
        }
        if (s.name >= r->n_names || r->names[s.name] == CUZK_SPAN_NAMES) {
            out->n_unknown++;
            continue;
        }
        s.name = r->names[s.name];
        if (s.device >= 0 && (size_t)s.device >= out->n_devices) {
            out->n_devices = (size_t)s.device + 1;
        }
        out->begin_ns =
            out->n_spans == 0 || s.begin_ns < out->begin_ns ? s.begin_ns : out->begin_ns;
        out->end_ns = s.end_ns > out->end_ns ? s.end_ns : out->end_ns;
        out->spans[out->n_spans++] = s;
    }
    return p->at == p->end ? CUZK_OK : bad(p, "bytes behind its last span", err);
}

/* Fields that a later version puts behind these are passed over. */
static cuzk_status read_machine(piece *p, cuzk_recording_machine *out, uint64_t work_bytes,
                                cuzk_error *err)
{
    uint64_t critical_bytes = take_varint(p);
    uint64_t counts[4];
    for (int i = 0; i < 4; i++) {
        counts[i] = take_varint(p);
        if (p->is_short || counts[i] > UINT16_MAX) {
            return bad(p, "a number of threads is cut off, or above 65535", err);
        }
    }
    *out = (cuzk_recording_machine){.work_bytes = work_bytes,
                                    .critical_bytes = critical_bytes,
                                    .n_witness = (unsigned)counts[0],
                                    .n_finishers = (unsigned)counts[1],
                                    .n_verifiers = (unsigned)counts[2],
                                    .witness_ahead = (unsigned)counts[3]};
    return CUZK_OK;
}

static cuzk_status read_piece(reading *r, piece *p, size_t *n_texts, cuzk_error *err)
{
    cuzk_recording *out = r->out;
    if (p->type == CUZK_PIECE_NAMES) {
        return read_names(r, p, err);
    }
    if (p->type == CUZK_PIECE_SPANS) {
        return read_spans(r, p, err);
    }
    if (p->type > CUZK_PIECE_MACHINE) { /* of a later version: says nothing to us */
        return CUZK_OK;
    }
    uint64_t number = take_varint(p);
    if (p->is_short) {
        return bad(p, "its number is cut off", err);
    }
    switch (p->type) {
    case CUZK_PIECE_KIND:
        if (number >= CUZK_RECORDING_KINDS) {
            return bad(p, "a kind's number is above 7", err);
        }
        return read_label(p, out->kinds[number], err);
    case CUZK_PIECE_DEVICE: {
        uint64_t n_workers = take_varint(p);
        if (number >= CUZK_RECORDING_DEVICES || n_workers > UINT8_MAX) {
            return bad(p, "a device's number is above 63, or its workers are above 255", err);
        }
        out->n_devices = number >= out->n_devices ? number + 1 : out->n_devices;
        out->devices[number].n_workers = (unsigned)n_workers;
        return read_label(p, out->devices[number].id, err);
    }
    case CUZK_PIECE_THREAD:
        return read_string(p, &out->threads[number], err);
    case CUZK_PIECE_TEXT: {
        cuzk_recording_string *t = &out->texts[*n_texts];
        t->number = (uint32_t)number;
        *n_texts += 1;
        return read_string(p, &t->s, err);
    }
    case CUZK_PIECE_LOST:
        out->n_lost = out->n_lost > UINT64_MAX - number ? UINT64_MAX : out->n_lost + number;
        return CUZK_OK;
    case CUZK_PIECE_MACHINE:
        return read_machine(p, &out->machine, number, err);
    default:
        return CUZK_OK;
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const cuzk_recording_string *)a)->number;
    uint32_t y = ((const cuzk_recording_string *)b)->number;
    return x < y ? -1 : x > y;
}

static cuzk_status allocate(reading *r, cuzk_error *err)
{
    cuzk_recording *out = r->out;
    /* one more: calloc of nothing may give NULL */
    out->spans = malloc((r->room + 1) * sizeof *out->spans);
    out->threads = calloc(out->n_threads + 1, sizeof *out->threads);
    out->texts = calloc(out->n_texts + 1, sizeof *out->texts);
    if (out->spans == NULL || out->threads == NULL || out->texts == NULL) {
        return CUZK_FAIL(err, CUZK_E_MEMORY,
                         "reading a recording of %" PRIu64 " spans: out of memory", r->room);
    }
    return CUZK_OK;
}

static cuzk_status read_all(reading *r, const cuzk_recording_part *parts, size_t n_parts,
                            cuzk_error *err)
{
    piece p;
    for (size_t i = 0; i < n_parts; i++) {
        size_t at = CUZK_RECORDING_HEADER;
        while (next_piece(&p, parts[i].data, parts[i].n_bytes, &at)) {
            CUZK_TRY(count(r, &p, err));
        }
        r->out->n_bytes_after += parts[i].n_bytes - at;
    }
    CUZK_TRY(allocate(r, err));
    size_t n_texts = 0;
    for (size_t i = 0; i < n_parts; i++) {
        size_t at = CUZK_RECORDING_HEADER;
        r->n_names = 0; /* each file has its own */
        while (next_piece(&p, parts[i].data, parts[i].n_bytes, &at)) {
            CUZK_TRY(read_piece(r, &p, &n_texts, err));
        }
    }
    qsort(r->out->texts, n_texts, sizeof *r->out->texts, by_number);
    return cuzk_spans_sort(r->out->spans, r->out->n_spans, err);
}

static cuzk_status check_header(const uint8_t *data, size_t n_bytes, cuzk_error *err)
{
    CUZK_FAIL_IF(n_bytes < CUZK_RECORDING_HEADER || memcmp(data, CUZK_RECORDING_MAGIC, 8) != 0, err,
                 CUZK_E_FORMAT, "no recording of cuzk: it does not begin with \"%s\" and a header",
                 CUZK_RECORDING_MAGIC);
    uint32_t version = cuzk_load_u32_le(data + 8);
    CUZK_FAIL_IF(version != CUZK_RECORDING_VERSION, err, CUZK_E_UNSUPPORTED,
                 "recording: version %u, this program reads version %d", version,
                 CUZK_RECORDING_VERSION);
    return CUZK_OK;
}

/* Numbers of jobs, threads and texts are those of a process: what another one wrote has others. */
static cuzk_status check_next(const uint8_t *data, const uint8_t *next, cuzk_error *err)
{
    uint32_t run = cuzk_load_u32_le(data + CUZK_RECORDING_RUN);
    uint32_t next_run = cuzk_load_u32_le(next + CUZK_RECORDING_RUN);
    CUZK_FAIL_IF(run == 0 || run != next_run, err, CUZK_E_ARGUMENT,
                 "they are not of one run (%08" PRIx32 " and %08" PRIx32
                 "): only what one process recorded goes on in another file",
                 run, next_run);
    CUZK_FAIL_IF(cuzk_load_u64_le(next + 24) <= cuzk_load_u64_le(data + 24), err, CUZK_E_ARGUMENT,
                 "the second began before the first: name them in their order (PATH.old PATH)");
    return CUZK_OK;
}

cuzk_status cuzk_recording_read_parts(cuzk_recording *out, const cuzk_recording_part *parts,
                                      size_t n_parts, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < n_parts; i++) {
        CUZK_TRY(check_header(parts[i].data, parts[i].n_bytes, err));
        if (i > 0) {
            CUZK_TRY(check_next(parts[i - 1].data, parts[i].data, err));
        }
    }
    out->wall_ns = cuzk_load_u64_le(parts[0].data + 16);
    out->host_ns = cuzk_load_u64_le(parts[0].data + 24);
    reading r = {.out = out};
    cuzk_status status = read_all(&r, parts, n_parts, err);
    if (status != CUZK_OK) {
        cuzk_recording_clear(out);
    }
    return status;
}

cuzk_status cuzk_recording_read(cuzk_recording *out, const uint8_t *data, size_t n_bytes,
                                cuzk_error *err)
{
    return cuzk_recording_read_parts(out, &(cuzk_recording_part){data, n_bytes}, 1, err);
}

const char *cuzk_recording_text(const cuzk_recording *recording, uint32_t number)
{
    cuzk_recording_string key = {.number = number};
    const cuzk_recording_string *found =
        number == 0 || recording->n_texts == 0
            ? NULL
            : bsearch(&key, recording->texts, recording->n_texts, sizeof key, by_number);
    return found != NULL ? found->s : NULL;
}
