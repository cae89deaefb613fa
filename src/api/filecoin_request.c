/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Requests of Filecoin's proofs: fields set one by one or from JSON. */
#include "api/filecoin.h"
#include "api/record.h"

#include "base/decimal.h"
#include "formats/json_pull.h"

#include <stdlib.h>
#include <string.h>

enum { FIELD_TEXT_MAX = 96 /* longest text of a field that can be right, and more */ };

#define POREP   (1u << CUZK_PROOF_POREP)
#define UPDATE  (1u << CUZK_PROOF_UPDATE)
#define WINDOW  (1u << CUZK_PROOF_WINDOW)
#define WINNING (1u << CUZK_PROOF_WINNING)
#define POST    (WINDOW | WINNING)
#define ALL     (POREP | UPDATE | POST)

static const struct {
    const char *name;
    unsigned kinds; /* bit k: kind k has the field */
} fields[CUZK_FIELD_COUNT] = {
    [CUZK_FIELD_REGISTERED_PROOF] = {"registered_proof", ALL},
    [CUZK_FIELD_SECTOR_SIZE] = {"sector_size", ALL},
    [CUZK_FIELD_MINER_ID] = {"miner_id", ALL},
    [CUZK_FIELD_SECTOR_NUMBER] = {"sector_number", ALL},
    [CUZK_FIELD_PARTITION_INDEX] = {"partition_index", WINDOW},
    [CUZK_FIELD_TICKET] = {"ticket", POREP},
    [CUZK_FIELD_SEED] = {"seed", POREP},
    [CUZK_FIELD_RANDOMNESS] = {"randomness", POST},
    [CUZK_FIELD_COMM_R] = {"comm_r", POREP | POST},
    [CUZK_FIELD_COMM_D] = {"comm_d", POREP},
    [CUZK_FIELD_COMM_R_OLD] = {"comm_r_old", UPDATE},
    [CUZK_FIELD_COMM_R_NEW] = {"comm_r_new", UPDATE},
    [CUZK_FIELD_COMM_D_NEW] = {"comm_d_new", UPDATE},
};

const char *cuzk_request_field_name(cuzk_field_id field)
{
    return fields[field].name;
}

cuzk_status cuzk_request_need(const cuzk_filecoin_request *request, cuzk_field_id field,
                              cuzk_error *err)
{
    CUZK_FAIL_IF(!cuzk_request_has(request, field), err, CUZK_E_ARGUMENT,
                 "%s: the field %s is missing", cuzk_proof_kind_name(request->kind),
                 fields[field].name);
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_request_create(cuzk_filecoin_request **request, cuzk_filecoin_kind kind,
                                         cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, request);
    CUZK_FAIL_IF(kind < CUZK_FILECOIN_POREP || kind > CUZK_FILECOIN_WINNING, err, CUZK_E_ARGUMENT,
                 "proof kind %d is not known", (int)kind);
    cuzk_filecoin_request *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "making a request: out of memory");
    made->kind = (cuzk_proof_kind)kind;
    *request = made;
    return CUZK_OK;
}

void cuzk_filecoin_request_destroy(cuzk_filecoin_request *request)
{
    if (request != NULL) {
        if (request->porep != NULL) {
            cuzk_porep_vanilla_clear(request->porep);
        }
        for (uint32_t i = 0; i < request->n_files; i++) {
            cuzk_vanilla_pieces_clear(&request->files[i]);
        }
        free(request->porep);
        free(request->files);
        free(request->sector_ids);
        free(request->comm_r);
        free(request);
    }
}

/* ---- texts of fields ------------------------------------------------------------------------- */

static cuzk_status parse_number(uint64_t *out, const char *text, const char *name, cuzk_error *err)
{
    uint8_t bytes[8];
    CUZK_FAIL_IF(!cuzk_decimal_to_le(bytes, sizeof bytes, text, strlen(text)), err, CUZK_E_FORMAT,
                 "%s: \"%.80s\" is not a decimal number below 2^64", name, text);
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) {
        v = v << 8 | bytes[i];
    }
    *out = v;
    return CUZK_OK;
}

/* The text form of a content identifier, as chain explorers show commitments: multibase base32, "b"
 * and 50 or more lower-case letters and digits; or its bytes in hex, which begin with the version.
 */
