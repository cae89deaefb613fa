/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/systemd.h"

#include "base/clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

unsigned cuzk_systemd_listen_fds(int *fds)
{
    unsigned n = 0;
    int n_passed = sd_listen_fds(1);
    for (int i = 0; i < n_passed; i++) {
        int fd = SD_LISTEN_FDS_START + i;
        if (n < CUZK_LISTEN_FDS_MAX && sd_is_socket(fd, 0, SOCK_STREAM, 1) > 0) {
            fcntl(fd, F_SETFD, FD_CLOEXEC);
            fds[n++] = fd;
        } else {
            close(fd);
        }
    }
    return n;
}

bool cuzk_systemd_has_journal(void)
{
    /* JOURNAL_STREAM names the device and inode of the journal's end of a stream */
    const char *stream = getenv("JOURNAL_STREAM");
    uint64_t device, inode;
    struct stat s;
    return stream != NULL && sscanf(stream, "%" SCNu64 ":%" SCNu64, &device, &inode) == 2 &&
           fstat(STDERR_FILENO, &s) == 0 && (uint64_t)s.st_dev == device &&
           (uint64_t)s.st_ino == inode;
}

void cuzk_systemd_ready(const char *status)
{
    sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

void cuzk_systemd_stopping(const char *status)
{
    sd_notifyf(0, "STOPPING=1\nSTATUS=%s", status);
}

void cuzk_systemd_reloading(void)
{
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, cuzk_now_ns() / 1000);
}

void cuzk_systemd_status(const char *status)
{
    sd_notifyf(0, "STATUS=%s", status);
}

uint64_t cuzk_systemd_watchdog_ns(void)
{
    uint64_t us;
    return sd_watchdog_enabled(0, &us) > 0 ? us * 1000 : 0;
}

void cuzk_systemd_alive(void)
{
    sd_notify(0, "WATCHDOG=1");
}
