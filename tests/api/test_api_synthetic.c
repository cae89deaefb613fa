/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk_synthetic.h: what is made is accepted by the checks of cuzk_filecoin.h with the request
 * beside it, follows from its options alone, and is refused with any other request. */
#include "api_test.h"

#include "cuzk_filecoin.h"
#include "cuzk_synthetic.h"

#include <sys/stat.h>
#include <unistd.h>

static cuzk_error err;
static cuzk_ctx *ctx;
static char vanilla_path[] = "/tmp/cuzk-synthetic-XXXXXX", request_path[40];

static int setup(void **state)
{
    (void)state;
    int fd = mkstemp(vanilla_path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(request_path, sizeof request_path, "%s.json", vanilla_path);
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 2;
    return cuzk_ctx_create(&ctx, &options, &err) == CUZK_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    unlink(vanilla_path);
    unlink(request_path);
    cuzk_ctx_destroy(ctx);
    return 0;
}

/* A whole file with a NUL behind it. Returned: free. */
static char *content(const char *path, size_t *n_bytes)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    *n_bytes = (size_t)st.st_size;
    char *text = malloc(*n_bytes + 1);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fread(text, 1, *n_bytes, f), *n_bytes);
    fclose(f);
    text[*n_bytes] = '\0';
    return text;
}

