# SPDX-License-Identifier: MIT OR Apache-2.0
"""A daemon for a test: started on a socket of its own, its log read, ended."""
import fcntl, http.client, json, os, re, signal, subprocess, sys, time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli")]
import harness


def clean_environment(**more):
    """Without variables that the daemon would take for configuration."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("CUZK_", "NOTIFY_", "LISTEN_", "WATCHDOG_"))}
    env.update(more)
    return env


def winning_params(cuzk):
    """Folder of test parameters for winning-2k, kept between runs."""
    folder = os.path.join(cuzk.build, "server-params")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cuzk.ok("params", "setup", "winning", "2KiB", "--folder", folder, limit=600)
    return folder


class Serving:
    """`cuzk serve`. Options: flags behind the usual ones; env; http: with an HTTP port; program: of the build."""

    def __init__(self, cuzk, *flags, env=None, http=True, program="cuzk", prefix=(), ready=True, listen=True, pass_fds=()):
        self.cuzk = cuzk
        self.socket = cuzk.path("s.sock")
        self.log_path = cuzk.path("log")
        args = list(prefix) + [os.path.join(cuzk.build, program), "serve"]
        if listen:
            args += ["--listen", "unix://" + self.socket]
        if http:
            args += ["--status-listen", "127.0.0.1:0"]
        if not any(f.startswith("--journal") for f in flags):
            args += ["--journal", cuzk.path("journal.db")]
        if not any(f.startswith("srs.param_cache=") for f in flags):
            args += ["--set", "srs.param_cache=" + cuzk.scratch]
        args += ["--set", "circom.folder=" + cuzk.path("circom"), "-c", self.config_file()]
        self.log_file = open(self.log_path, "wb")
        self.process = subprocess.Popen(args + list(flags), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=self.log_file, cwd=cuzk.scratch, pass_fds=pass_fds,
                                        env=clean_environment(**(env or {})))
        if ready:
            self.wait_for("cuzk-daemon ready, serving on")
            self.port = self.find_port() if http else None

    def config_file(self):
        path = self.cuzk.path("cuzk.toml")
        if not os.path.exists(path):
            self.cuzk.write("cuzk.toml", "")
        return path

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="strict") as f:
            return f.read()

    def wait_for(self, text, limit=20):
        """Until the log holds the text; fails when the daemon ends before."""
        deadline = time.monotonic() + limit * harness.SLOW
        while text not in self.log():
            if self.process.poll() is not None and text not in self.log():
                raise AssertionError("ended with %d without %r:\n%s" % (self.process.returncode, text, self.log()))
            if time.monotonic() > deadline:
                self.process.kill()
                raise AssertionError("no %r in the log:\n%s" % (text, self.log()))
            time.sleep(0.005)

    def find_port(self):
        found = re.search(r"HTTP port\D+listen=\S+ port=(\d+)", self.log())
        assert found, self.log()
        return int(found.group(1))

    def get(self, path, method="GET", body=None):
        """(status, headers, body) of the HTTP port."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20 * harness.SLOW)
        c.request(method, path, body=body)
        r = c.getresponse()
        data = r.read()
        c.close()
        return r.status, dict(r.getheaders()), data

    def status(self):
        code, headers, data = self.get("/status")
        assert code == 200, (code, data)
        return json.loads(data)

    def kill(self, number):
        self.process.send_signal(number)

    def wait(self, limit=30):
        code = self.process.wait(timeout=limit * harness.SLOW)
        self.log_file.close()
        return code

    def end(self, number=signal.SIGTERM):
        """End it as a service manager does."""
        self.kill(number)
        code = self.wait()
        assert code == 0, (code, self.log())
        assert '"ended"' in self.log(), self.log()

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if self.process.poll() is None:
            if kind is None:
                self.end()
            else:
                self.process.kill()
                self.process.wait()
        if kind is not None:
            sys.stderr.write("log of the daemon:\n" + self.log())
