/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "r1cs/shape_store.h"

#include "formats/shape_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- writing --------------------------------------------------------------------------------- */

static cuzk_shape_header header_of(const cuzk_shape *s, const uint8_t *fingerprint)
{
    cuzk_shape_header h = {.curve = s->curve,
                           .n_inputs = s->n_inputs,
                           .n_vars = s->n_vars,
                           .n_constraints = s->n_constraints,
                           .n_blocks = s->n_blocks,
                           .n_stored_rows = s->n_stored_rows,
                           .n_coefs = s->n_coefs,
                           .n_b_input = s->n_b_input,
                           .n_a_aux = s->n_a_aux,
                           .n_b_aux = s->n_b_aux,
                           .n_choices = s->n_choices};
    for (int k = 0; k < 3; k++) {
        h.n_terms[k] = s->rows[k].begin[s->n_stored_rows];
    }
    memcpy(h.fingerprint, fingerprint, sizeof h.fingerprint);
    return h;
}

static void arrays_of(const cuzk_shape *s, const void *arrays[CUZK_SHAPE_ARRAY_COUNT])
{
    arrays[CUZK_SHAPE_BLOCKS] = s->blocks;
    arrays[CUZK_SHAPE_CHOICES] = s->choices;
    arrays[CUZK_SHAPE_COEFS] = s->coefs;
    arrays[CUZK_SHAPE_COEFS_R2] = s->coefs_r2;
    for (int k = 0; k < 3; k++) {
        arrays[CUZK_SHAPE_BEGIN + k] = s->rows[k].begin;
        arrays[CUZK_SHAPE_VAR + k] = s->rows[k].var;
        arrays[CUZK_SHAPE_CODE + k] = s->rows[k].code;
    }
    arrays[CUZK_SHAPE_IS_BIT] = s->is_bit;
    arrays[CUZK_SHAPE_IS_FIELD] = s->is_field;
    arrays[CUZK_SHAPE_B_INPUT_DENSITY] = s->b_input_density;
    arrays[CUZK_SHAPE_A_AUX_DENSITY] = s->a_aux_density;
    arrays[CUZK_SHAPE_B_AUX_DENSITY] = s->b_aux_density;
}

cuzk_status cuzk_shape_write(FILE *file, const cuzk_shape *shape,
                             const uint8_t fingerprint[CUZK_SHA256_BYTES], cuzk_error *err)
{
    static const uint8_t zeros[64];
    uint8_t head[CUZK_SHAPE_HEADER_BYTES];
    const void *arrays[CUZK_SHAPE_ARRAY_COUNT];
    cuzk_shape_header h = header_of(shape, fingerprint);
    cuzk_sha256 sha;
    arrays_of(shape, arrays);
    cuzk_sha256_init(&sha);
    for (int i = 0; i < CUZK_SHAPE_ARRAY_COUNT; i++) {
        uint64_t n_bytes = cuzk_shape_array_bytes(&h, i);
        cuzk_sha256_update(&sha, arrays[i], (size_t)n_bytes);
        cuzk_sha256_update(&sha, zeros, (size_t)cuzk_shape_array_gap(n_bytes));
    }
    cuzk_sha256_final(&sha, h.body_digest);
    cuzk_shape_header_write(head, &h);
    fwrite(head, 1, sizeof head, file);
    for (int i = 0; i < CUZK_SHAPE_ARRAY_COUNT; i++) {
        uint64_t n_bytes = cuzk_shape_array_bytes(&h, i);
        fwrite(arrays[i], 1, (size_t)n_bytes, file);
        fwrite(zeros, 1, (size_t)cuzk_shape_array_gap(n_bytes), file);
    }
    CUZK_FAIL_IF(fflush(file) != 0 || ferror(file), err, CUZK_E_FILE,
                 "writing a compiled circuit: write error");
    return CUZK_OK;
}

/* ---- the folder ------------------------------------------------------------------------------ */

struct store {
    char *path;
    const uint8_t *fingerprint;
    const cuzk_shape_source *source;
    const cuzk_reporter *reporter;
    cuzk_pool *pool;
    cuzk_error *err;
};

