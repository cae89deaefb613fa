# SPDX-License-Identifier: MIT OR Apache-2.0
"""The daemon itself, for tests of the commands that speak to it."""
import http.client, json, os, signal, subprocess, sys, time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli")]
import harness
from harness import read

for name in ("CUZK_LISTEN", "CUZK_STATUS_LISTEN"):
    os.environ.pop(name, None)


class Daemon:
    """with Daemon(cuzk) as d: the daemon on a Unix socket and an HTTP port of its own choice."""

    def __init__(self, cuzk, listen=None, **settings):
        self.cuzk, self.log = cuzk, cuzk.path("log")
        os.makedirs(cuzk.path("circom"), exist_ok=True)
        self.flags = ["--listen", listen or "unix:" + cuzk.path("sock"), "--status-listen", "127.0.0.1:0",
                      "--journal", cuzk.path("journal.db"), "--set", "srs.param_cache=" + cuzk.path("params"),
                      "--set", "circom.folder=" + cuzk.path("circom"), "--set", "srs.allow_test_keys=true"]
        for key, value in settings.items():
            self.flags += ["--set", "%s=%s" % (key.replace("__", "."), value)]

    def __enter__(self):
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([self.cuzk.program, "serve"] + self.flags, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 10 * harness.SLOW
        while '"ready"' not in read(self.log).decode():
            assert self.process.poll() is None and time.monotonic() < deadline, read(self.log).decode()
            time.sleep(0.005)
        text = read(self.log).decode()
        self.port = int(text.split("port=")[1].split()[0])
        self.to = ["--connect", "unix:" + self.cuzk.path("sock"), "--status", "127.0.0.1:%d" % self.port]
        return self

    def __exit__(self, *args):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=20 * harness.SLOW)
        assert code == 0, "the daemon ended with %d: %s" % (code, read(self.log).decode())

    def http(self, method, path, body=None, headers={}):
        """Status and body, as JSON where it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20 * harness.SLOW)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response.status, json.loads(data) if data[:1] == b"{" else data.decode()


def circuit(cuzk, name="multiplier2", curve="bn254"):
    """A circuit's key in the daemon's folder; names of the other files."""
    os.makedirs(cuzk.path("circom"), exist_ok=True)
    cuzk.write("circom/%s.zkey" % name, read(cuzk.circom(curve, name, "circuit.zkey")))
    return [cuzk.circom(curve, name, n) for n in ("witness.wtns", "public.json", "verification_key.json")]
