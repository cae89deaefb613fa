/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the commands print: error lines, progress, JSON; small file helpers. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

uint64_t cuzk_cli_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool cuzk_cli_progress(void *user, const char *stage, double done)
{
    enum { FIRST_NS = 400000000, EVERY_NS = 100000000 };
    cuzk_cli_args *args = user;
    if (cuzk_cli_interrupted()) {
        return false;
    }
    if (args->quiet) {
        return true;
    }
    if (args->progress) {
        fprintf(stderr, "cuzk %s: %3.0f %% %s\n", args->command->name, 100 * done, stage);
        return true;
    }
    uint64_t now = cuzk_cli_now_ns();
    uint64_t last = args->progress_last_ns;
    bool due = last == 0 ? now - args->begin_ns > FIRST_NS : now - last > EVERY_NS;
    if (due && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[Kcuzk %s: %3.0f %% %s", args->command->name, 100 * done, stage);
        args->progress_last_ns = now;
    }
    return true;
}

void cuzk_cli_progress_end(cuzk_cli_args *args)
{
    if (args->progress_last_ns != 0) {
        fputs("\r\033[K", stderr);
        args->progress_last_ns = 0;
    }
}

void cuzk_cli_one_line(char *text)
{
    for (char *p = text; *p != '\0'; p++) {
        if ((unsigned char)*p < ' ') {
            *p = ' ';
        }
    }
}

void cuzk_cli_json_failure(cuzk_status status, const char *text)
{
    cuzk_cli_json json;
    cuzk_cli_json_begin(&json);
    cuzk_cli_json_bool(&json, "ok", false);
    cuzk_cli_json_text(&json, "status", cuzk_status_name(status));
    cuzk_cli_json_text(&json, "error", text);
    cuzk_cli_json_end(&json);
}

int cuzk_cli_fail(cuzk_cli_args *args)
{
    cuzk_cli_progress_end(args);
    const cuzk_error *err = &args->err;
    char text[CUZK_ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s", err->text[0] != '\0' ? err->text : "failed");
    cuzk_cli_one_line(text);
    fflush(stdout);
    fprintf(stderr, "cuzk %s: %s", args->command->name, text);
    if (args->verbose) {
        fprintf(stderr, " [%s", cuzk_status_name(err->status));
        if (err->file != NULL) {
            fprintf(stderr, ", %s:%d", err->file, err->line);
        }
        fputc(']', stderr);
    }
    fputc('\n', stderr);
    if (args->json) {
        cuzk_cli_json_failure(err->status, text);
    }
    int code = cuzk_status_exit_code(err->status);
    return code != CUZK_EXIT_OK ? code : CUZK_EXIT_FAILED;
}

/* The library's log: warnings and notes, details with -v. */
static void print_log(void *user, cuzk_log_level level, const char *text)
{
    cuzk_cli_args *args = user;
    if (args->quiet || (level == CUZK_LOG_DEBUG && !args->verbose)) {
        return;
    }
    static const char *const words[] = {"error: ", "warning: ", "note: ", ""};
    cuzk_cli_progress_end(args);
    fprintf(stderr, "cuzk %s: %s%s\n", args->command->name, words[level], text);
}

cuzk_ctx *cuzk_cli_ctx(cuzk_cli_args *args, int *exit_code)
{
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = args->n_threads;
    options.log = print_log;
    options.log_user = args;
    cuzk_ctx *ctx = NULL;
    if (cuzk_ctx_create(&ctx, &options, &args->err) != CUZK_OK) {
        *exit_code = cuzk_cli_fail(args);
        return NULL;
    }
    return ctx;
}

static void file_error(cuzk_cli_args *args, const char *doing, const char *path)
{
    args->err.status = CUZK_E_FILE;
    args->err.file = __FILE__;
    args->err.line = __LINE__;
    snprintf(args->err.text, sizeof args->err.text, "%s \"%s\": %s", doing, path, strerror(errno));
}

void cuzk_cli_error_names(cuzk_cli_args *args, const char *first, const char *second)
{
    char text[CUZK_ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s", args->err.text);
    snprintf(args->err.text, sizeof args->err.text, "\"%s\", \"%s\": %.900s", first, second, text);
}

void cuzk_cli_no_memory(cuzk_cli_args *args)
{
    args->err.status = CUZK_E_MEMORY;
    snprintf(args->err.text, sizeof args->err.text, "out of memory");
}

/* The folder that a file lies in, and where the file's own name begins. False: no memory. */
static bool folder_of(char **folder, const char **name, const char *path)
{
    const char *slash = strrchr(path, '/');
    *name = slash != NULL ? slash + 1 : path;
    *folder = slash == NULL   ? strdup(".")
              : slash == path ? strdup("/")
                              : strndup(path, (size_t)(slash - path));
    return *folder != NULL;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether two names of files that are not there yet are the same name in the same folder. */
static bool same_new_file(const char *path_a, const char *path_b)
{
    char *folder_a = NULL, *folder_b = NULL;
    const char *name_a, *name_b;
    struct stat a, b;
    bool same = strcmp(path_a, path_b) == 0 ||
                (folder_of(&folder_a, &name_a, path_a) && folder_of(&folder_b, &name_b, path_b) &&
                 strcmp(name_a, name_b) == 0 && stat(folder_a, &a) == 0 &&
                 stat(folder_b, &b) == 0 && same_inode(&a, &b));
    free(folder_a);
    free(folder_b);
    return same;
}

bool cuzk_cli_same_file(const cuzk_cli_args *args, const char *output, const char *other)
{
    if (output == NULL || other == NULL) {
        return false;
    }
    struct stat a, b;
    bool have_a = stat(output, &a) == 0, have_b = stat(other, &b) == 0;
    bool same = have_a && have_b ? S_ISREG(a.st_mode) && same_inode(&a, &b)
                                 : !have_a && !have_b && same_new_file(output, other);
    if (same) {
        cuzk_cli_usage(args, "\"%s\": written to, and also \"%s\" of the same command", output,
                       other);
    }
    return same;
}

bool cuzk_cli_can_write(cuzk_cli_args *args, const char *path)
{
    struct stat st;
    if (strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0) {
        return true; /* streams, which are open already, and devices */
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        errno = EISDIR;
        if (S_ISDIR(st.st_mode)) {
            file_error(args, "writing", path);
        }
        return !S_ISDIR(st.st_mode);
    }
    char *target = realpath(path, NULL);
    char *folder = NULL;
    const char *name;
    errno = ENOMEM;
    bool ok = folder_of(&folder, &name, target != NULL ? target : path) && stat(folder, &st) == 0;
    if (ok) {
        errno = ENOTDIR;
        ok = S_ISDIR(st.st_mode) && access(folder, W_OK | X_OK) == 0;
    }
    if (!ok) {
        file_error(args, "writing", path);
    }
    free(folder);
    free(target);
    return ok;
}

char *cuzk_cli_read_file(cuzk_cli_args *args, const char *path, size_t *n_bytes)
{
    /* bigger than any proof, key or list of public values that is given as a whole */
    enum { FILE_BYTES_MAX = 1 << 30 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        file_error(args, "opening", path);
        if (fd >= 0) {
            close(fd);
        }
        return NULL;
    }
    if (!S_ISREG(st.st_mode) || st.st_size > FILE_BYTES_MAX) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EFBIG;
        file_error(args, "opening", path);
        if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
            snprintf(args->err.text, sizeof args->err.text,
                     "opening \"%s\": it is not a file, expected a regular file", path);
        }
        close(fd);
        return NULL;
    }
    size_t size = (size_t)st.st_size, n = 0;
    char *data = malloc(size + 1);
    errno = ENOMEM;
    while (data != NULL && n < size) {
        ssize_t k = read(fd, data + n, size - n);
        if (k > 0) {
            n += (size_t)k;
        } else if (k == 0) {
            size = n; /* the file shrank */
        } else if (errno != EINTR) {
            break;
        }
    }
    if (data == NULL || n < size) {
        file_error(args, "reading", path);
        free(data);
        data = NULL;
    } else {
        data[n] = '\0';
        *n_bytes = n;
    }
    close(fd);
    return data;
}

uint64_t cuzk_cli_peak_memory(void)
{
    /* getrusage also counts what the parent process had before it started this program */
    FILE *f = fopen("/proc/self/status", "re");
    char line[128];
    unsigned long long kib = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "VmHWM: %llu kB", &kib) == 1) {
            break;
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    struct rusage usage;
    if (kib == 0 && getrusage(RUSAGE_SELF, &usage) == 0) {
        kib = (unsigned long long)usage.ru_maxrss;
    }
    return kib * 1024;
}

cuzk_cli_digits cuzk_cli_group_digits(uint64_t value)
{
    cuzk_cli_digits out;
    char plain[24];
    int n = snprintf(plain, sizeof plain, "%llu", (unsigned long long)value);
    int k = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) {
            out.text[k++] = ',';
        }
        out.text[k++] = plain[i];
    }
    out.text[k] = '\0';
    return out;
}

