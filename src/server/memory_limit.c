/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How much host memory this process may use: /proc/meminfo and the limits of its cgroups, version 1
 * (a hierarchy of its own for memory) and 2 (one for all). A limit of a cgroup holds for all below
 * it, so every one from the process' own up to the root is looked at. In a container the mounted
 * tree may begin at the container's own cgroup; what is not there is passed over. */
#include "server/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_ = 4096 };

static FILE *open_at(const char *root, const char *path)
{
    char full[LINE_MAX_];
    int n = snprintf(full, sizeof full, "%s%s", root, path);
    return n > 0 && (size_t)n < sizeof full ? fopen(full, "re") : NULL;
}

static cuzk_status total_memory(uint64_t *bytes, const char *root, cuzk_error *err)
{
    FILE *f = open_at(root, "/proc/meminfo");
    CUZK_FAIL_IF(f == NULL, err, CUZK_E_FILE, "memory of the machine: /proc/meminfo: %s",
                 strerror(errno));
    char line[LINE_MAX_];
    uint64_t kib = 0;
    while (kib == 0 && fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "MemTotal: %" SCNu64 " kB", &kib) != 1) {
            kib = 0;
        }
    }
    fclose(f);
    CUZK_FAIL_IF(kib == 0 || kib > UINT64_MAX / 1024, err, CUZK_E_FILE,
                 "memory of the machine: /proc/meminfo has no MemTotal");
    *bytes = kib * 1024;
    return CUZK_OK;
}

/* The number in a limit's file. False: no file, or "max". Version 1 writes a huge number for none,
 * which no machine's memory reaches. */
static bool read_limit(uint64_t *bytes, const char *root, const char *path)
{
    FILE *f = open_at(root, path);
    if (f == NULL) {
        return false;
    }
    bool ok = fscanf(f, "%" SCNu64, bytes) == 1;
    fclose(f);
    return ok;
}

typedef struct {
    uint64_t bytes;
    char *limited_by;
} lowest;

/* Limits of a cgroup and those above it. base: where its hierarchy is mounted. */
static void look_up_the_tree(lowest *l, const char *root, const char *base, const char *cgroup,
                             const char *file)
{
    char path[LINE_MAX_];
    size_t length = strlen(cgroup);
    if (length >= sizeof path / 2 || strlen(base) >= 256) {
        return;
    }
    for (;;) {
        uint64_t limit;
        snprintf(path, sizeof path, "%s%.*s%s%s", base, (int)length, cgroup,
                 length > 0 && cgroup[length - 1] == '/' ? "" : "/", file);
        if (read_limit(&limit, root, path) && limit < l->bytes) {
            l->bytes = limit;
            snprintf(l->limited_by, 256, "%.255s", path);
        }
        while (length > 0 && cgroup[length - 1] != '/') {
            length--;
        }
        if (length == 0) {
            return;
        }
        length--; /* without the slash: the parent */
    }
}

/* Whether a comma-separated list holds a word. */
static bool lists(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; *p != 0;) {
        size_t m = strcspn(p, ",");
        if (m == n && strncmp(p, word, n) == 0) {
            return true;
        }
        p += m + (p[m] != 0);
    }
    return false;
}

static void look_at_cgroups(lowest *l, const char *root)
{
    FILE *f = open_at(root, "/proc/self/cgroup");
    if (f == NULL) {
        return;
    }
    char line[LINE_MAX_];
    while (fgets(line, sizeof line, f) != NULL) {
        /* ID:CONTROLLERS:PATH; version 2 is "0::PATH" */
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL) {
            continue;
        }
        *path++ = 0;
        controllers++;
        if (controllers[0] == 0) {
            look_up_the_tree(l, root, "/sys/fs/cgroup", path, "memory.max");
            look_up_the_tree(l, root, "/sys/fs/cgroup/unified", path, "memory.max");
        } else if (lists(controllers, "memory")) {
            look_up_the_tree(l, root, "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
        }
    }
    fclose(f);
}

cuzk_status cuzk_memory_limit(uint64_t *bytes, char *limited_by, const char *root, cuzk_error *err)
{
    lowest l = {0, limited_by};
    CUZK_TRY(total_memory(&l.bytes, root, err));
    snprintf(limited_by, 256, "MemTotal");
    look_at_cgroups(&l, root);
    *bytes = l.bytes;
    return CUZK_OK;
}

cuzk_status cuzk_config_budget(uint64_t *bytes, char *limited_by, const cuzk_config *config,
                               const char *root, cuzk_error *err)
{
    if (config->memory_total_budget != 0) {
        *bytes = config->memory_total_budget;
        snprintf(limited_by, 256, "memory.total_budget");
        return CUZK_OK;
    }
    uint64_t limit;
    CUZK_TRY(cuzk_memory_limit(&limit, limited_by, root, err));
    uint64_t margin = config->memory_safety_margin;
    if (margin > limit / 4) {
        margin = limit / 4;
    }
    *bytes = limit - margin;
    return CUZK_OK;
}
