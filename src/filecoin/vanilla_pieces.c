/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/vanilla_pieces.h"

#include "filecoin/c1_text.h"

#include <stdlib.h>

enum { PIECES_MAX = 4096 }; /* more than any proof has sectors or partitions */

typedef struct {
    cuzk_vanilla_span *spans;
    uint64_t n, room;
    uint8_t *next; /* where the next element is decoded to */
} reader;

static cuzk_status read_element(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    reader *r = ctx;
    CUZK_FAIL_IF(i == PIECES_MAX, err, CUZK_E_FORMAT, "more than %d proofs", PIECES_MAX);
    if (r->n == r->room) {
        uint64_t room = r->room == 0 ? 16 : 2 * r->room;
        cuzk_vanilla_span *grown = realloc(r->spans, room * sizeof *grown);
        CUZK_FAIL_IF(grown == NULL, err, CUZK_E_MEMORY, "out of memory");
        r->spans = grown;
        r->room = room;
    }
    cuzk_vanilla_span *span = &r->spans[r->n];
    span->data = r->next;
    CUZK_TRY(cuzk_c1_base64(text, r->next, &span->size, err));
    r->next += span->size;
    r->n++;
    return CUZK_OK;
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* A proof begins with a sector number or a commitment, which may be the byte '[': an array ends
 * with its bracket, and its first element is a string. */
static bool is_array(const uint8_t *data, uint64_t size)
{
    uint64_t i = 0;
    while (i < size && is_space(data[i])) {
        i++;
    }
    if (i == size || data[i] != '[') {
        return false;
    }
    i++;
    while (i < size && is_space(data[i])) {
        i++;
    }
    return i == size || data[i] == '"' || data[i] == ']';
}

cuzk_status cuzk_vanilla_pieces_read(cuzk_vanilla_pieces *out, const uint8_t *data, uint64_t size,
                                     cuzk_error *err)
{
    *out = (cuzk_vanilla_pieces){0};
    if (!is_array(data, size)) {
        out->spans = malloc(sizeof *out->spans);
        CUZK_FAIL_IF(out->spans == NULL, err, CUZK_E_MEMORY, "out of memory");
        out->spans[0] = (cuzk_vanilla_span){data, size};
        out->n = 1;
        return CUZK_OK;
    }
    /* three bytes for four characters: the decoded elements always fit */
    uint8_t *decoded = malloc(size / 4 * 3 + 3);
    CUZK_FAIL_IF(decoded == NULL, err, CUZK_E_MEMORY, "out of memory");
    reader r = {.next = decoded};
    cuzk_c1_text text;
    unsigned n;
    cuzk_c1_text_plain(&text, data, size);
    cuzk_status s = cuzk_c1_array(&text, "element", &n, read_element, &r, err);
    if (s == CUZK_OK) {
        s = cuzk_c1_text_finish(&text, err);
    }
    if (s == CUZK_OK && n == 0) {
        s = CUZK_FAIL(err, CUZK_E_FORMAT, "an array of no proof, expected one or more");
    }
    *out = (cuzk_vanilla_pieces){r.spans, r.n, decoded};
    if (s != CUZK_OK) {
        cuzk_vanilla_pieces_clear(out);
    }
    return s;
}

void cuzk_vanilla_pieces_clear(cuzk_vanilla_pieces *pieces)
{
    free(pieces->spans);
    free(pieces->decoded);
    *pieces = (cuzk_vanilla_pieces){0};
}