/* Bytes of the UTF-8 character at p, 0 when there is none (RFC 3629: shortest form, no surrogates).
 */
static unsigned utf8_length(const unsigned char *p)
{
    static const struct {
        unsigned char first_min, first_max, second_min, second_max;
        unsigned length;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (p[0] < forms[i].first_min || p[0] > forms[i].first_max) {
            continue;
        }
        for (unsigned k = 1; k < forms[i].length; k++) {
            unsigned char lo = k == 1 ? forms[i].second_min : 0x80;
            unsigned char hi = k == 1 ? forms[i].second_max : 0xbf;
            if (p[k] < lo || p[k] > hi) { /* also at the terminating NUL */
                return 0;
            }
        }
        return forms[i].length;
    }
    return 0;
}

void cuzk_cli_json_string(FILE *f, const char *text)
{
    fputc('"', f);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        unsigned n = utf8_length(p);
        if (n == 0) {
            fputs("\\ufffd", f); /* a file name may hold any byte, JSON may not */
            n = 1;
        } else if (*p == '"' || *p == '\\') {
            fprintf(f, "\\%c", *p);
        } else if (*p < ' ') {
            fprintf(f, "\\u%04x", *p);
        } else {
            fwrite(p, 1, n, f);
        }
        p += n;
    }
    fputc('"', f);
}

