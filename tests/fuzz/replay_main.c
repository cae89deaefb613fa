/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs a target on files and on all files of folders, without a fuzzing engine, and on every
 * prefix of the small ones: replay TARGET's corpus as a test. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

enum { PREFIXES_UP_TO_BYTES = 512 };

static unsigned n_files;

static void run_exact(const uint8_t *data, size_t n)
{
    /* exact size, so that the sanitizers see a read past the end */
    uint8_t *copy = malloc(n > 0 ? n : 1);
    CUZK_FUZZ_CHECK(copy != NULL);
    if (n > 0) {
        memcpy(copy, data, n);
    }
    cuzk_fuzz_run(copy, n);
    free(copy);
}

static void run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (f == NULL || stat(path, &st) != 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    uint8_t *data = malloc((size_t)st.st_size + 1);
    CUZK_FUZZ_CHECK(data != NULL);
    size_t n = fread(data, 1, (size_t)st.st_size, f);
    fclose(f);
    run_exact(data, n);
    for (size_t k = 0; n <= PREFIXES_UP_TO_BYTES && k < n; k++) {
        run_exact(data, k);
    }
    free(data);
    n_files++;
}

static void run_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        run_file(path);
        return;
    }
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char *name = NULL;
        if (entries[i]->d_name[0] != '.' &&
            asprintf(&name, "%s/%s", path, entries[i]->d_name) > 0) {
            run_path(name);
            free(name);
        }
        free(entries[i]);
    }
    if (n >= 0) {
        free(entries);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        run_path(argv[i]);
    }
    printf("%u files\n", n_files);
    return n_files > 0 ? 0 : 1;
}
