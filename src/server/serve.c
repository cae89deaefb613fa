/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* `cuzk serve`: reads the configuration, makes the parts, and waits for signals.
 *
 * SIGTERM, SIGINT: take no new work, let what runs end, exit; a second one: exit now, unfinished
 * jobs stay in the journal. SIGHUP: read the configuration again. */
#include "server/commands.h"
#include "server/config_try.h"
#include "server/daemon.h"
#include "server/program.h"

#include "base/clock.h"
#include "base/pool.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static void print_help(void)
{
    printf(
        "usage: cuzk serve [options]\n\n"
        "The proving daemon: takes jobs over gRPC, proves them, keeps them in a journal.\n\n"
        "SIGTERM or SIGINT: running jobs end, then the daemon (daemon.drain_time); a second one\n"
        "ends it at once. SIGHUP: the configuration is read again. \"cuzk config explain\" lists\n"
        "all keys.\n\noptions:\n");
    cuzk_options_print_help();
    printf("\nexit codes: 0 ended by a signal, 1 failed, 2 usage\n");
}

/* Each line of a report. */
static void log_lines(cuzk_logger *log, cuzk_log_level level, const char *message,
                      const cuzk_text *lines)
{
    for (const char *p = lines->data; p != NULL && *p != 0;) {
        char line[2048];
        size_t n = strcspn(p, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), p);
        CUZK_LOG(log, level, message, CUZK_LOG_S("text", line));
        p += n + (p[n] != 0);
    }
}

/* Errors before there is a log. */
static void print_lines(const cuzk_text *lines)
{
    for (const char *p = lines->data; p != NULL && *p != 0;) {
        size_t n = strcspn(p, "\n");
        fprintf(stderr, "cuzk serve: configuration: %.*s\n", (int)n, p);
        p += n + (p[n] != 0);
    }
}

static void set_log(cuzk_daemon *d, const cuzk_config *c)
{
    cuzk_logger_set(d->log, (cuzk_log_level)c->logging_level, c->logging_format == 1,
                    (unsigned)c->logging_rate);
}

static int open_config(cuzk_daemon *d, const cuzk_options *options)
{
    cuzk_config_report report = {0};
    cuzk_config_sources sources = cuzk_options_sources(options);
    cuzk_error err = {0};
    cuzk_status status = cuzk_config_load(&d->config, &report, &sources, &err);
    if (status == CUZK_OK) {
        const cuzk_config *c = d->config;
        cuzk_logger_options o = {.level = (cuzk_log_level)c->logging_level,
                                 .json = c->logging_format == 1,
                                 .journald = cuzk_systemd_has_journal(),
                                 .rate = (unsigned)c->logging_rate,
                                 .fd = STDERR_FILENO};
        status = cuzk_logger_create(&d->log, &o, &err);
    }
    if (status == CUZK_OK) {
        CUZK_LOG(
            d->log, CUZK_LOG_INFO, "starting", CUZK_LOG_S("version", cuzk_version()),
            CUZK_LOG_S("configuration", d->config->path != NULL ? d->config->path : "defaults"));
        cuzk_config_look_for_files(d->config, &report);
        log_lines(d->log, CUZK_LOG_WARN, "configuration", &report.warnings);
    } else if (report.n_errors > 0) {
        print_lines(&report.errors);
    } else {
        fprintf(stderr, "cuzk serve: %s\n", err.text);
    }
    cuzk_config_report_clear(&report);
    return status == CUZK_OK ? EXIT_OK : EXIT_FAILED;
}

/* ---- SIGHUP ---------------------------------------------------------------------------------- */

/* Say of each key that changed whether it takes effect. */
static void log_changes(const cuzk_daemon *d, const cuzk_config *fresh)
{
    size_t n;
    const cuzk_config_key *keys = cuzk_config_keys(&n);
    const cuzk_config *now = d->live != NULL ? d->live : d->config;
    for (size_t i = 0; i < n; i++) {
        bool is_changed = !cuzk_config_is_equal(keys[i].is_live ? now : d->config, fresh, &keys[i]);
        if (is_changed && keys[i].is_live) {
            CUZK_LOG(d->log, CUZK_LOG_INFO, "configuration changed",
                     CUZK_LOG_S("key", keys[i].key));
        } else if (is_changed) {
            CUZK_LOG(d->log, CUZK_LOG_WARN, "configuration changed, which takes a restart",
                     CUZK_LOG_S("key", keys[i].key));
        }
    }
}

