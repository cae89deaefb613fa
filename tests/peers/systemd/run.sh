#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# run.sh PREFIX PARAMETERS: the installed units under a live systemd, in namespaces of its own:
# socket activation as user cuzk, readiness, reload, a kill and a hang that it gets over, a stop that
# leaves the socket. PREFIX: where `cmake --install` put the daemon, outside /tmp and /home, which the
# unit hides; PARAMETERS: a folder with test parameters of Winning PoSt of 2KiB. Needs root and
# cgroup v2. Writes to PREFIX/check.log; under a minute.
set -euo pipefail
self=$(readlink -f "$0")

# in the namespaces: an empty system with these units only
system() {
    mount --make-rprivate /
    umount -R /sys/fs/cgroup
    mount -t cgroup2 none /sys/fs/cgroup
    units=$(readlink -f /lib/systemd/system)
    mkdir -p /etc/systemd/system /data/zk
    for folder in /run "$units" /etc/systemd/system /data/zk /var/lib /home; do
        mount -t tmpfs none "$folder"
    done
    mkdir -p /run/systemd/system /run/lock "$units/cuzk.service.d"
    for name in sysinit basic shutdown umount sockets network local-fs multi-user final exit; do
        printf '[Unit]\nDescription=%s\nDefaultDependencies=no\n' "$name" >"$units/$name.target"
    done
    cp "$prefix"/lib/systemd/system/cuzk.* "$units/"
    printf '[Service]\nWatchdogSec=6\n' >"$units/cuzk.service.d/quick.conf"
    cat >"$units/check.service" <<END
[Unit]
After=cuzk.socket
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
StandardOutput=append:$prefix/check.log
StandardError=inherit
ExecStart=/bin/bash $self check $prefix
END
    printf '[Unit]\nWants=cuzk.socket check.service\n' >"$units/test.target"
    cp /etc/passwd /etc/group /run/
    echo 'cuzk:x:989:989::/var/lib/cuzk:/usr/sbin/nologin' >>/run/passwd
    echo 'cuzk:x:989:' >>/run/group
    mount --bind /run/passwd /etc/passwd
    mount --bind /run/group /etc/group
    mkdir /data/zk/params
    cp "$parameters"/*3ea05428*.test.* /data/zk/params/
    printf '[srs]\nparam_cache = "/data/zk/params"\nallow_test_keys = true\n[memory]\ntotal_budget = "4GiB"\n' >/data/zk/cuzk.toml
    exec env container=lxc /lib/systemd/systemd --system --unit=test.target --log-target=console >"$prefix/systemd.log" 2>&1
}

is() { # PROPERTY VALUE, of the service
    local found
    found=$(systemctl show -P "$1" cuzk)
    [ "$found" = "$2" ] || { echo "FAILED: $1 is $found, expected $2"; exit 1; }
}

prove() { # FILE
    "$prefix/bin/cuzk" submit winning w.json --request w.req.json --wait --out "$1" --connect unix:///run/curio/cuzk.sock
}

pid() {
    systemctl show -P MainPID cuzk
}

restarts() { # NUMBER: wait for it
    for _ in $(seq 100); do
        [ "$(systemctl show -P NRestarts cuzk)" = "$1" ] && [ "$(systemctl show -P SubState cuzk)" = running ] && return
        sleep 0.3
    done
    echo "FAILED: not restarted $1 times"
    exit 1
}

# as a service of that system
check() {
    export HOME=/root
    cd /data/zk
    "$prefix/bin/cuzk" gen-vanilla winning w.json --sector-size 2KiB --request w.req.json
    is ActiveState inactive
    [ "$(stat -c %U:%G:%a /run/curio/cuzk.sock)" = cuzk:cuzk:660 ]
    prove one.bin # the socket starts it
    is ActiveState active
    is StatusText serving
    [ "$(stat -c %U /var/lib/cuzk/journal.db)" = cuzk ]
    grep -q '^CapEff:.0*$' "/proc/$(pid)/status"
    grep -q '^Seccomp:.2' "/proc/$(pid)/status"
    systemctl reload cuzk
    is SubState running
    kill -9 "$(pid)"
    restarts 1
    prove two.bin
    kill -STOP "$(pid)" # the watchdog sees it
    restarts 2
    systemctl stop cuzk.service
    is Result success
    is SubState dead
    "$prefix/bin/cuzk" status --connect unix:///run/curio/cuzk.sock # the socket stayed, and starts it
    is ActiveState active
    echo 'all is well'
}

case $1 in
check)
    prefix=$2
    check
    ;;
system)
    prefix=$2 parameters=$3
    system
    ;;
*)
    prefix=$(readlink -f "$1") parameters=$(readlink -f "$2")
    group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/cuzk-systemd-test
    mkdir -p "$group"
    rm -f "$prefix/check.log"
    timeout -k 5 180 bash -c 'echo $$ >"$1/cgroup.procs"; exec unshare -C -m -p -f -u --mount-proc --kill-child bash "$2" system "$3" "$4"' \
        - "$group" "$self" "$prefix" "$parameters" || true
    cat "$prefix/check.log"
    tail -1 "$prefix/check.log" | grep -qx 'all is well'
    ;;
esac
