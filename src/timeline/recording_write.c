/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/recording.h"
#include "timeline/recording_bytes.h"

#include "base/bytes.h"

#include <string.h>
#include <zlib.h>

enum {
    PACKED_MAX = 64, /* of a span: four varints of 64 bits, one of 32, three of 16, six bytes: 60 */
    BATCH = 64       /* spans that room is made for at once */
};

static void put_u32(cuzk_text *text, uint32_t v)
{
    uint8_t b[4];
    cuzk_store_u32_le(b, v);
    cuzk_text_put_bytes(text, (const char *)b, sizeof b);
}

static void put_u64(cuzk_text *text, uint64_t v)
{
    uint8_t b[8];
    cuzk_store_u64_le(b, v);
    cuzk_text_put_bytes(text, (const char *)b, sizeof b);
}

static size_t varint(uint8_t *to, uint64_t v)
{
    size_t n = 0;
    for (; v >= 128; v >>= 7) {
        to[n++] = (uint8_t)(v | 128);
    }
    to[n++] = (uint8_t)v;
    return n;
}

/* Begin a piece; returns where its header is. */
static size_t begin(cuzk_text *text, cuzk_recording_piece type)
{
    size_t at = text->size;
    put_u32(text, type);
    put_u64(text, 0);
    return at;
}

static void end(cuzk_text *text, size_t at)
{
    if (text->failed) {
        return;
    }
    uint8_t *header = (uint8_t *)text->data + at;
    size_t n = text->size - at - CUZK_PIECE_HEADER;
    cuzk_store_u32_le(header + 4, (uint32_t)n);
    cuzk_store_u32_le(header + 8, (uint32_t)crc32(0, header + CUZK_PIECE_HEADER, (uInt)n));
}

static void put_varint(cuzk_text *text, uint64_t v)
{
    uint8_t b[10];
    cuzk_text_put_bytes(text, (const char *)b, varint(b, v));
}

static void put_named(cuzk_text *text, cuzk_recording_piece type, uint64_t number, const char *s,
                      size_t n_bytes)
{
    size_t at = begin(text, type);
    put_varint(text, number);
    cuzk_text_put_bytes(text, s, n_bytes);
    end(text, at);
}

void cuzk_recording_put_start(cuzk_text *text, uint64_t wall_ns, uint64_t host_ns)
{
    cuzk_text_put_bytes(text, CUZK_RECORDING_MAGIC, 8);
    put_u32(text, CUZK_RECORDING_VERSION);
    put_u32(text, 0);
    put_u64(text, wall_ns);
    put_u64(text, host_ns);
    size_t at = begin(text, CUZK_PIECE_NAMES);
    for (size_t i = 0; i < CUZK_SPAN_NAMES; i++) {
        const char *name = cuzk_span_about_of((cuzk_span_name)i)->name;
        cuzk_text_put_bytes(text, name, strlen(name) + 1);
    }
    end(text, at);
}

void cuzk_recording_set_run(cuzk_text *text, uint32_t run)
{
    if (!text->failed) {
        cuzk_store_u32_le((uint8_t *)text->data + CUZK_RECORDING_RUN, run);
    }
}

void cuzk_recording_put_kind(cuzk_text *text, uint8_t kind, const char *label)
{
    put_named(text, CUZK_PIECE_KIND, kind, label, strnlen(label, CUZK_RECORDING_LABEL - 1));
}

void cuzk_recording_put_device(cuzk_text *text, uint8_t device, uint8_t n_workers, const char *id)
{
    size_t at = begin(text, CUZK_PIECE_DEVICE);
    put_varint(text, device);
    put_varint(text, n_workers);
    cuzk_text_put_bytes(text, id, strnlen(id, CUZK_RECORDING_LABEL - 1));
    end(text, at);
}

