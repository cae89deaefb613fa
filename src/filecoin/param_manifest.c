/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/param_manifest.h"

#include "formats/json_pull.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cuzk_proof_kind kinds[] = {CUZK_PROOF_POREP, CUZK_PROOF_UPDATE, CUZK_PROOF_WINDOW,
                                        CUZK_PROOF_WINNING};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* Append an empty entry; NULL, with err, when memory runs out. */
static cuzk_manifest_entry *append(cuzk_manifest *m, cuzk_error *err)
{
    cuzk_manifest_entry *grown = realloc(m->entries, (m->n + 1) * sizeof *grown);
    if (grown == NULL) {
        (void)CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
        return NULL;
    }
    m->entries = grown;
    memset(&grown[m->n], 0, sizeof *grown);
    return &grown[m->n++];
}

cuzk_status cuzk_manifest_builtin(cuzk_manifest *out, cuzk_error *err)
{
    cuzk_manifest m = {0};
    for (unsigned i = 0; i < cuzk_sector_count(); i++) {
        const cuzk_sector *sector = cuzk_sector_at(i);
        for (unsigned k = 0; k < 2 * N_KINDS && sector->registered; k++) {
            cuzk_proof_kind kind = kinds[k / 2];
            cuzk_param_file file = k % 2 == 0 ? CUZK_PARAM_FILE_PARAMS : CUZK_PARAM_FILE_VK;
            const cuzk_param_published *p = cuzk_param_published_get(kind, sector, file);
            cuzk_manifest_entry *e = append(&m, err);
            if (e == NULL) {
                cuzk_manifest_clear(&m);
                return CUZK_E_MEMORY;
            }
            cuzk_param_file_name(e->name, kind, sector, file);
            cuzk_circuit_id(e->circuit, kind, sector);
            snprintf(e->cid, sizeof e->cid, "%s", p->cid);
            memcpy(e->digest, p->digest, sizeof e->digest);
            e->bytes = p->bytes;
            e->sector_bytes = sector->bytes;
        }
    }
    *out = m;
    return CUZK_OK;
}

void cuzk_manifest_clear(cuzk_manifest *manifest)
{
    free(manifest->entries);
    *manifest = (cuzk_manifest){0};
}

/* ---- parameters.json ------------------------------------------------------------------------- */

/* What we know of a file beside what the text says: its circuit, and its size when the digest is
 * the published one. */
static void complete(cuzk_manifest_entry *e)
{
    for (unsigned i = 0; i < cuzk_sector_count(); i++) {
        const cuzk_sector *sector = cuzk_sector_at(i);
        for (unsigned k = 0; k < 2 * N_KINDS; k++) {
            cuzk_proof_kind kind = kinds[k / 2];
            cuzk_param_file file = k % 2 == 0 ? CUZK_PARAM_FILE_PARAMS : CUZK_PARAM_FILE_VK;
            char name[CUZK_PARAM_NAME_MAX];
            if ((sector->update_only && kind != CUZK_PROOF_UPDATE) ||
                strcmp(cuzk_param_file_name(name, kind, sector, file), e->name) != 0) {
                continue;
            }
            cuzk_circuit_id(e->circuit, kind, sector);
            const cuzk_param_published *p = cuzk_param_published_get(kind, sector, file);
            if (p != NULL && memcmp(p->digest, e->digest, sizeof e->digest) == 0) {
                e->bytes = p->bytes;
            }
            return;
        }
    }
}

