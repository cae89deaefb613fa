/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "section_edit.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEADER = 12, SECTIONS_MAX = 128 };

typedef struct {
    uint64_t begin; /* of the section's header */
    uint64_t end;
    uint32_t id;
} place;

static void *allocate(uint64_t n)
{
    void *p = malloc(n);
    if (p == NULL) {
        abort();
    }
    return p;
}

edit_file edit_copy(const uint8_t *data, uint64_t n_bytes)
{
    edit_file f = {allocate(n_bytes + 1), n_bytes};
    memcpy(f.data, data, n_bytes);
    f.data[n_bytes] = 0;
    return f;
}

static int list(const edit_file *f, place *places)
{
    int n = (int)cuzk_load_u32_le(f->data + 8);
    uint64_t at = HEADER;
    if (n > SECTIONS_MAX) {
        abort();
    }
    for (int i = 0; i < n; i++) {
        places[i].begin = at;
        places[i].id = cuzk_load_u32_le(f->data + at);
        at += HEADER + cuzk_load_u64_le(f->data + at + 4);
        places[i].end = at;
    }
    return n;
}

static place find(const edit_file *f, uint32_t id)
{
    place places[SECTIONS_MAX];
    int n = list(f, places);
    for (int i = 0; i < n; i++) {
        if (places[i].id == id) {
            return places[i];
        }
    }
    fprintf(stderr, "no section %u\n", id);
    abort();
}

uint64_t edit_section_offset(const edit_file *f, uint32_t id)
{
    return find(f, id).begin + HEADER;
}

uint64_t edit_section_size(const edit_file *f, uint32_t id)
{
    place p = find(f, id);
    return p.end - p.begin - HEADER;
}

void edit_shuffle_sections(edit_file *f, uint32_t seed)
{
    place places[SECTIONS_MAX];
    int n = list(f, places);
    for (int i = n - 1; i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        int k = (int)((seed >> 8) % (uint32_t)(i + 1));
        place t = places[i];
        places[i] = places[k];
        places[k] = t;
    }
    edit_file out = edit_copy(f->data, f->size);
    uint64_t at = HEADER;
    for (int i = 0; i < n; i++) {
        uint64_t size = places[i].end - places[i].begin;
        memcpy(out.data + at, f->data + places[i].begin, size);
        at += size;
    }
    cuzk_test_fixture_free(f);
    *f = out;
}

/* Replaces the bytes [begin, end) by n_bytes new ones. */
static void splice(edit_file *f, uint64_t begin, uint64_t end, const void *bytes, uint64_t n_bytes)
{
    uint64_t size = begin + n_bytes + (f->size - end);
    uint8_t *data = allocate(size + 1);
    memcpy(data, f->data, begin);
    if (n_bytes > 0) {
        memcpy(data + begin, bytes, n_bytes);
    }
    memcpy(data + begin + n_bytes, f->data + end, f->size - end);
    data[size] = 0;
    free(f->data);
    *f = (edit_file){data, size};
}

void edit_remove_section(edit_file *f, uint32_t id)
{
    place p = find(f, id);
    splice(f, p.begin, p.end, NULL, 0);
    edit_put_u32(f, 8, edit_get_u32(f, 8) - 1);
}

void edit_append_section(edit_file *f, uint32_t id, const void *content, uint64_t n_bytes)
{
    uint8_t header[HEADER];
    cuzk_store_u32_le(header, id);
    cuzk_store_u64_le(header + 4, n_bytes);
    splice(f, f->size, f->size, header, HEADER);
    splice(f, f->size, f->size, content, n_bytes);
    edit_put_u32(f, 8, edit_get_u32(f, 8) + 1);
}

void edit_resize_section(edit_file *f, uint32_t id, uint64_t n_bytes)
{
    place p = find(f, id);
    uint64_t old = p.end - p.begin - HEADER;
    uint8_t *content = calloc(1, n_bytes + 1);
    if (content == NULL) {
        abort();
    }
    memcpy(content, f->data + p.begin + HEADER, old < n_bytes ? old : n_bytes);
    splice(f, p.begin + HEADER, p.end, content, n_bytes);
    free(content);
    edit_put_u64(f, p.begin + 4, n_bytes);
}

uint32_t edit_get_u32(const edit_file *f, uint64_t offset)
{
    return cuzk_load_u32_le(f->data + offset);
}

void edit_put_u32(edit_file *f, uint64_t offset, uint32_t value)
{
    cuzk_store_u32_le(f->data + offset, value);
}

void edit_put_u64(edit_file *f, uint64_t offset, uint64_t value)
{
    cuzk_store_u64_le(f->data + offset, value);
}