static bool looks_like_cid(const char *text)
{
    size_t n = strlen(text);
    return (n > 50 && text[0] == 'b' && text[1] == 'a' &&
            strspn(text, "abcdefghijklmnopqrstuvwxyz234567") == n) ||
           (n > 64 && text[0] == '0' && text[1] == '1' &&
            strspn(text, "0123456789abcdefABCDEF") == n);
}

static cuzk_status parse_digest(uint8_t out[32], const char *text, const char *name,
                                cuzk_error *err)
{
    const char *digits = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? text + 2 : text;
    uint8_t reversed[32];
    CUZK_FAIL_IF(
        strlen(digits) != 64 || !cuzk_hex_to_le(reversed, sizeof reversed, digits, 64), err,
        CUZK_E_FORMAT, "%s: \"%.80s\" is not 64 hexadecimal digits (32 bytes)%s", name, text,
        looks_like_cid(text) ? "; it looks like a CID, whose last 32 bytes are the commitment"
                             : "");
    for (unsigned i = 0; i < 32; i++) {
        out[i] = reversed[31 - i];
    }
    return CUZK_OK;
}

/* An actor number, or the address of an actor by number. */
static const char *skip_address_prefix(const char *text)
{
    return (text[0] == 'f' || text[0] == 't') && text[1] == '0' ? text + 2 : text;
}

static cuzk_status set_field(cuzk_filecoin_request *r, cuzk_field_id field, const char *text,
                             cuzk_error *err)
{
    const char *name = fields[field].name;
    CUZK_FAIL_IF(cuzk_request_has(r, field), err, CUZK_E_ARGUMENT, "%s is given twice", name);
    if (field >= CUZK_FIELD_TICKET) {
        CUZK_TRY(parse_digest(r->bytes[field], text, name, err));
    } else if (field == CUZK_FIELD_SECTOR_SIZE) {
        const cuzk_sector *sector = cuzk_sector_by_name(text, strlen(text));
        CUZK_FAIL_IF(sector == NULL, err, CUZK_E_FORMAT, "%s: \"%.80s\" is not a sector size: %s",
                     name, text, cuzk_sector_names());
        r->numbers[field] = sector->bytes;
    } else {
        if (field == CUZK_FIELD_MINER_ID) {
            text = skip_address_prefix(text);
        }
        CUZK_TRY(parse_number(&r->numbers[field], text, name, err));
    }
    r->given |= 1u << field;
    return CUZK_OK;
}

/* The field of that name that the request's kind has; CUZK_FIELD_COUNT when there is none. */
static cuzk_field_id find_field(const cuzk_filecoin_request *r, const char *name)
{
    unsigned i = 0;
    while (i < CUZK_FIELD_COUNT &&
           ((fields[i].kinds >> r->kind & 1) == 0 || strcmp(fields[i].name, name) != 0)) {
        i++;
    }
    return (cuzk_field_id)i;
}

cuzk_status cuzk_filecoin_request_set(cuzk_filecoin_request *request, const char *field,
                                      const char *text, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, request);
    CUZK_API_NOT_NULL(err, field);
    CUZK_API_NOT_NULL(err, text);
    cuzk_field_id id = find_field(request, field);
    CUZK_FAIL_IF(id == CUZK_FIELD_COUNT, err, CUZK_E_ARGUMENT, "a %s has no field \"%.80s\"",
                 cuzk_proof_kind_name(request->kind), field);
    return set_field(request, id, text, err);
}

/* ---- sectors --------------------------------------------------------------------------------- */

static cuzk_status add_sector(cuzk_filecoin_request *r, uint64_t number, const uint8_t comm_r[32],
                              cuzk_error *err)
{
    if (r->n_sectors == r->capacity) {
        enum { CAPACITY_MAX = 1 << 24 /* more than any deadline has */ };
        CUZK_FAIL_IF(r->capacity >= CAPACITY_MAX, err, CUZK_E_ARGUMENT, "more than %d sectors",
                     (int)CAPACITY_MAX);
        uint32_t capacity = r->capacity == 0 ? 16 : 2 * r->capacity;
        uint64_t *ids = realloc(r->sector_ids, capacity * sizeof *ids);
        if (ids != NULL) {
            r->sector_ids = ids;
        }
        cuzk_digest *digests = realloc(r->comm_r, capacity * sizeof *digests);
        if (digests != NULL) {
            r->comm_r = digests;
        }
        CUZK_FAIL_IF(ids == NULL || digests == NULL, err, CUZK_E_MEMORY,
                     "adding sector %u: out of memory", r->n_sectors);
        r->capacity = capacity;
    }
    r->sector_ids[r->n_sectors] = number;
    memcpy(r->comm_r[r->n_sectors].b, comm_r, 32);
    r->n_sectors++;
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_request_add_sector(cuzk_filecoin_request *request, uint64_t sector_number,
                                             const uint8_t comm_r[32], cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, request);
    CUZK_API_NOT_NULL(err, comm_r);
    CUZK_FAIL_IF((POST >> request->kind & 1) == 0, err, CUZK_E_ARGUMENT,
                 "a %s has no list of sectors", cuzk_proof_kind_name(request->kind));
    return add_sector(request, sector_number, comm_r, err);
}

