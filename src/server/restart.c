/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE /* syscall */
#include "server/restart.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define VARIABLE "CUZK_RESTARTS"

enum { ARGUMENTS_MAX = 1 << 20, WORDS_MAX = 4096 };

cuzk_restarts cuzk_restarts_take(void)
{
    cuzk_restarts r = {0};
    const char *text = getenv(VARIABLE);
    if (text == NULL || sscanf(text, "%u %" SCNd64 " %u %u", &r.n, &r.since, &r.status_port,
                               &r.owns_sockets) != 4) {
        r = (cuzk_restarts){0};
    }
    unsetenv(VARIABLE);
    return r;
}

bool cuzk_restarts_may(cuzk_restarts *r, int64_t now)
{
    if (r->n == 0 || now < r->since || now - r->since > CUZK_RESTARTS_SECONDS) {
        r->n = 0;
        r->since = now;
    }
    return r->n++ < CUZK_RESTARTS_MAX;
}

/* The command line, as the system remembers it: words and NULs. */
static char **read_arguments(void)
{
    static char bytes[ARGUMENTS_MAX];
    static char *words[WORDS_MAX];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t n = 0, n_words = 0;
    ssize_t got = 1;
    while (fd >= 0 && got > 0 && n < sizeof bytes - 1) {
        got = read(fd, bytes + n, sizeof bytes - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    for (size_t at = 0; at < n && n_words < WORDS_MAX - 1; at += strlen(bytes + at) + 1) {
        words[n_words++] = bytes + at;
    }
    return n_words > 0 ? words : NULL;
}

static void set_number(const char *name, unsigned long number)
{
    char text[32];
    snprintf(text, sizeof text, "%lu", number);
    setenv(name, text, 1);
}

/* To the numbers that systemd would give them, open in the next program. They come from above
 * those. */
static bool place_sockets(const int *fds, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (dup2(fds[i], SD_LISTEN_FDS_START + (int)i) < 0) {
            return false;
        }
    }
    return true;
}

/* Whatever libraries have open, a driver's files among them, ends with this program. Linux before
 * 5.11 leaves open what was not opened close-on-exec. */
static void keep_only(unsigned n_sockets)
{
#ifdef SYS_close_range
    enum { CLOSE_ON_EXEC = 4 };
    (void)syscall(SYS_close_range, SD_LISTEN_FDS_START + n_sockets, ~0U, CLOSE_ON_EXEC);
#else
    (void)n_sockets;
#endif
}

const char *cuzk_restart(const cuzk_restarts *r, const int *listen_fds, unsigned n)
{
    char text[96];
    char **arguments = read_arguments();
    const char *reason = arguments == NULL ? "the command line cannot be read" : NULL;
    if (reason == NULL && !place_sockets(listen_fds, n)) {
        reason = strerror(errno);
    }
    if (reason == NULL) {
        snprintf(text, sizeof text, "%u %" PRId64 " %u %u", r->n, r->since, r->status_port,
                 r->owns_sockets);
        setenv(VARIABLE, text, 1);
        set_number("LISTEN_PID", (unsigned long)getpid());
        set_number("LISTEN_FDS", n);
        keep_only(n);
        execv("/proc/self/exe", arguments);
        reason = strerror(errno);
    }
    for (unsigned i = 0; i < n; i++) {
        close(listen_fds[i]);
        close(SD_LISTEN_FDS_START + (int)i);
    }
    return reason;
}