static void put_key(cuzk_cli_json *json, const char *key)
{
    if (!json->is_first) {
        putchar(',');
    }
    json->is_first = false;
    if (key != NULL) {
        cuzk_cli_json_string(stdout, key);
        putchar(':');
    }
}

void cuzk_cli_json_begin(cuzk_cli_json *json)
{
    putchar('{');
    json->is_first = true;
}

void cuzk_cli_json_end(cuzk_cli_json *json)
{
    fputs("}\n", stdout);
    json->is_first = true;
}

void cuzk_cli_json_text(cuzk_cli_json *json, const char *key, const char *value)
{
    put_key(json, key);
    cuzk_cli_json_string(stdout, value);
}

void cuzk_cli_json_number(cuzk_cli_json *json, const char *key, uint64_t value)
{
    put_key(json, key);
    printf("%llu", (unsigned long long)value);
}

void cuzk_cli_json_seconds(cuzk_cli_json *json, const char *key, uint64_t ns)
{
    put_key(json, key);
    printf("%.6f", (double)ns / 1e9);
}

void cuzk_cli_json_bool(cuzk_cli_json *json, const char *key, bool value)
{
    put_key(json, key);
    fputs(value ? "true" : "false", stdout);
}

void cuzk_cli_json_open(cuzk_cli_json *json, const char *key, char bracket)
{
    put_key(json, key);
    putchar(bracket);
    json->is_first = true;
}

void cuzk_cli_json_close(cuzk_cli_json *json, char bracket)
{
    putchar(bracket);
    json->is_first = false;
}

int cuzk_cli_verdict(cuzk_cli_args *args, bool valid, const char *text, const char *counted,
                     uint64_t n, uint64_t first_invalid, const char *proof)
{
    if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", valid);
        cuzk_cli_json_bool(&json, "valid", valid);
        cuzk_cli_json_number(&json, counted, n);
        if (!valid) {
            cuzk_cli_json_number(&json, "first_invalid", first_invalid);
            cuzk_cli_json_text(&json, "reason", args->err.text);
        }
        cuzk_cli_json_end(&json);
    } else if (valid && !args->quiet) {
        printf("%s\n", text);
    }
    if (!valid) {
        fprintf(stderr, "cuzk %s: \"%s\": invalid: %s\n", args->command->name, proof,
                args->err.text);
    }
    return valid ? CUZK_EXIT_OK : CUZK_EXIT_FAILED;
}

void cuzk_cli_print_device(const cuzk_prove_stats *stats, const char *device)
{
    const char *joint = ":";
    if (stats->n_device_stages == 0) {
        return;
    }
    printf("on %s, ms", device);
    for (unsigned i = 0; i < stats->n_device_stages; i++) {
        if (stats->device_ns[i] != 0) {
            printf("%s %s %.2f", joint, stats->device_stage[i], (double)stats->device_ns[i] / 1e6);
            joint = ",";
        }
    }
    printf("\n");
}

void cuzk_cli_json_proving(cuzk_cli_json *json, const cuzk_prove_stats *stats, uint64_t peak_bytes,
                           const cuzk_ctx *ctx)
{
    cuzk_cli_json_seconds(json, "seconds", stats->total_ns);
    cuzk_cli_json_open(json, "stages", '{');
    for (unsigned i = 0; i < stats->n_stages; i++) {
        cuzk_cli_json_seconds(json, stats->stage[i], stats->stage_ns[i]);
    }
    cuzk_cli_json_close(json, '}');
    if (stats->n_device_stages > 0) {
        cuzk_cli_json_open(json, "device_stages", '{');
        for (unsigned i = 0; i < stats->n_device_stages; i++) {
            cuzk_cli_json_seconds(json, stats->device_stage[i], stats->device_ns[i]);
        }
        cuzk_cli_json_close(json, '}');
    }
    cuzk_cli_json_number(json, "peak_memory_bytes", peak_bytes);
    cuzk_cli_json_text(json, "cpu", cuzk_ctx_cpu(ctx));
    cuzk_cli_json_number(json, "threads", cuzk_ctx_n_threads(ctx));
}