/* ---- vanilla proofs -------------------------------------------------------------------------- */

static cuzk_status add_porep(cuzk_filecoin_request *r, const void *data, size_t n_bytes,
                             cuzk_error *err)
{
    CUZK_FAIL_IF(r->porep != NULL, err, CUZK_E_ARGUMENT,
                 "a PoRep has one commit-phase-1 output, a second one is given");
    cuzk_porep_vanilla *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "reading a vanilla proof: out of memory");
    cuzk_status status = cuzk_porep_vanilla_read(made, data, n_bytes, err);
    if (status != CUZK_OK) {
        free(made);
        return status;
    }
    r->porep = made;
    return CUZK_OK;
}

static cuzk_status add_file(cuzk_filecoin_request *r, const void *data, size_t n_bytes,
                            cuzk_error *err)
{
    if (r->n_files == r->files_capacity) {
        uint32_t capacity = r->files_capacity == 0 ? 16 : 2 * r->files_capacity;
        cuzk_vanilla_pieces *files = realloc(r->files, capacity * sizeof *files);
        CUZK_FAIL_IF(files == NULL, err, CUZK_E_MEMORY, "adding vanilla proof %u: out of memory",
                     r->n_files);
        r->files = files;
        r->files_capacity = capacity;
    }
    CUZK_TRY(cuzk_vanilla_pieces_read(&r->files[r->n_files], data, n_bytes, err));
    r->n_files++;
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_request_add_vanilla(cuzk_filecoin_request *request, const void *data,
                                              size_t n_bytes, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, request);
    CUZK_API_NOT_NULL(err, data);
    uint64_t begin_ns = cuzk_api_record_now();
    cuzk_status status = request->kind == CUZK_PROOF_POREP ? add_porep(request, data, n_bytes, err)
                                                           : add_file(request, data, n_bytes, err);
    cuzk_api_record_span(CUZK_SPAN_DECODE, begin_ns, n_bytes, NULL, status);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The text of a string or number, for a field. */
static cuzk_status value_text(cuzk_json *json, const cuzk_json_token *token, const char *name,
                              char out[FIELD_TEXT_MAX], cuzk_error *err)
{
    if ((token->kind != CUZK_JSON_STRING && token->kind != CUZK_JSON_NUMBER) ||
        cuzk_json_text(token, out, FIELD_TEXT_MAX) < 0) {
        return cuzk_json_fail(json, token->offset, err, CUZK_E_FORMAT,
                              "%s: expected a short string or a number, found %s", name,
                              cuzk_json_kind_text(token->kind));
    }
    return CUZK_OK;
}

/* Read an object's next key into `key`; *end at the object's end. A key longer than any that is
 * known is cut off, which makes it unknown. */
static cuzk_status next_key(cuzk_json *json, cuzk_json_token *token, char key[FIELD_TEXT_MAX],
                            bool *end, cuzk_error *err)
{
    CUZK_TRY(cuzk_json_next(json, token, err));
    *end = token->kind == CUZK_JSON_OBJECT_END;
    if (!*end && cuzk_json_text(token, key, FIELD_TEXT_MAX) < 0) {
        memcpy(key, "?", 2);
    }
    return CUZK_OK;
}

/* One element of "sectors", whose opening brace was read. */
static cuzk_status read_sector(cuzk_filecoin_request *r, cuzk_json *json, cuzk_error *err)
{
    uint64_t number = 0;
    uint8_t comm_r[32];
    unsigned seen = 0;
    for (;;) {
        cuzk_json_token token;
        char key[FIELD_TEXT_MAX];
        char text[FIELD_TEXT_MAX];
        bool end;
        CUZK_TRY(next_key(json, &token, key, &end, err));
        if (end) {
            break;
        }
        unsigned which = strcmp(key, "sector_number") == 0 ? 1 : strcmp(key, "comm_r") == 0 ? 2 : 0;
        if (which == 0 || (seen & which) != 0) {
            return cuzk_json_fail(
                json, token.offset, err, CUZK_E_FORMAT,
                which == 0 ? "\"%s\" is not a member of a sector" : "\"%s\" is given twice", key);
        }
        CUZK_TRY(cuzk_json_next(json, &token, err));
        CUZK_TRY(value_text(json, &token, key, text, err));
        CUZK_TRY(which == 1 ? parse_number(&number, text, key, err)
                            : parse_digest(comm_r, text, key, err));
        seen |= which;
    }
    CUZK_FAIL_IF(seen != 3, err, CUZK_E_FORMAT, "%s is missing",
                 (seen & 1) == 0 ? "sector_number" : "comm_r");
    return add_sector(r, number, comm_r, err);
}

static cuzk_status read_sectors(cuzk_filecoin_request *r, cuzk_json *json, cuzk_error *err)
{
    cuzk_json_token token;
    CUZK_TRY(cuzk_json_next(json, &token, err));
    if (token.kind != CUZK_JSON_ARRAY_BEGIN) {
        return cuzk_json_fail(json, token.offset, err, CUZK_E_FORMAT,
                              "sectors: expected an array, found %s",
                              cuzk_json_kind_text(token.kind));
    }
    for (unsigned i = 0;; i++) {
        CUZK_TRY(cuzk_json_next(json, &token, err));
        if (token.kind == CUZK_JSON_ARRAY_END) {
            return CUZK_OK;
        }
        if (token.kind != CUZK_JSON_OBJECT_BEGIN) {
            return cuzk_json_fail(json, token.offset, err, CUZK_E_FORMAT,
                                  "sectors: element %u: expected an object, found %s", i,
                                  cuzk_json_kind_text(token.kind));
        }
        cuzk_status status = read_sector(r, json, err);
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "sectors: element %u", i);
            return status;
        }
    }
}