static char *path_of(const char *folder, const uint8_t *fingerprint)
{
    size_t n = strlen(folder) + 1 + 2 * CUZK_SHA256_BYTES + sizeof ".shape";
    char *path = malloc(n);
    if (path != NULL) {
        int at = snprintf(path, n, "%s/", folder);
        for (int i = 0; i < CUZK_SHA256_BYTES; i++) {
            at += snprintf(path + at, n - (size_t)at, "%02x", fingerprint[i]);
        }
        snprintf(path + at, n - (size_t)at, ".shape");
    }
    return path;
}

/* The file, if it is there, whole and the right one. */
static bool open_stored(const struct store *g, cuzk_shape **out)
{
    uint8_t found[CUZK_SHA256_BYTES];
    cuzk_shape *s;
    if (access(g->path, F_OK) != 0 ||
        cuzk_shape_open(&s, found, g->path, g->pool, NULL) != CUZK_OK) {
        return false;
    }
    if (memcmp(found, g->fingerprint, sizeof found) != 0) {
        cuzk_shape_destroy(s);
        return false;
    }
    *out = s;
    return true;
}

/* Shares of the stages in the whole: the fingerprint takes most of it. */
enum { AT_BUILD = 0, AT_COMPARE = 5, AT_WRITE = 95 };

static bool report_compared(void *ctx, const char *stage, double done)
{
    const struct store *g = ctx;
    double percent = AT_COMPARE + done * (AT_WRITE - AT_COMPARE);
    return g->reporter->report(g->reporter->ctx, stage, percent / 100);
}

static cuzk_status compare(struct store *g, const cuzk_shape *built)
{
    bool tell = g->reporter != NULL && g->reporter->report != NULL;
    cuzk_reporter reporter = {tell ? report_compared : NULL, g};
    uint8_t found[CUZK_SHA256_BYTES];
    CUZK_TRY(cuzk_shape_fingerprint_reported(built, true, found, &reporter, g->err));
    CUZK_FAIL_IF(memcmp(found, g->fingerprint, sizeof found) != 0, g->err, CUZK_E_MISMATCH,
                 "building \"%s\": the circuit has another fingerprint (%02x%02x%02x%02x…)",
                 g->path, found[0], found[1], found[2], found[3]);
    return CUZK_OK;
}

static cuzk_status save(const struct store *g, const cuzk_shape *built)
{
    cuzk_out_file file;
    CUZK_TRY(cuzk_report_progress(g->reporter, "writing the circuit", AT_WRITE, 100, g->err));
    CUZK_TRY(cuzk_out_file_open(&file, g->path, g->err));
    cuzk_status status = cuzk_shape_write(file.file, built, g->fingerprint, g->err);
    if (status == CUZK_OK || ferror(file.file)) {
        cuzk_error_clear(g->err); /* what could not be written, and why: the commit tells both */
        return cuzk_out_file_commit(&file, g->err);
    }
    cuzk_out_file_abort(&file);
    return status;
}

static cuzk_status build(const struct store *g, cuzk_shape **out)
{
    CUZK_TRY(cuzk_report_progress(g->reporter, "building the circuit", AT_BUILD, 100, g->err));
    return g->source->build(g->source->ctx, out, g->err);
}

cuzk_status cuzk_shape_get(cuzk_shape **out, const char *folder,
                           const uint8_t fingerprint[CUZK_SHA256_BYTES],
                           const cuzk_shape_source *source, const cuzk_reporter *reporter,
                           cuzk_pool *pool, cuzk_error *err)
{
    struct store g = {NULL, fingerprint, source, reporter, pool, err};
    if (folder == NULL) {
        return build(&g, out);
    }
    CUZK_FAIL_IF(mkdir(folder, 0777) != 0 && errno != EEXIST, err, CUZK_E_FILE,
                 "making the folder \"%s\" for compiled circuits: %s", folder, strerror(errno));
    g.path = path_of(folder, fingerprint);
    CUZK_FAIL_IF(g.path == NULL, err, CUZK_E_MEMORY, "compiled circuit: out of memory");
    cuzk_status status = CUZK_OK;
    cuzk_shape *built = NULL;
    if (!open_stored(&g, out)) {
        CUZK_TRY_OUT(status, build(&g, &built));
        CUZK_TRY_OUT(status, compare(&g, built));
        CUZK_TRY_OUT(status, save(&g, built));
        CUZK_TRY_OUT(status, cuzk_shape_open(out, NULL, g.path, pool, err));
    }
out:
    cuzk_shape_destroy(built);
    free(g.path);
    return status;
}
