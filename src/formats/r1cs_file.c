/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/r1cs_file.h"
#include "formats/prime.h"
#include "formats/wtns.h"

#include <inttypes.h>

enum {
    SECTION_HEADER = 1,
    SECTION_CONSTRAINTS = 2,
    SECTION_LABELS = 3,
    SECTION_CUSTOM_GATES = 4,
    SECTION_CUSTOM_GATE_USES = 5,
    LC_BYTES_MIN = 4
};

static cuzk_status read_header(cuzk_r1cs *r, cuzk_span header, cuzk_error *err)
{
    const char *what = "r1cs section 1 (header)";
    cuzk_span prime;
    CUZK_TRY(cuzk_prime_read(&prime, &header, what, err));
    CUZK_TRY(cuzk_prime_curve(&r->curve, prime, what, err));
    CUZK_FAIL_IF(header.size != 28, err, CUZK_E_FORMAT,
                 "%s: %" PRIu64 " bytes behind the prime, expected 28", what, header.size);
    r->n_wires = cuzk_load_u32_le(header.data);
    r->n_pub_out = cuzk_load_u32_le(header.data + 4);
    r->n_pub_in = cuzk_load_u32_le(header.data + 8);
    r->n_prv_in = cuzk_load_u32_le(header.data + 12);
    r->n_labels = cuzk_load_u64_le(header.data + 16);
    r->n_constraints = cuzk_load_u32_le(header.data + 24);
    uint64_t named = (uint64_t)r->n_pub_out + r->n_pub_in + r->n_prv_in + 1;
    CUZK_FAIL_IF(named > r->n_wires, err, CUZK_E_FORMAT,
                 "%s: %" PRIu32 " wires, but the constant 1, %" PRIu32 " outputs, %" PRIu32
                 " public and %" PRIu32 " private inputs need %" PRIu64,
                 what, r->n_wires, r->n_pub_out, r->n_pub_in, r->n_prv_in, named);
    return CUZK_OK;
}

/* Sections 4 and 5 start with a count. */
static cuzk_status read_count(uint32_t *count, cuzk_span *rest, const cuzk_sections *s, uint32_t id,
                              const char *name, cuzk_error *err)
{
    *count = 0;
    *rest = (cuzk_span){NULL, 0};
    if (s->n_found[id] == 0) {
        return CUZK_OK;
    }
    cuzk_span p;
    CUZK_TRY(cuzk_sections_get(s, id, name, &p, err));
    CUZK_FAIL_IF(p.size < 4, err, CUZK_E_FORMAT,
                 "r1cs section %" PRIu32 " (%s): %" PRIu64 " bytes, expected at least 4", id, name,
                 p.size);
    *count = cuzk_load_u32_le(p.data);
    *rest = (cuzk_span){p.data + 4, p.size - 4};
    return CUZK_OK;
}

cuzk_status cuzk_r1cs_open(cuzk_r1cs *out, const uint8_t *data, uint64_t size, cuzk_error *err)
{
    cuzk_sections s;
    CUZK_TRY(cuzk_sections_open(&s, "r1cs", 1, data, size, err));
    cuzk_r1cs r;
    memset(&r, 0, sizeof r);
    cuzk_span header;
    CUZK_TRY(cuzk_sections_get(&s, SECTION_HEADER, "header", &header, err));
    CUZK_TRY(read_header(&r, header, err));
    CUZK_TRY(cuzk_sections_get(&s, SECTION_CONSTRAINTS, "constraints", &r.constraints, err));
    uint64_t least = (uint64_t)r.n_constraints * 3 * LC_BYTES_MIN;
    CUZK_FAIL_IF(r.constraints.size < least, err, CUZK_E_FORMAT,
                 "r1cs section 2 (constraints): %" PRIu64 " bytes, expected at least %" PRIu64
                 " for %" PRIu32 " constraints",
                 r.constraints.size, least, r.n_constraints);
    if (s.n_found[SECTION_LABELS] > 0) {
        CUZK_TRY(cuzk_sections_get(&s, SECTION_LABELS, "labels", &r.labels, err));
        CUZK_FAIL_IF(r.labels.size != (uint64_t)r.n_wires * 8, err, CUZK_E_FORMAT,
                     "r1cs section 3 (labels): %" PRIu64 " bytes, expected %" PRIu64 " (%" PRIu32
                     " wires)",
                     r.labels.size, (uint64_t)r.n_wires * 8, r.n_wires);
    }
    cuzk_span uses;
    CUZK_TRY(read_count(&r.n_custom_gates, &r.custom_gates, &s, SECTION_CUSTOM_GATES,
                        "custom gates", err));
    CUZK_TRY(read_count(&r.n_custom_gate_uses, &uses, &s, SECTION_CUSTOM_GATE_USES,
                        "uses of custom gates", err));
    *out = r;
    return CUZK_OK;
}

cuzk_status cuzk_r1cs_require_groth16(const cuzk_r1cs *r1cs, cuzk_error *err)
{
    CUZK_FAIL_IF(r1cs->n_custom_gates > 0 || r1cs->n_custom_gate_uses > 0, err, CUZK_E_UNSUPPORTED,
                 "custom gates are not supported by Groth16: the r1cs file has %" PRIu32
                 " of them, used %" PRIu32 " times",
                 r1cs->n_custom_gates, r1cs->n_custom_gate_uses);
    return CUZK_OK;
}

void cuzk_r1cs_begin(cuzk_r1cs_iter *iter, const cuzk_r1cs *r1cs)
{
    *iter = (cuzk_r1cs_iter){r1cs, 0, 0};
}