/* Take the live keys of a configuration: all or none. What can fail comes first. */
static cuzk_status apply(cuzk_daemon *d, cuzk_config *fresh, cuzk_error *err)
{
    if (!cuzk_the_program.is_test) {
        CUZK_TRY(cuzk_config_try_preload(&fresh->srs_preload, cuzk_filecoin_work_table(d->filecoin),
                                         err));
    }
    CUZK_TRY(cuzk_rpc_reload(d->rpc, fresh, err));
    CUZK_TRY(cuzk_preload_set(d->preload, &fresh->srs_preload, err));
    log_changes(d, fresh);
    set_log(d, fresh);
    cuzk_timeline_set(d->timeline, fresh->logging_timeline);
    cuzk_config_destroy(d->live);
    d->live = fresh;
    return CUZK_OK;
}

static void reload(cuzk_daemon *d, const cuzk_options *options)
{
    cuzk_systemd_reloading();
    cuzk_config_report report = {0};
    cuzk_config_sources sources = cuzk_options_sources(options);
    cuzk_config *fresh = NULL;
    cuzk_error err = {0};
    cuzk_status status = cuzk_config_load(&fresh, &report, &sources, &err);
    log_lines(d->log, CUZK_LOG_WARN, "configuration", &report.warnings);
    log_lines(d->log, CUZK_LOG_ERROR, "configuration", &report.errors);
    if (status == CUZK_OK) {
        status = apply(d, fresh, &err);
    }
    if (status == CUZK_OK) {
        CUZK_LOG(d->log, CUZK_LOG_INFO, "configuration read again");
    } else {
        CUZK_LOG(d->log, CUZK_LOG_ERROR, "configuration stays as it was",
                 CUZK_LOG_S("reason", err.text));
        cuzk_config_destroy(fresh);
    }
    cuzk_config_report_clear(&report);
    cuzk_systemd_ready("serving");
}

/* ---- the end --------------------------------------------------------------------------------- */

typedef struct {
    cuzk_daemon *daemon;
    uint64_t deadline_ns;
    bool all_done;
    int done_fd; /* an event when it has ended */
} draining;

static void *drain(void *user)
{
    draining *g = user;
    g->all_done = cuzk_engine_drain(g->daemon->server.engine, g->deadline_ns);
    uint64_t one = 1;
    ssize_t n = write(g->done_fd, &one, sizeof one);
    (void)n; /* an event's counter takes it */
    return NULL;
}

/* Exit without ending the parts: nothing of value is lost, since the journal holds the jobs. */
static void exit_now(cuzk_daemon *d, const char *why)
{
    CUZK_LOG(d->log, CUZK_LOG_WARN, "exiting at once; unfinished jobs stay in the journal",
             CUZK_LOG_S("reason", why));
    _exit(EXIT_OK);
}

/* An engine whose lock nobody gives back is not alive: the look then waits, and the watchdog acts.
 */
static void tell_alive(const cuzk_daemon *d)
{
    cuzk_engine_view view;
    if (cuzk_engine_look(d->server.engine, &view, false, NULL) == CUZK_OK) {
        cuzk_engine_view_clear(&view);
    }
    cuzk_systemd_alive();
}

/* What runs is told to stop, and a proof on the CPU or a load may take minutes to hear of it. */
static void *exit_soon(void *unused)
{
    enum { PATIENCE_SECONDS = 1 };
    (void)unused;
    sleep(PATIENCE_SECONDS);
    _exit(EXIT_OK); /* as in exit_now; the log may be gone by now */
}

/* Whether a device is being opened or given back: a driver may hang in that. */
static bool is_device_tended(const cuzk_daemon *d)
{
    cuzk_engine_view view;
    if (cuzk_engine_look(d->server.engine, &view, false, NULL) != CUZK_OK) {
        return false;
    }
    bool is_tended = false;
    for (unsigned i = 0; i < view.n_devices; i++) {
        cuzk_device_state state = view.devices[i].state;
        is_tended = is_tended || state == CUZK_DEVICE_LOST || state == CUZK_DEVICE_OPENING ||
                    state == CUZK_DEVICE_DRAINING;
    }
    cuzk_engine_view_clear(&view);
    return is_tended;
}

/* Wait for an event on fd or a signal, petting the watchdog. Returns the signal, or 0. */
static int wait_for_signal(const cuzk_daemon *d, int signal_fd, int event_fd)
{
    uint64_t watchdog_ns = cuzk_systemd_watchdog_ns();
    int timeout_ms = watchdog_ns > 0 ? (int)(watchdog_ns / 3000000) + 1 : -1;
    for (;;) {
        struct pollfd fds[2] = {{signal_fd, POLLIN, 0}, {event_fd, POLLIN, 0}};
        int n = poll(fds, 2, timeout_ms);
        if (n == 0) {
            tell_alive(d);
        }
        struct signalfd_siginfo info;
        if (n > 0 && fds[0].revents != 0 && read(signal_fd, &info, sizeof info) == sizeof info) {
            return (int)info.ssi_signo;
        }
        if (n > 0 && fds[1].revents != 0) {
            return 0;
        }
    }
}

