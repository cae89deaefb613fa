/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/circom_registry.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_NAME "circuits.txt"

struct circuit {
    char name[CUZK_CIRCOM_NAME_MAX + 1];
    char *path; /* resolved */
    bool is_usable;
    cuzk_circom_facts facts; /* where it is usable */
};

struct cuzk_circom_registry {
    const cuzk_ctx *ctx;
    char *folder; /* resolved; NULL: none */
    bool allow_test_key;
    pthread_mutex_t mutex;    /* guards what follows, and the list's file */
    struct circuit *circuits; /* by name */
    unsigned n, capacity;
};

/* ---- names and paths ------------------------------------------------------------------------- */

static cuzk_status check_name(const char *name, size_t n_chars, cuzk_error *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.";
    bool ok = n_chars > 0 && n_chars <= CUZK_CIRCOM_NAME_MAX && name[0] != '.';
    for (size_t i = 0; i < n_chars && ok; i++) {
        ok = name[i] != '\0' && strchr(allowed, name[i]) != NULL;
    }
    CUZK_FAIL_IF(!ok, err, CUZK_E_ARGUMENT,
                 "circuit name \"%.*s\": expected 1 to %d letters, digits, '-', '_' and '.', the "
                 "first no '.'",
                 n_chars > 120 ? 120 : (int)n_chars, name, (int)CUZK_CIRCOM_NAME_MAX);
    return CUZK_OK;
}

/* The file that a path means, which must lie in the folder. Returned: free. */
static cuzk_status resolve(char **out, const cuzk_circom_registry *r, const char *path,
                           cuzk_error *err)
{
    cuzk_text joined = {0};
    if (path[0] != '/') {
        cuzk_text_printf(&joined, "%s/", r->folder);
    }
    cuzk_text_put(&joined, path);
    cuzk_status status = cuzk_text_check(&joined, err);
    if (status != CUZK_OK) {
        cuzk_text_clear(&joined);
        return status;
    }
    char *resolved = realpath(joined.data, NULL);
    int cause = errno;
    cuzk_text_clear(&joined);
    CUZK_FAIL_IF(resolved == NULL, err, CUZK_E_FILE, "opening \"%s\": %s", path, strerror(cause));
    size_t n = strlen(r->folder);
    bool inside = strncmp(resolved, r->folder, n) == 0 && resolved[n] == '/';
    if (!inside || strchr(resolved, '\n') != NULL) {
        free(resolved);
        return CUZK_FAIL(err, CUZK_E_ARGUMENT, "\"%s\" is not in the circuits folder \"%s\"%s",
                         path, r->folder, inside ? " under a name of one line" : "");
    }
    *out = resolved;
    return CUZK_OK;
}

/* ---- keys ------------------------------------------------------------------------------------ */

cuzk_circom_facts cuzk_circom_facts_of(const cuzk_zkey *key, uint64_t n_bytes)
{
    size_t g1 = key->curve->g[CUZK_G1].affine_bytes, g2 = key->curve->g[CUZK_G2].affine_bytes;
    cuzk_circom_facts facts = {.curve = key->curve,
                               .n_constraints = cuzk_zkey_n_constraints(key),
                               .n_public = key->n_public,
                               .n_vars = key->n_vars,
                               .lg_domain = key->lg_domain,
                               .n_bytes = n_bytes};
    cuzk_sha256 sha;
    cuzk_sha256_init(&sha);
    cuzk_sha256_update(&sha, &key->vk.alpha1, g1);
    cuzk_sha256_update(&sha, &key->vk.beta1, g1);
    cuzk_sha256_update(&sha, &key->vk.delta1, g1);
    cuzk_sha256_update(&sha, &key->vk.beta2, g2);
    cuzk_sha256_update(&sha, &key->vk.gamma2, g2);
    cuzk_sha256_update(&sha, &key->vk.delta2, g2);
    cuzk_sha256_final(&sha, facts.digest);
    return facts;
}

bool cuzk_circom_facts_equal(const cuzk_circom_facts *a, const cuzk_circom_facts *b)
{
    return a->curve == b->curve && a->n_public == b->n_public && a->n_vars == b->n_vars &&
           a->lg_domain == b->lg_domain && a->n_bytes == b->n_bytes &&
           memcmp(a->digest, b->digest, sizeof a->digest) == 0;
}