static const struct {
    const char *name;
    cuzk_filecoin_kind kind;
    const char *digests[4]; /* fields that the checks depend on */
} kinds[] = {
    {"porep", CUZK_FILECOIN_POREP, {"ticket", "seed", "comm_d", "comm_r"}},
    {"snap", CUZK_FILECOIN_UPDATE, {"comm_r_old", "comm_r_new", "comm_d_new", NULL}},
    {"window", CUZK_FILECOIN_WINDOW, {"randomness", NULL}},
    {"winning", CUZK_FILECOIN_WINNING, {"randomness", NULL}},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static cuzk_synthetic_options options_of(unsigned k, const char *size, uint64_t seed)
{
    cuzk_synthetic_options o = CUZK_SYNTHETIC_OPTIONS_INIT;
    o.kind = kinds[k].name;
    o.sector_size = size;
    o.seed = seed;
    return o;
}

/* Check the vanilla proof against a request's JSON. */
static cuzk_status check(unsigned k, const char *json, size_t json_bytes, const char *vanilla,
                         size_t vanilla_bytes)
{
    cuzk_filecoin_request *request = NULL;
    assert_ok(cuzk_filecoin_request_create(&request, kinds[k].kind, &err));
    cuzk_status s = cuzk_filecoin_request_read_json(request, json, json_bytes, &err);
    if (s == CUZK_OK) {
        s = cuzk_filecoin_request_add_vanilla(request, vanilla, vanilla_bytes, &err);
    }
    if (s == CUZK_OK) {
        s = cuzk_filecoin_check(ctx, request, &err);
    }
    cuzk_filecoin_request_destroy(request);
    return s;
}

/* Change the first digit of the hexadecimal text of a member. */
static void spoil(char *json, const char *member)
{
    char key[40];
    snprintf(key, sizeof key, "\"%s\"", member);
    char *at = strstr(json, key);
    assert_non_null(at);
    at = strchr(at + strlen(key), '"') + 1;
    *at = *at == '0' ? '1' : '0';
}

static void test_accepted(void **state)
{
    (void)state;
    static const char *const sizes[] = {"2KiB", "4KiB", "16k"};
    for (unsigned k = 0; k < N_KINDS; k++) {
        for (unsigned i = 0; i < 3; i++) {
            cuzk_synthetic_options o = options_of(k, sizes[i], 7 * i + 1);
            o.envelope = k == 0 && i == 1;
            o.n_sectors = k == 2 ? 2 : 1;
            o.registered_proof = CUZK_SYNTHETIC_NEWEST;
            assert_ok(cuzk_synthetic_vanilla_write(ctx, vanilla_path, request_path, &o, &err));
            size_t n_vanilla, n_json;
            char *vanilla = content(vanilla_path, &n_vanilla);
            char *json = content(request_path, &n_json);
            assert_ok(check(k, json, n_json, vanilla, n_vanilla));
            /* of another statement */
            for (unsigned d = 0; d < 4 && kinds[k].digests[d] != NULL; d++) {
                char *other = strdup(json);
                spoil(other, kinds[k].digests[d]);
                cuzk_status s = check(k, other, n_json, vanilla, n_vanilla);
                if (s != CUZK_E_MISMATCH && s != CUZK_E_INVALID_PROOF && s != CUZK_E_FORMAT) {
                    fail_msg("%s with another %s: %s", kinds[k].name, kinds[k].digests[d],
                             cuzk_status_name(s));
                }
                free(other);
            }
            free(vanilla);
            free(json);
        }
    }
}

/* The same options give the same bytes; another seed, other ones. */
static void test_deterministic(void **state)
{
    (void)state;
    for (unsigned k = 0; k < N_KINDS; k++) {
        char *first[2] = {NULL, NULL};
        size_t n[2];
        for (unsigned round = 0; round < 3; round++) {
            cuzk_synthetic_options o = options_of(k, "2KiB", round < 2 ? 5 : 6);
            const char *request = round == 1 ? NULL : request_path; /* it may be left out */
            assert_ok(cuzk_synthetic_vanilla_write(ctx, vanilla_path, request, &o, &err));
            size_t n_now;
            char *now = content(vanilla_path, &n_now);
            if (round == 0) {
                first[0] = now;
                n[0] = n_now;
                first[1] = content(request_path, &n[1]);
                continue;
            }
            assert_int_equal(n_now == n[0] && memcmp(now, first[0], n_now) == 0, round == 1);
            free(now);
        }
        size_t n_request;
        char *request = content(request_path, &n_request);
        assert_false(n_request == n[1] && memcmp(request, first[1], n_request) == 0);
        free(request);
        free(first[0]);
        free(first[1]);
    }
}

static void test_refused(void **state)
{
    (void)state;
    unlink(request_path);
    cuzk_synthetic_options o = options_of(0, "2KiB", 1);
    const char *v = vanilla_path, *r = request_path;
    assert_fails(cuzk_synthetic_vanilla_write(NULL, v, r, &o, &err), CUZK_E_ARGUMENT, "ctx");
    assert_fails(cuzk_synthetic_vanilla_write(ctx, NULL, r, &o, &err), CUZK_E_ARGUMENT,
                 "vanilla_path");
    assert_fails(cuzk_synthetic_vanilla_write(ctx, v, r, NULL, &err), CUZK_E_ARGUMENT, "");
    o.struct_bytes = 3;
    assert_fails(cuzk_synthetic_vanilla_write(ctx, v, r, &o, &err), CUZK_E_ARGUMENT,
                 "struct_bytes");
    o = options_of(0, "2KiB", 1);
    o.kind = NULL;
    assert_fails(cuzk_synthetic_vanilla_write(ctx, v, r, &o, &err), CUZK_E_ARGUMENT, "kind");
    o.kind = "poreps";
    assert_fails(cuzk_synthetic_vanilla_write(ctx, v, r, &o, &err), CUZK_E_ARGUMENT, "poreps");
    o = options_of(0, NULL, 1);
    assert_fails(cuzk_synthetic_vanilla_write(ctx, v, r, &o, &err), CUZK_E_ARGUMENT, "sector_size");
    o.sector_size = "3KiB";
    assert_fails(cuzk_synthetic_vanilla_write(ctx, v, r, &o, &err), CUZK_E_ARGUMENT, "3KiB");
    o = options_of(0, "2KiB", 1);
    o.registered_proof = 4242;
    assert_fails(cuzk_synthetic_vanilla_write(ctx, v, r, &o, &err), CUZK_E_ARGUMENT, "4242");
    o = options_of(2, "2KiB", 1);
    o.n_sectors = 0;
    assert_fails(cuzk_synthetic_vanilla_write(ctx, v, r, &o, &err), CUZK_E_ARGUMENT, "sector");
    o.n_sectors = 1000000;
    assert_fails(cuzk_synthetic_vanilla_write(ctx, v, r, &o, &err), CUZK_E_ARGUMENT, "sector");
    o = options_of(3, "2KiB", 1);
    assert_fails(cuzk_synthetic_vanilla_write(ctx, "/none/v", r, &o, &err), CUZK_E_FILE, "/none/v");
    /* both files or neither */
    assert_fails(cuzk_synthetic_vanilla_write(ctx, v, "/none/r", &o, &err), CUZK_E_FILE, "/none/r");
    assert_int_not_equal(access(r, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
