/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the commands print: error lines, progress, JSON; signals; small file helpers. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

void cuzk_cli_catch_signals(void)
{
    /* SA_RESETHAND: a second signal ends the process at once */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    /* a file size limit shall fail the write, which is reported and cleaned up after */
    signal(SIGXFSZ, SIG_IGN);
}

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
    if (interrupted) {
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

int cuzk_cli_fail(cuzk_cli_args *args)
{
    cuzk_cli_progress_end(args);
    const cuzk_error *err = &args->err;
    /* the text of a failure may quote a file name with line breaks: keep to one line */
    char text[CUZK_ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s", err->text[0] != '\0' ? err->text : "failed");
    for (char *p = text; *p != '\0'; p++) {
        if ((unsigned char)*p < ' ') {
            *p = ' ';
        }
    }
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
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", false);
        cuzk_cli_json_text(&json, "status", cuzk_status_name(err->status));
        cuzk_cli_json_text(&json, "error", text);
        cuzk_cli_json_end(&json);
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

void cuzk_cli_no_memory(cuzk_cli_args *args)
{
    args->err.status = CUZK_E_MEMORY;
    snprintf(args->err.text, sizeof args->err.text, "out of memory");
}

bool cuzk_cli_same_file(const cuzk_cli_args *args, const char *output, const char *other)
{
    if (output == NULL || other == NULL) {
        return false;
    }
    struct stat a, b;
    bool have_a = stat(output, &a) == 0, have_b = stat(other, &b) == 0;
    bool same = have_a && have_b
                    ? S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino
                    : !have_a && !have_b && strcmp(output, other) == 0;
    if (same) {
        cuzk_cli_usage(args, "\"%s\": written to, and also \"%s\" of the same command", output,
                       other);
    }
    return same;
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
        errno = S_ISDIR(st.st_mode) ? EISDIR : S_ISREG(st.st_mode) ? EFBIG : EINVAL;
        file_error(args, "opening", path);
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

static void put_text(const char *text)
{
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') {
            printf("\\%c", *p);
        } else if (*p < ' ') {
            printf("\\u%04x", *p);
        } else {
            putchar(*p);
        }
    }
    putchar('"');
}

static void put_key(cuzk_cli_json *json, const char *key)
{
    if (!json->is_first) {
        putchar(',');
    }
    json->is_first = false;
    if (key != NULL) {
        put_text(key);
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
    put_text(value);
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