static void shut_down(cuzk_daemon *d, int signal_fd, int event_fd)
{
    const cuzk_config *c = d->live != NULL ? d->live : d->config;
    uint64_t drain_ns = c->daemon_drain_time;
    atomic_store_explicit(&d->server.is_draining, true, memory_order_release);
    cuzk_systemd_stopping("running jobs end");
    CUZK_LOG(d->log, CUZK_LOG_INFO, "shutting down: running jobs may end",
             CUZK_LOG_MS("limit_ms", drain_ns));
    cuzk_rpc_stop(d->rpc);
    draining g = {d, cuzk_now_ns() + drain_ns, false, event_fd};
    pthread_t thread;
    if (pthread_create(&thread, NULL, drain, &g) != 0) {
        exit_now(d, "a thread cannot be made");
    }
    for (int signal = SIGHUP; signal != 0;) {
        signal = wait_for_signal(d, signal_fd, event_fd);
        if (signal == SIGTERM || signal == SIGINT) {
            cuzk_rpc_drain(d->rpc, cuzk_now_ns());
            exit_now(d, "a second signal");
        }
    }
    pthread_join(thread, NULL);
    CUZK_LOG(d->log, g.all_done ? CUZK_LOG_INFO : CUZK_LOG_WARN,
             g.all_done ? "all jobs have ended"
             : cuzk_now_ns() < g.deadline_ns
                 ? "no device is left to prove on; unfinished jobs stay in the journal"
                 : "daemon.drain_time is over; unfinished jobs stay in the journal");
    /* the last answers are on their way; those whose jobs are not done are told so at once */
    uint64_t soon = cuzk_now_ns() + CUZK_SEC;
    cuzk_rpc_drain(d->rpc, g.all_done ? soon : cuzk_now_ns());
    cuzk_rpc_view calls;
    cuzk_rpc_look(d->rpc, &calls);
    bool is_admin_idle = cuzk_http_admin_stop(d->admin);
    if (!cuzk_preload_stop(d->preload, soon) || calls.blocking > 0 || !is_admin_idle) {
        exit_now(d, "parameters are being loaded, or a device added");
    }
    pthread_t last;
    if ((!g.all_done || is_device_tended(d)) && pthread_create(&last, NULL, exit_soon, NULL) == 0) {
        pthread_detach(last);
    }
}

/* ---- again ----------------------------------------------------------------------------------- */

/* What the next program is given, once the parts have ended. */
static struct {
    bool is_wanted;
    int fds[CUZK_LISTEN_FDS_MAX];
    unsigned n_fds;
    cuzk_restarts restarts;
} next_program;

static void execute_again(void)
{
    const char *reason = cuzk_restart(&next_program.restarts, next_program.fds, next_program.n_fds);
    fprintf(stderr, "cuzk serve: the daemon cannot be executed again: %s\n", reason);
    _exit(EXIT_FAILED);
}

/* Whatever does not end: its jobs are in the journal. */
static void *execute_soon(void *unused)
{
    enum { PATIENCE_SECONDS = 10 };
    (void)unused;
    sleep(PATIENCE_SECONDS);
    execute_again();
    return NULL;
}

/* No device is left: whether the daemon ends to be executed again. */
static bool begin_restart(cuzk_daemon *d)
{
    pthread_t last;
    if (d->journal == NULL || !cuzk_restarts_may(&d->restarts, (int64_t)time(NULL))) {
        CUZK_LOG(d->log, CUZK_LOG_ERROR, "no device is left: new work is refused",
                 CUZK_LOG_S("restart", d->journal == NULL ? "no: there is no journal"
                                                          : "no: it did not help before"));
        return false;
    }
    CUZK_LOG(d->log, CUZK_LOG_ERROR,
             "no device is left: the daemon executes itself again; its jobs are in the journal",
             CUZK_LOG_U("restart", d->restarts.n), CUZK_LOG_U("at_most", CUZK_RESTARTS_MAX));
    cuzk_systemd_status("a device was lost; the daemon starts again");
    d->restarts.owns_sockets = d->server.n_listen_fds == 0 || d->server.owns_listen_fds;
    d->restarts.status_port = d->http != NULL ? cuzk_http_port(d->http) : 0;
    next_program.restarts = d->restarts;
    next_program.n_fds = cuzk_rpc_keep_listening(d->rpc, next_program.fds, CUZK_LISTEN_FDS_MAX);
    next_program.is_wanted = true;
    if (pthread_create(&last, NULL, execute_soon, NULL) == 0) {
        pthread_detach(last);
    }
    atomic_store_explicit(&d->server.is_draining, true, memory_order_release);
    cuzk_rpc_drain(d->rpc, cuzk_now_ns());
    return true;
}