static bool read_hex(uint8_t *out, size_t n_bytes, const char *text)
{
    if (strlen(text) != 2 * n_bytes || strspn(text, "0123456789abcdefABCDEF") != 2 * n_bytes) {
        return false;
    }
    for (size_t i = 0; i < n_bytes; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
        out[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return true;
}

/* The keys of an entry, as bits of what was seen. */
enum { HAS_CID = 1, HAS_DIGEST = 2, HAS_SECTOR_SIZE = 4 };

/* One member of an entry, whose key is read. */
static cuzk_status read_member(cuzk_json *j, cuzk_manifest_entry *e, const cuzk_json_token *key,
                               unsigned *seen, cuzk_error *err)
{
    char name[32];
    if (cuzk_json_text(key, name, sizeof name) < 0) {
        name[0] = '\0';
    }
    unsigned which = strcmp(name, "cid") == 0           ? HAS_CID
                     : strcmp(name, "digest") == 0      ? HAS_DIGEST
                     : strcmp(name, "sector_size") == 0 ? HAS_SECTOR_SIZE
                                                        : 0;
    if ((*seen & which) != 0) {
        return cuzk_json_fail(j, key->offset, err, CUZK_E_FORMAT, "\"%s\" of \"%s\" is there twice",
                              name, e->name);
    }
    *seen |= which;
    cuzk_json_token t;
    CUZK_TRY(cuzk_json_next(j, &t, err));
    char text[CUZK_MANIFEST_CID_MAX] = "";
    bool fits = cuzk_json_text(&t, text, sizeof text) >= 0;
    switch (which) {
    case HAS_CID:
        if (t.kind != CUZK_JSON_STRING || !fits) {
            return cuzk_json_fail(j, t.offset, err, CUZK_E_FORMAT, "\"cid\" of \"%s\" is not a cid",
                                  e->name);
        }
        memcpy(e->cid, text, sizeof e->cid);
        return CUZK_OK;
    case HAS_DIGEST:
        if (t.kind != CUZK_JSON_STRING || !fits || !read_hex(e->digest, sizeof e->digest, text)) {
            return cuzk_json_fail(j, t.offset, err, CUZK_E_FORMAT,
                                  "\"digest\" of \"%s\" is not 32 hex digits", e->name);
        }
        return CUZK_OK;
    case HAS_SECTOR_SIZE:
        if (t.kind != CUZK_JSON_NUMBER || !fits || strlen(text) > 18 ||
            strspn(text, "0123456789") != strlen(text)) {
            return cuzk_json_fail(j, t.offset, err, CUZK_E_FORMAT,
                                  "\"sector_size\" of \"%s\" is not a number of bytes", e->name);
        }
        e->sector_bytes = strtoull(text, NULL, 10);
        return CUZK_OK;
    default:
        return cuzk_json_skip(j, &t, err);
    }
}

/* A file's name must stay in its folder. */
static bool is_file_name(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL &&
           strpbrk(name, "\n\r\t") == NULL;
}

static cuzk_status read_entry(cuzk_json *j, cuzk_manifest *m, const cuzk_json_token *key,
                              cuzk_error *err)
{
    if (m->n == CUZK_MANIFEST_ENTRIES_MAX) {
        return cuzk_json_fail(j, key->offset, err, CUZK_E_FORMAT, "more than %d files",
                              CUZK_MANIFEST_ENTRIES_MAX);
    }
    cuzk_manifest_entry *e = append(m, err);
    if (e == NULL) {
        return CUZK_E_MEMORY;
    }
    if (cuzk_json_text(key, e->name, sizeof e->name) < 0 || !is_file_name(e->name)) {
        return cuzk_json_fail(j, key->offset, err, CUZK_E_FORMAT, "the key is not a file's name");
    }
    for (const cuzk_manifest_entry *before = m->entries; before < e; before++) {
        if (strcmp(before->name, e->name) == 0) {
            return cuzk_json_fail(j, key->offset, err, CUZK_E_FORMAT, "\"%s\" is there twice",
                                  e->name);
        }
    }
    cuzk_json_token t;
    CUZK_TRY(cuzk_json_next(j, &t, err));
    if (t.kind != CUZK_JSON_OBJECT_BEGIN) {
        return cuzk_json_fail(j, t.offset, err, CUZK_E_FORMAT, "\"%s\" is %s, expected an object",
                              e->name, cuzk_json_kind_text(t.kind));
    }
    unsigned seen = 0;
    for (;;) {
        CUZK_TRY(cuzk_json_next(j, &t, err));
        if (t.kind == CUZK_JSON_OBJECT_END) {
            break;
        }
        CUZK_TRY(read_member(j, e, &t, &seen, err));
    }
    if ((seen & HAS_DIGEST) == 0) {
        return cuzk_json_fail(j, t.offset, err, CUZK_E_FORMAT, "\"%s\" has no \"digest\"", e->name);
    }
    complete(e);
    return CUZK_OK;
}

static cuzk_status read_all(cuzk_json *j, cuzk_manifest *m, cuzk_error *err)
{
    cuzk_json_token t;
    CUZK_TRY(cuzk_json_next(j, &t, err));
    if (t.kind != CUZK_JSON_OBJECT_BEGIN) {
        return cuzk_json_fail(j, t.offset, err, CUZK_E_FORMAT, "%s, expected an object",
                              cuzk_json_kind_text(t.kind));
    }
    for (;;) {
        CUZK_TRY(cuzk_json_next(j, &t, err));
        if (t.kind == CUZK_JSON_OBJECT_END) {
            return cuzk_json_next(j, &t, err); /* the end of the text, or an error */
        }
        CUZK_TRY(read_entry(j, m, &t, err));
    }
}

cuzk_status cuzk_manifest_read(cuzk_manifest *out, const uint8_t *data, uint64_t size,
                               cuzk_error *err)
{
    cuzk_manifest m = {0};
    *out = m;
    cuzk_json j;
    cuzk_json_init(&j, data, size);
    cuzk_status s = read_all(&j, &m, err);
    cuzk_json_clear(&j);
    if (s != CUZK_OK) {
        cuzk_manifest_clear(&m);
        return s;
    }
    *out = m;
    return CUZK_OK;
}