static cuzk_status read_members(cuzk_filecoin_request *r, cuzk_json *json, cuzk_error *err)
{
    cuzk_json_token token;
    CUZK_TRY(cuzk_json_next(json, &token, err));
    if (token.kind != CUZK_JSON_OBJECT_BEGIN) {
        return cuzk_json_fail(json, token.offset, err, CUZK_E_FORMAT,
                              "expected an object, found %s", cuzk_json_kind_text(token.kind));
    }
    bool post = (POST >> r->kind & 1) != 0;
    bool sectors_seen = false;
    for (;;) {
        char key[FIELD_TEXT_MAX];
        char text[FIELD_TEXT_MAX];
        bool end;
        CUZK_TRY(next_key(json, &token, key, &end, err));
        if (end) {
            break;
        }
        cuzk_field_id id = find_field(r, key);
        bool is_sectors = post && strcmp(key, "sectors") == 0;
        if (id == CUZK_FIELD_COUNT && !is_sectors) {
            return cuzk_json_fail(json, token.offset, err, CUZK_E_FORMAT,
                                  "a %s has no field \"%s\"", cuzk_proof_kind_name(r->kind), key);
        }
        if (is_sectors && sectors_seen) {
            return cuzk_json_fail(json, token.offset, err, CUZK_E_FORMAT,
                                  "\"sectors\" is given twice");
        }
        if (is_sectors) {
            sectors_seen = true;
            CUZK_TRY(read_sectors(r, json, err));
            continue;
        }
        CUZK_TRY(cuzk_json_next(json, &token, err));
        CUZK_TRY(value_text(json, &token, key, text, err));
        CUZK_TRY(set_field(r, id, text, err));
    }
    return cuzk_json_next(json, &token, err); /* nothing behind the object */
}

cuzk_status cuzk_filecoin_request_read_json(cuzk_filecoin_request *request, const void *json,
                                            size_t n_bytes, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, request);
    CUZK_API_NOT_NULL(err, json);
    cuzk_json pull;
    cuzk_json_init(&pull, json, n_bytes);
    cuzk_status status = read_members(request, &pull, err);
    cuzk_json_clear(&pull);
    return status;
}