static cuzk_status check_terms(const cuzk_r1cs *r, const cuzk_r1cs_lc *lc, uint32_t row, int which,
                               cuzk_error *err)
{
    for (uint32_t i = 0; i < lc->n_terms; i++) {
        uint32_t wire = cuzk_r1cs_term_wire(lc, i);
        CUZK_FAIL_IF(wire >= r->n_wires, err, CUZK_E_FORMAT,
                     "r1cs constraint %" PRIu32 ", %c, term %" PRIu32 ": wire %" PRIu32
                     ", expected below %" PRIu32,
                     row, "ABC"[which], i, wire, r -> n_wires);
        CUZK_FAIL_IF(!cuzk_value_is_canonical(r->curve, cuzk_r1cs_term_value(lc, i)), err,
                     CUZK_E_FORMAT,
                     "r1cs constraint %" PRIu32 ", %c, term %" PRIu32
                     ": coefficient is not below the field order",
                     row, "ABC"[which], i);
    }
    return CUZK_OK;
}

cuzk_status cuzk_r1cs_next(cuzk_r1cs_iter *iter, cuzk_r1cs_lc lc[3], bool *more, cuzk_error *err)
{
    const cuzk_r1cs *r = iter->r1cs;
    if (iter->row == r->n_constraints) {
        CUZK_FAIL_IF(iter->offset != r->constraints.size, err, CUZK_E_FORMAT,
                     "r1cs section 2 (constraints): %" PRIu64
                     " bytes left behind constraint %" PRIu32 ", the last one",
                     r->constraints.size - iter->offset, r->n_constraints);
        *more = false;
        return CUZK_OK;
    }
    uint64_t offset = iter->offset;
    cuzk_r1cs_lc found[3];
    for (int k = 0; k < 3; k++) {
        uint64_t left = r->constraints.size - offset;
        uint64_t n = left < 4 ? 0 : cuzk_load_u32_le(r->constraints.data + offset);
        CUZK_FAIL_IF(left < 4 || (left - 4) / CUZK_R1CS_TERM_BYTES < n, err, CUZK_E_TRUNCATED,
                     "r1cs constraint %" PRIu32 " of %" PRIu32 ", %c: %" PRIu64
                     " terms do not fit the %" PRIu64 " bytes left of section 2",
                     iter->row, r->n_constraints, "ABC"[k], n, left);
        found[k] = (cuzk_r1cs_lc){(uint32_t)n, r->constraints.data + offset + 4};
        CUZK_TRY(check_terms(r, &found[k], iter->row, k, err));
        offset += 4 + n * CUZK_R1CS_TERM_BYTES;
    }
    memcpy(lc, found, sizeof found);
    iter->offset = offset;
    iter->row++;
    *more = true;
    return CUZK_OK;
}

static void put_u32(FILE *f, uint32_t v)
{
    uint8_t b[4];
    cuzk_store_u32_le(b, v);
    fwrite(b, 1, sizeof b, f);
}

static void put_u64(FILE *f, uint64_t v)
{
    uint8_t b[8];
    cuzk_store_u64_le(b, v);
    fwrite(b, 1, sizeof b, f);
}

static void put_section(FILE *f, uint32_t id, uint64_t n_bytes)
{
    put_u32(f, id);
    put_u64(f, n_bytes);
}

void cuzk_r1cs_writer_begin(cuzk_r1cs_writer *w, FILE *file, const cuzk_curve *curve)
{
    *w = (cuzk_r1cs_writer){.file = file, .curve = curve};
    fwrite("r1cs", 1, 4, file);
    put_u32(file, 1); /* version */
    put_u32(file, 3); /* sections */
    put_section(file, SECTION_CONSTRAINTS, 0);
}

void cuzk_r1cs_writer_constraint(cuzk_r1cs_writer *w, const cuzk_r1cs_lc lc[3])
{
    for (int k = 0; k < 3; k++) {
        put_u32(w->file, lc[k].n_terms);
        if (lc[k].n_terms > 0) {
            fwrite(lc[k].terms, CUZK_R1CS_TERM_BYTES, lc[k].n_terms, w->file);
        }
        w->n_bytes += 4 + (uint64_t)lc[k].n_terms * CUZK_R1CS_TERM_BYTES;
    }
    w->n_constraints++;
}

cuzk_status cuzk_r1cs_writer_end(cuzk_r1cs_writer *w, const cuzk_r1cs_header *header,
                                 cuzk_error *err)
{
    FILE *f = w->file;
    put_section(f, SECTION_HEADER, 4 + 32 + 28);
    put_u32(f, 32);
    for (int k = 0; k < 4; k++) {
        put_u64(f, w->curve->r[k]);
    }
    put_u32(f, header->n_wires);
    put_u32(f, header->n_pub_out);
    put_u32(f, header->n_pub_in);
    put_u32(f, header->n_prv_in);
    put_u64(f, header->n_labels);
    put_u32(f, w->n_constraints);
    put_section(f, SECTION_LABELS, (uint64_t)header->n_wires * 8);
    for (uint32_t i = 0; i < header->n_wires; i++) {
        put_u64(f, header->labels != NULL ? header->labels[i] : i);
    }
    enum { LENGTH_OFFSET = 12 + 4 };
    if (fseeko(f, LENGTH_OFFSET, SEEK_SET) == 0) {
        put_u64(f, w->n_bytes);
        if (fseeko(f, 0, SEEK_END) == 0 && fflush(f) == 0 && !ferror(f)) {
            return CUZK_OK;
        }
    }
    return CUZK_FAIL(err, CUZK_E_FILE,
                     "writing an r1cs file: write error after %" PRIu32 " constraints",
                     w->n_constraints);
}