void cuzk_recording_put_thread(cuzk_text *text, uint16_t thread, const char *name)
{
    put_named(text, CUZK_PIECE_THREAD, thread, name, strnlen(name, CUZK_RECORDING_LABEL - 1));
}

void cuzk_recording_put_text(cuzk_text *text, uint32_t number, const char *s, size_t n_bytes)
{
    put_named(text, CUZK_PIECE_TEXT, number, s, n_bytes);
}

void cuzk_recording_put_lost(cuzk_text *text, uint64_t n_spans)
{
    put_named(text, CUZK_PIECE_LOST, n_spans, "", 0);
}

void cuzk_recording_put_machine(cuzk_text *text, const cuzk_recording_machine *machine)
{
    size_t at = begin(text, CUZK_PIECE_MACHINE);
    put_varint(text, machine->work_bytes);
    put_varint(text, machine->critical_bytes);
    put_varint(text, machine->n_witness);
    put_varint(text, machine->n_finishers);
    put_varint(text, machine->n_verifiers);
    put_varint(text, machine->witness_ahead);
    end(text, at);
}

static bool is_of_job(const cuzk_timespan *s)
{
    return s->job != 0 || s->kind != 0 || s->priority != 0;
}

/* At most PACKED_MAX bytes. */
static size_t pack(uint8_t *to, const cuzk_timespan *s, const cuzk_timespan *last)
{
    unsigned flags = (is_of_job(s) ? CUZK_PACK_JOB : 0) | (s->unit != -1 ? CUZK_PACK_UNIT : 0) |
                     (s->device != -1 || s->worker != -1 ? CUZK_PACK_DEVICE : 0) |
                     (s->value != 0 ? CUZK_PACK_VALUE : 0) | (s->text != 0 ? CUZK_PACK_TEXT : 0) |
                     (s->status != 0 ? CUZK_PACK_STATUS : 0);
    uint8_t *p = to;
    *p++ = (uint8_t)flags;
    p += varint(p, s->name);
    p += varint(p, s->thread);
    p += varint(p, cuzk_zigzag(s->begin_ns - last->begin_ns));
    p += varint(p, s->end_ns - s->begin_ns);
    if ((flags & CUZK_PACK_JOB) != 0) {
        p += varint(p, cuzk_zigzag(s->job - last->job));
        *p++ = s->kind;
        *p++ = s->priority;
    }
    if ((flags & CUZK_PACK_UNIT) != 0) {
        p += varint(p, (uint16_t)s->unit);
    }
    if ((flags & CUZK_PACK_DEVICE) != 0) {
        *p++ = (uint8_t)s->device;
        *p++ = (uint8_t)s->worker;
    }
    if ((flags & CUZK_PACK_VALUE) != 0) {
        p += varint(p, s->value);
    }
    if ((flags & CUZK_PACK_TEXT) != 0) {
        p += varint(p, s->text);
    }
    if ((flags & CUZK_PACK_STATUS) != 0) {
        *p++ = s->status;
    }
    return (size_t)(p - to);
}

void cuzk_recording_put_spans(cuzk_text *text, const cuzk_timespan *spans, size_t n)
{
    size_t at = begin(text, CUZK_PIECE_SPANS);
    put_varint(text, n);
    cuzk_timespan last = {0};
    for (size_t i = 0; i < n;) {
        size_t n_batch = n - i < BATCH ? n - i : BATCH;
        uint8_t *to = (uint8_t *)cuzk_text_room(text, n_batch * PACKED_MAX);
        if (to == NULL) {
            return;
        }
        uint8_t *p = to;
        for (; n_batch > 0; n_batch--, i++) {
            p += pack(p, &spans[i], &last);
            last.begin_ns = spans[i].begin_ns;
            if (is_of_job(&spans[i])) {
                last.job = spans[i].job;
            }
        }
        text->size += (size_t)(p - to);
    }
    cuzk_text_put_bytes(text, NULL, 0); /* the NUL */
    end(text, at);
}