static cuzk_status read_facts(cuzk_circom_facts *out, const cuzk_circom_registry *r,
                              const char *path, cuzk_error *err)
{
    cuzk_input input;
    cuzk_zkey key;
    CUZK_TRY(cuzk_input_open_file(&input, path, err));
    cuzk_status status = cuzk_zkey_open(&key, input.data, input.size, err);
    if (status == CUZK_OK) {
        status = cuzk_api_test_key(key.is_test_key, r->allow_test_key, "key", err);
    }
    if (status == CUZK_OK) {
        *out = cuzk_circom_facts_of(&key, input.size);
        if (key.no_phase2) {
            cuzk_api_log(r->ctx, CUZK_LOG_WARN,
                         "\"%s\": gamma equals delta: nobody contributed to phase 2 of this key, "
                         "anybody can forge proofs for it",
                         path);
        }
    }
    cuzk_input_close(&input);
    cuzk_error_prefix(err, "reading key \"%s\"", path);
    return status;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Compare a circuit's name with n_chars characters, as strcmp does. */
static int compare_name(const struct circuit *c, const char *name, size_t n_chars)
{
    int order = strncmp(c->name, name, n_chars);
    return order != 0 ? order : c->name[n_chars] == '\0' ? 0 : 1;
}

/* The circuit of that name, or where it belongs. */
static unsigned place_of(const cuzk_circom_registry *r, const char *name, size_t n_chars,
                         bool *found)
{
    unsigned low = 0, high = r->n;
    *found = false;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        int order = compare_name(&r->circuits[middle], name, n_chars);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Insert; path is taken over on success. */
static cuzk_status insert(cuzk_circom_registry *r, unsigned place, const char *name, char *path,
                          cuzk_error *err)
{
    if (r->n == r->capacity) {
        unsigned capacity = r->capacity == 0 ? 16 : 2 * r->capacity;
        struct circuit *grown = realloc(r->circuits, capacity * sizeof *grown);
        CUZK_FAIL_IF(grown == NULL, err, CUZK_E_MEMORY, "registering a circuit: out of memory");
        r->circuits = grown;
        r->capacity = capacity;
    }
    struct circuit *c = &r->circuits[place];
    memmove(c + 1, c, (r->n - place) * sizeof *c);
    *c = (struct circuit){.path = path};
    memcpy(c->name, name, strlen(name));
    r->n++;
    return CUZK_OK;
}

static void take_out(cuzk_circom_registry *r, unsigned place)
{
    struct circuit *c = &r->circuits[place];
    free(c->path);
    r->n--;
    memmove(c, c + 1, (r->n - place) * sizeof *c);
}

/* ---- the list's file ------------------------------------------------------------------------- */

static char *list_path(const cuzk_circom_registry *r)
{
    cuzk_text text = {0};
    cuzk_text_printf(&text, "%s/" LIST_NAME, r->folder);
    if (cuzk_text_check(&text, NULL) != CUZK_OK) {
        cuzk_text_clear(&text);
    }
    return text.data; /* handed over */
}

static cuzk_status write_list(const cuzk_circom_registry *r, cuzk_error *err)
{
    cuzk_text text = {0};
    char *path = list_path(r);
    for (unsigned i = 0; i < r->n; i++) {
        cuzk_text_printf(&text, "%s %s\n", r->circuits[i].name,
                         r->circuits[i].path + strlen(r->folder) + 1);
    }
    cuzk_status status =
        path == NULL ? CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory") : cuzk_text_check(&text, err);
    if (status == CUZK_OK) {
        status = cuzk_write_file(path, text.data, text.size, err);
    }
    cuzk_text_clear(&text);
    free(path);
    return status;
}

/* A line "NAME PATH". Its file need not be there any more. */
static cuzk_status read_line(cuzk_circom_registry *r, char *line, cuzk_error *err)
{
    char *space = strchr(line, ' ');
    CUZK_FAIL_IF(space == NULL || space[1] == '\0', err, CUZK_E_FORMAT,
                 "expected a name and a path with a space between, found \"%.80s\"", line);
    *space = '\0';
    CUZK_TRY(check_name(line, strlen(line), err));
    bool is_there;
    unsigned place = place_of(r, line, strlen(line), &is_there);
    CUZK_FAIL_IF(is_there, err, CUZK_E_FORMAT, "\"%s\" stands there twice", line);
    cuzk_error why = {0};
    char *path = NULL;
    cuzk_circom_facts facts = {0};
    cuzk_status status = resolve(&path, r, space + 1, &why);
    CUZK_FAIL_IF(status == CUZK_E_ARGUMENT || status == CUZK_E_MEMORY, err, status, "%s", why.text);
    if (status == CUZK_OK) {
        status = read_facts(&facts, r, path, &why);
    } else {
        cuzk_text text = {0};
        cuzk_text_printf(&text, "%s/%s", r->folder, space + 1);
        CUZK_TRY(cuzk_text_check(&text, err));
        path = text.data; /* handed over */
    }
    if (insert(r, place, line, path, err) != CUZK_OK) {
        free(path);
        return CUZK_E_MEMORY;
    }
    r->circuits[place].is_usable = status == CUZK_OK;
    r->circuits[place].facts = facts;
    if (status != CUZK_OK) {
        cuzk_api_log(r->ctx, CUZK_LOG_WARN, "circuit \"%s\" cannot be used: %s", line, why.text);
    }
    return CUZK_OK;
}

static cuzk_status read_lines(cuzk_circom_registry *r, const char *path, const cuzk_map_file *file,
                              cuzk_error *err)
{
    char *text = strndup((const char *)file->data, (size_t)file->size);
    char *rest = text;
    cuzk_status status = CUZK_OK;
    CUZK_FAIL_IF(text == NULL, err, CUZK_E_MEMORY, "out of memory");
    for (unsigned number = 1; status == CUZK_OK && *rest != '\0'; number++) {
        char *line = rest;
        size_t n = strcspn(line, "\n");
        rest += line[n] == '\0' ? n : n + 1;
        line[n] = '\0';
        if (n > 0) {
            status = read_line(r, line, err);
        }
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "\"%s\", line %u", path, number);
        }
    }
    free(text);
    return status;
}