static void run(cuzk_daemon *d, const cuzk_options *options, int signal_fd, int event_fd)
{
    cuzk_text addresses = {0};
    for (unsigned i = 0; cuzk_rpc_address(d->rpc, i) != NULL; i++) {
        cuzk_text_printf(&addresses, "%s%s", i > 0 ? ", " : "", cuzk_rpc_address(d->rpc, i));
    }
    /* scripts for the reference daemon wait for these words */
    CUZK_LOG(d->log, CUZK_LOG_INFO, "cuzk-daemon ready, serving on",
             CUZK_LOG_S("listen", addresses.data));
    cuzk_text_clear(&addresses);
    cuzk_systemd_ready("serving");
    for (;;) {
        int signal = wait_for_signal(d, signal_fd, d->restart_fd);
        uint64_t count;
        if (signal == 0 && read(d->restart_fd, &count, sizeof count) == sizeof count &&
            begin_restart(d)) {
            return;
        }
        if (signal == SIGHUP) {
            reload(d, options);
        } else if (signal == SIGTERM || signal == SIGINT) {
            CUZK_LOG(d->log, CUZK_LOG_INFO, "signal", CUZK_LOG_I("number", signal));
            shut_down(d, signal_fd, event_fd);
            return;
        }
    }
}

/* ---- the process ----------------------------------------------------------------------------- */

/* A socket must not get the number of a closed standard stream: the log would go to a client. */
static void open_streams(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO) {
        close(fd);
    }
}

/* A file that is shortened while it is mapped: nothing can go on, but the reason can be told. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    static const char shortened[] =
        "cuzk serve: a file that is in use (parameters or a compiled circuit) was shortened or "
        "cannot be read: the daemon ends; its jobs are in the journal\n";
    if (info->si_code == BUS_ADRERR) {
        ssize_t n = write(STDERR_FILENO, shortened, sizeof shortened - 1);
        (void)n; /* there is nobody left to tell */
        _exit(EXIT_FAILED);
    }
    signal(SIGBUS, SIG_DFL); /* the instruction is run again, and ends the process */
}

static void watch_mapped_files(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

static void raise_limits(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Few arenas: the C library else makes one a thread, up to eight a processor, and each keeps what
 * was once freed in it. Large blocks are mapped for themselves, and small ones come from a thread's
 * own cache. */
static void limit_arenas(void)
{
    mallopt(M_ARENA_MAX, 1 + (int)(cuzk_cpu_count() / 4));
}

static int serve(cuzk_daemon *d, const cuzk_options *options)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    /* before the first thread, so that all have them blocked */
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    int event_fd = eventfd(0, EFD_CLOEXEC);
    d->restart_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    d->restarts = cuzk_restarts_take();
    d->server.n_listen_fds = cuzk_systemd_listen_fds(d->listen_fds);
    d->server.owns_listen_fds = d->restarts.owns_sockets == 1;
    raise_limits();
    limit_arenas();
    watch_mapped_files();
    cuzk_error err = {0};
    if (signal_fd < 0 || event_fd < 0 || d->restart_fd < 0) {
        CUZK_LOG(d->log, CUZK_LOG_ERROR, "the daemon does not start",
                 CUZK_LOG_S("reason", "no descriptors for signals"));
        return EXIT_FAILED;
    }
    int code = EXIT_OK;
    if (cuzk_daemon_open(d, &err) == CUZK_OK) {
        run(d, options, signal_fd, event_fd);
    } else {
        CUZK_LOG(d->log, CUZK_LOG_ERROR, "the daemon does not start",
                 CUZK_LOG_S("status", cuzk_status_name(err.status)),
                 CUZK_LOG_S("reason", err.text));
        code = EXIT_FAILED;
    }
    cuzk_daemon_close(d);
    if (code == EXIT_OK) {
        CUZK_LOG(d->log, CUZK_LOG_INFO, next_program.is_wanted ? "executing again" : "ended");
    }
    if (next_program.is_wanted) {
        execute_again();
    }
    close(signal_fd);
    close(event_fd);
    close(d->restart_fd);
    return code;
}

int cuzk_cmd_serve(int argc, char **argv)
{
    static cuzk_options options;
    static cuzk_daemon daemon;
    open_streams();
    int code = EXIT_USAGE;
    if (!cuzk_options_parse(&options, argc, argv)) {
        /* told */
    } else if (options.help) {
        print_help();
        code = EXIT_OK;
    } else if (options.n_words > 0) {
        fprintf(stderr, "cuzk serve: \"%.100s\": takes no arguments (see \"cuzk serve --help\")\n",
                options.words[0]);
    } else {
        code = open_config(&daemon, &options);
        if (code == EXIT_OK) {
            code = serve(&daemon, &options);
        }
        cuzk_logger_destroy(daemon.log);
        cuzk_config_destroy(daemon.live);
        cuzk_config_destroy(daemon.config);
    }
    cuzk_options_clear(&options);
    return code;
}
