/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The process around a command: standard streams that are closed, signals, inputs that shrink while
 * they are mapped. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- standard streams ------------------------------------------------------------------------ */

void cuzk_cli_open_streams(void)
{
    /* Without this an output file could become descriptor 1 and receive what is printed. What
     * stands in for stdout must not take writes: a result that nobody gets has to be noticed, also
     * when it is written by the name /dev/stdout. A folder refuses both. */
    static const char *const paths[] = {"/dev/null", "/", "/dev/null"};
    static const int flags[] = {O_RDONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open(paths[fd], flags[fd]) < 0) {
            _exit(CUZK_EXIT_FAILED); /* there is nowhere to say why */
        }
    }
}

int cuzk_cli_close_stdout(const cuzk_cli_args *args, int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return code;
    }
    char text[CUZK_ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "writing to stdout failed%s%s", errno != 0 ? ": " : "",
             errno != 0 ? strerror(errno) : "");
    const char *command = args->command != NULL ? args->command->name : "help";
    if (code == CUZK_EXIT_OK && args->result_elsewhere != NULL) {
        if (!args->quiet) {
            fprintf(stderr, "cuzk %s: warning: %s; %s\n", command, text, args->result_elsewhere);
        }
        return code;
    }
    fprintf(stderr, "cuzk %s: %s\n", command, text);
    return code == CUZK_EXIT_OK ? CUZK_EXIT_FAILED : code;
}

/* ---- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

bool cuzk_cli_interrupted(void)
{
    return interrupted != 0;
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

/* ---- mapped inputs --------------------------------------------------------------------------- */

/* What the handler prints, made before anything can go wrong. */
struct message {
    char *line, *object; /* for stderr; for stdout, NULL without --json */
};

enum { WATCHED_MAX = 8 };
static struct {
    const char *path;
    struct stat st; /* when the command began */
    struct message message;
} watched[WATCHED_MAX];
static size_t n_watched;
static struct message unknown_cause;

/* Async-signal-safe. */
static void put(int fd, const char *text)
{
    if (text != NULL && write(fd, text, strlen(text)) < 0) {
        return; /* nothing is left to be done about it */
    }
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code != BUS_ADRERR) {
        /* not about a mapped file: end as without a handler */
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    static atomic_flag is_told = ATOMIC_FLAG_INIT;
    while (atomic_flag_test_and_set(&is_told)) {
        pause(); /* another thread prints, and ends the process */
    }
    const struct message *m = &unknown_cause;
    for (size_t i = 0; i < n_watched; i++) {
        struct stat st;
        if (stat(watched[i].path, &st) == 0 && st.st_ino == watched[i].st.st_ino &&
            st.st_dev == watched[i].st.st_dev && st.st_size < watched[i].st.st_size) {
            m = &watched[i].message;
        }
    }
    put(STDERR_FILENO, m->line);
    put(STDOUT_FILENO, m->object);
    _exit(CUZK_EXIT_FAILED);
}

/* text: taken over. */
static struct message make_message(const char *prefix, char *text, bool json)
{
    struct message m = {NULL, NULL};
    if (text == NULL || asprintf(&m.line, "%s%s\n", prefix, text) < 0) {
        m.line = NULL;
    }
    size_t n = 0;
    FILE *f = text != NULL && json ? open_memstream(&m.object, &n) : NULL;
    if (f != NULL) {
        fputs("{\"ok\":false,\"status\":\"E_FILE\",\"error\":", f);
        cuzk_cli_json_string(f, text);
        fputs("}\n", f);
        fclose(f);
    }
    free(text);
    return m;
}

void cuzk_cli_watch_inputs(const char *prefix, const char *const *paths, size_t n, bool json)
{
    char *text = NULL;
    for (size_t i = 0; i < n && n_watched < WATCHED_MAX; i++) {
        struct stat *st = &watched[n_watched].st;
        if (paths[i] == NULL || stat(paths[i], st) != 0 || !S_ISREG(st->st_mode)) {
            continue;
        }
        if (asprintf(&text,
                     "\"%s\": the file was shortened while it was being read: it had %lld bytes",
                     paths[i], (long long)st->st_size) < 0) {
            text = NULL;
        }
        watched[n_watched].path = paths[i];
        watched[n_watched].message = make_message(prefix, text, json);
        n_watched++;
    }
    text = strdup("reading a mapped input failed: its disk reports an error, or the file was "
                  "shortened and has grown again");
    unknown_cause = make_message(prefix, text, json);
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
