/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "work/circom_key.h"

#include "base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read n_bytes of an open file. */
static cuzk_status read_all(uint8_t *out, size_t n_bytes, int fd, cuzk_error *err)
{
    for (size_t at = 0; at < n_bytes;) {
        ssize_t n = read(fd, out + at, n_bytes - at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        CUZK_FAIL_IF(n < 0, err, CUZK_E_FILE, "reading: %s", strerror(errno));
        CUZK_FAIL_IF(n == 0, err, CUZK_E_TRUNCATED, "the file ends after %zu of %zu bytes", at,
                     n_bytes);
        at += (size_t)n;
    }
    return CUZK_OK;
}

static cuzk_status read_file(cuzk_circom_key *out, const char *path, uint64_t expected_bytes,
                             cuzk_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would be waited for */
    CUZK_FAIL_IF(fd < 0, err, CUZK_E_FILE, "opening: %s", strerror(errno));
    cuzk_status status = CUZK_OK;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != expected_bytes) {
        status = CUZK_FAIL(err, CUZK_E_MISMATCH,
                           "the file is not the key that was registered, which had %llu bytes: "
                           "register it anew to use it",
                           (unsigned long long)expected_bytes);
    }
    if (status == CUZK_OK) {
        out->n_bytes = (size_t)expected_bytes;
        out->data = cuzk_pages_alloc_dense(out->n_bytes);
        status = out->data == NULL
                     ? CUZK_FAIL(err, CUZK_E_MEMORY, "%zu bytes: out of memory", out->n_bytes)
                     : read_all(out->data, out->n_bytes, fd, err);
    }
    close(fd);
    return status;
}

cuzk_status cuzk_circom_key_open(cuzk_circom_key *out, const char *path,
                                 const cuzk_circom_facts *facts, bool allow_test_key,
                                 const cuzk_ctx *ctx, cuzk_error *err)
{
    cuzk_zkey key;
    CUZK_TRY(read_file(out, path, facts->n_bytes, err));
    CUZK_TRY(cuzk_zkey_open(&key, out->data, out->n_bytes, err));
    CUZK_TRY(cuzk_api_test_key(key.is_test_key, allow_test_key, "key", err));
    cuzk_circom_facts found = cuzk_circom_facts_of(&key, out->n_bytes);
    CUZK_FAIL_IF(!cuzk_circom_facts_equal(&found, facts), err, CUZK_E_MISMATCH,
                 "the file is not the key that was registered; it is over %s for %u wires, %u of "
                 "them public: register it anew to use it",
                 key.curve->snarkjs_name, key.n_vars, key.n_public);
    return cuzk_prover_create_zkey(&out->prover, &key, NULL, NULL, ctx->pool, err);
}

void cuzk_circom_key_close(cuzk_circom_key *key)
{
    cuzk_prover_destroy(key->prover);
    cuzk_pages_free(key->data, key->n_bytes);
    *key = (cuzk_circom_key){0};
}