static cuzk_status read_list(cuzk_circom_registry *r, cuzk_error *err)
{
    char *path = list_path(r);
    cuzk_map_file file = {0};
    CUZK_FAIL_IF(path == NULL, err, CUZK_E_MEMORY, "out of memory");
    cuzk_status status = CUZK_OK;
    if (access(path, F_OK) == 0) {
        status = cuzk_map_file_open(&file, path, err);
    }
    if (status == CUZK_OK && file.size > 0) {
        status = read_lines(r, path, &file, err);
    }
    cuzk_map_file_close(&file);
    free(path);
    return status;
}

/* ---- what the work calls --------------------------------------------------------------------- */

cuzk_status cuzk_circom_registry_create(cuzk_circom_registry **out, const cuzk_ctx *ctx,
                                        const char *folder, bool allow_test_key, cuzk_error *err)
{
    cuzk_circom_registry *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "out of memory");
    pthread_mutex_init(&made->mutex, NULL);
    made->ctx = ctx;
    made->allow_test_key = allow_test_key;
    cuzk_status status = CUZK_OK;
    if (folder != NULL) {
        made->folder = realpath(folder, NULL);
        status = made->folder != NULL ? read_list(made, err)
                                      : CUZK_FAIL(err, CUZK_E_FILE, "circuits folder \"%s\": %s",
                                                  folder, strerror(errno));
    }
    if (status != CUZK_OK) {
        cuzk_circom_registry_destroy(made);
        return status;
    }
    *out = made;
    return CUZK_OK;
}

void cuzk_circom_registry_destroy(cuzk_circom_registry *r)
{
    if (r != NULL) {
        for (unsigned i = 0; i < r->n; i++) {
            free(r->circuits[i].path);
        }
        free(r->circuits);
        free(r->folder);
        pthread_mutex_destroy(&r->mutex);
        free(r);
    }
}

static cuzk_status fill_info(cuzk_circom_info *info, const struct circuit *c, cuzk_error *err)
{
    *info = (cuzk_circom_info){.path = strdup(c->path),
                               .curve = c->facts.curve->snarkjs_name,
                               .n_constraints = c->facts.n_constraints,
                               .n_public = c->facts.n_public,
                               .n_vars = c->facts.n_vars,
                               .n_bytes = c->facts.n_bytes};
    memcpy(info->name, c->name, sizeof info->name);
    CUZK_FAIL_IF(info->path == NULL, err, CUZK_E_MEMORY, "out of memory");
    return CUZK_OK;
}

/* With the mutex: path belongs to the table afterwards, or is freed. */
static cuzk_status enter(cuzk_circom_registry *r, bool *was_registered, cuzk_circom_info *info,
                         const char *name, char *path, const cuzk_circom_facts *facts,
                         cuzk_error *err)
{
    bool found;
    unsigned place = place_of(r, name, strlen(name), &found);
    if (found && strcmp(r->circuits[place].path, path) != 0) {
        free(path);
        *was_registered = true;
        return CUZK_FAIL(err, CUZK_E_MISMATCH, "circuit \"%s\" is already \"%s\"", name,
                         r->circuits[place].path);
    }
    cuzk_status status = found ? CUZK_OK : insert(r, place, name, path, err);
    if (found || status != CUZK_OK) {
        free(path);
    }
    CUZK_TRY(status);
    r->circuits[place].facts = *facts;
    r->circuits[place].is_usable = true;
    if (!found) {
        status = write_list(r, err);
    }
    if (status == CUZK_OK && info != NULL) {
        status = fill_info(info, &r->circuits[place], err);
    }
    if (status != CUZK_OK && !found) {
        take_out(r, place);
    }
    *was_registered = found;
    return status;
}

