/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include "fixtures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const char *const roots[] = {"tests/fixtures", "../shared/fixtures", "../shared/golden"};

/* Path of the stored file, which may end in .gz; NULL when there is none. */
static char *find(const char *name)
{
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        for (int gz = 0; gz < 2; gz++) {
            char *path = NULL;
            if (asprintf(&path, "%s/%s%s", roots[i], name, gz ? ".gz" : "") < 0) {
                abort();
            }
            struct stat st;
            if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
                return path;
            }
            free(path);
        }
    }
    return NULL;
}

static void fail(const char *name, const char *what)
{
    fprintf(stderr, "fixture %s: %s\n", name, what);
    abort();
}

bool cuzk_test_fixture_exists(const char *name)
{
    char *path = find(name);
    free(path);
    return path != NULL;
}

cuzk_fixture cuzk_test_fixture(const char *name)
{
    char *path = find(name);
    gzFile f = path != NULL ? gzopen(path, "rb") : NULL;
    if (f == NULL) {
        fail(name, "not found; run the tests from the top of the tree");
    }
    cuzk_fixture out = {malloc(1 << 16), 0};
    uint64_t cap = 1 << 16;
    for (;;) {
        if (out.data == NULL) {
            fail(name, "out of memory");
        }
        int n = gzread(f, out.data + out.size, (unsigned)(cap - 1 - out.size));
        if (n < 0) {
            fail(name, "damaged gzip file");
        }
        out.size += (uint64_t)n;
        if (n == 0) {
            break;
        }
        if (out.size + 1 == cap) {
            cap = cap < (64u << 20) ? cap * 2 : cap + (64u << 20);
            out.data = realloc(out.data, cap);
        }
    }
    gzclose(f);
    free(path);
    /* exact size, so that the sanitizers see a read past the end */
    out.data = realloc(out.data, out.size + 1);
    out.data[out.size] = 0;
    return out;
}

void cuzk_test_fixture_free(cuzk_fixture *fixture)
{
    free(fixture->data);
    *fixture = (cuzk_fixture){NULL, 0};
}

/* mkdir -p for the folder part of `path`. */
static void make_folders(char *path)
{
    for (char *p = path + 1; *p != 0; p++) {
        if (*p == '/') {
            *p = 0;
            mkdir(path, 0777);
            *p = '/';
        }
    }
}

char *cuzk_test_fixture_path(const char *name)
{
    char *stored = find(name);
    if (stored == NULL) {
        fail(name, "not found; run the tests from the top of the tree");
    }
    size_t n = strlen(stored);
    if (n < 3 || strcmp(stored + n - 3, ".gz") != 0) {
        return stored;
    }
    char *plain = NULL;
    char *temporary = NULL;
    if (asprintf(&plain, "%s/fixtures/%s", CUZK_TEST_BUILD_DIR, name) < 0 ||
        asprintf(&temporary, "%s.%ld", plain, (long)getpid()) < 0) {
        abort();
    }
    struct stat st;
    struct stat st_gz;
    if (stat(plain, &st) != 0 || stat(stored, &st_gz) != 0 || st.st_mtime < st_gz.st_mtime) {
        /* several tests may do this at once: each renames a whole file */
        make_folders(plain);
        cuzk_fixture f = cuzk_test_fixture(name);
        FILE *out = fopen(temporary, "wb");
        if (out == NULL || fwrite(f.data, 1, f.size, out) != f.size || fclose(out) != 0 ||
            rename(temporary, plain) != 0) {
            fail(name, "cannot write the inflated copy");
        }
        cuzk_test_fixture_free(&f);
    }
    free(temporary);
    free(stored);
    return plain;
}