cuzk_status cuzk_circom_registry_add(cuzk_circom_registry *r, bool *was_registered,
                                     cuzk_circom_info *info, const char *name, const char *path,
                                     cuzk_error *err)
{
    char *resolved = NULL;
    cuzk_circom_facts facts;
    CUZK_FAIL_IF(r->folder == NULL, err, CUZK_E_UNSUPPORTED,
                 "no circuit can be registered: no circuits folder is configured");
    CUZK_TRY(check_name(name, strlen(name), err));
    CUZK_TRY(resolve(&resolved, r, path, err));
    cuzk_status status = read_facts(&facts, r, resolved, err);
    if (status != CUZK_OK) {
        free(resolved);
        return status;
    }
    pthread_mutex_lock(&r->mutex);
    status = enter(r, was_registered, info, name, resolved, &facts, err);
    pthread_mutex_unlock(&r->mutex);
    return status;
}

/* With the mutex. */
static cuzk_status fill_list(const cuzk_circom_registry *r, cuzk_circom_info **infos, unsigned *n,
                             cuzk_error *err)
{
    cuzk_circom_info *made = calloc(r->n + 1, sizeof *made);
    unsigned n_made = 0;
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "out of memory");
    for (unsigned i = 0; i < r->n; i++) {
        if (!r->circuits[i].is_usable) {
            continue;
        }
        cuzk_status status = fill_info(&made[n_made++], &r->circuits[i], err);
        if (status != CUZK_OK) {
            cuzk_circom_list_free(made, n_made);
            return status;
        }
    }
    *infos = made;
    *n = n_made;
    return CUZK_OK;
}

cuzk_status cuzk_circom_registry_list(cuzk_circom_registry *r, cuzk_circom_info **infos,
                                      unsigned *n, cuzk_error *err)
{
    pthread_mutex_lock(&r->mutex);
    cuzk_status status = fill_list(r, infos, n, err);
    pthread_mutex_unlock(&r->mutex);
    return status;
}

/* With the mutex. */
static cuzk_status no_such_circuit(const cuzk_circom_registry *r, const char *name, size_t n_chars,
                                   cuzk_error *err)
{
    cuzk_text known = {0};
    for (unsigned i = 0; i < r->n; i++) {
        cuzk_text_printf(&known, "%s%s", known.size == 0 ? "; there are " : ", ",
                         r->circuits[i].name);
    }
    cuzk_status status = cuzk_text_check(&known, err);
    if (status == CUZK_OK) {
        status = CUZK_FAIL(err, CUZK_E_NOT_FOUND, "there is no circuit \"%.*s\"%s",
                           n_chars > 120 ? 120 : (int)n_chars, name,
                           known.size == 0 ? ": none is registered" : known.data);
    }
    cuzk_text_clear(&known);
    return status;
}

cuzk_status cuzk_circom_registry_find(cuzk_circom_registry *r, cuzk_circom_facts *facts,
                                      char **path, const char *name, size_t n_chars,
                                      cuzk_error *err)
{
    bool found = false;
    unsigned place = 0;
    cuzk_status status = CUZK_OK;
    pthread_mutex_lock(&r->mutex);
    if (check_name(name, n_chars, NULL) == CUZK_OK) {
        place = place_of(r, name, n_chars, &found);
    }
    if (!found) {
        status = no_such_circuit(r, name, n_chars, err);
    } else if (!r->circuits[place].is_usable) {
        status = CUZK_FAIL(err, CUZK_E_NOT_FOUND,
                           "circuit \"%s\": its key \"%s\" could not be read; register it anew "
                           "when it is there",
                           r->circuits[place].name, r->circuits[place].path);
    } else {
        *facts = r->circuits[place].facts;
        if (path != NULL) {
            *path = strdup(r->circuits[place].path);
            status = *path != NULL ? CUZK_OK : CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
        }
    }
    pthread_mutex_unlock(&r->mutex);
    return status;
}

void cuzk_circom_list_free(cuzk_circom_info *infos, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        free(infos[i].path);
    }
    free(infos);
}
