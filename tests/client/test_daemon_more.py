# SPDX-License-Identifier: MIT OR Apache-2.0
"""The client and the real daemon: over a crash, with TLS and tokens; and the page about the commands."""
import os, subprocess, time

from real_daemon import Daemon
import harness
from harness import read
from test_reach import forgive_leaks, make_certificates


def test_docs_name_every_option(cuzk):
    docs = read(os.path.join(harness.TOP, "docs", "cli.md")).decode()
    server = os.path.join(cuzk.build, "cuzk-server")
    table = harness.run(harness.EMULATOR + [server, "help"]).out.split("commands:")[1].split("options of")[0]
    heads = [line.split() for line in table.splitlines() if line.startswith("  ") and line[2] != " "]
    assert len(heads) > 15, table
    for command in ("serve", "config"):
        for line in cuzk.ok(command, "--help").out.splitlines():
            for word in line.split():
                assert not (line.startswith("  -") and word.startswith("--")) or "`" + word in docs, \
                    "docs/cli.md does not name %s of %s" % (word, command)
    for words in heads:
        name = [w for w in words[:2] if w.islower()]
        r = harness.run(harness.EMULATOR + [server, "help"] + name)
        if r.code != 0:
            r = harness.run(harness.EMULATOR + [server, "help", name[0]])
        assert r.code == 0 and "cuzk %s" % name[0] in docs, (words, r)
        for line in r.out.splitlines():
            for word in line.split():
                assert not (line.startswith("  -") and word.startswith("--")) or "`" + word in docs, \
                    "docs/cli.md does not name %s of %s" % (word, name)


def winning(cuzk):
    """Test parameters, made once for a build, and a Winning PoSt's vanilla proof; options of its request."""
    folder = os.path.join(cuzk.build, "daemon-params")
    cuzk.ok("params", "setup", "winning", "2KiB", "--folder", folder)
    os.symlink(folder, cuzk.path("params"))
    cuzk.ok("gen-vanilla", "winning", "w.json", "--sector-size", "2KiB", "--request", "w.req.json")
    return ["w.json", "--request", "w.req.json"]


def test_a_job_outlives_the_process_and_its_waiter_finds_it(cuzk):
    job = winning(cuzk)
    first = Daemon(cuzk).__enter__()
    to = ["--connect", "unix:" + cuzk.path("sock")]
    waiter = subprocess.Popen([cuzk.program, "prove", "winning", *job, *to, "--allow-test-key", "--request-id", "w"],
                              cwd=cuzk.scratch, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, FIL_PROOFS_PARAMETER_CACHE=cuzk.path("params")))
    while "job accepted" not in read(first.log).decode():
        assert waiter.poll() is None, waiter.communicate()
        time.sleep(0.005)
    first.process.kill()
    first.process.wait()
    with Daemon(cuzk) as d:
        out, err = waiter.communicate(timeout=60 * harness.SLOW)
        assert waiter.returncode == 0 and b"job w: proved 1 partition" in out and b"verified here" in out, (out, err)
        assert "w" in cuzk.ok("await", "w", "--json", *d.to).json()["job_id"]
        env = {"FIL_PROOFS_PARAMETER_CACHE": cuzk.path("params")}
        cuzk.ok("verify", "winning", "proof.bin", "--request", "w.req.json", "--allow-test-key", env=env)
        # the same job again is answered from what is kept
        proof = read(cuzk.path("proof.bin"))
        cuzk.ok("submit", "winning", *job, *d.to, "--request-id", "w", "--wait")
        assert read(cuzk.path("proof.bin")) == proof


def test_tls_tokens_and_administration(cuzk):
    make_certificates(cuzk)
    cuzk.write("submit", "a-token-to-submit-with\n")
    cuzk.write("admin", "a-token-to-administer-with\n")
    forgive_leaks(cuzk)
    settings = {"tls__cert": cuzk.path("server.pem"), "tls__key": cuzk.path("server.key"),
                "auth__token_file": cuzk.path("submit"), "auth__admin_token_file": cuzk.path("admin")}
    with Daemon(cuzk, listen="127.0.0.1:0", **settings) as d:
        address = read(d.log).decode().split("address=127.0.0.1:")[1].split()[0]
        to = ["--connect", "https://127.0.0.1:" + address, "--tls-ca", "ca.pem", "--tls-name", "localhost"]
        cuzk.fails(1, "UNAUTHENTICATED: a token is needed", "status", *to)
        assert "daemon at https://" in cuzk.ok("status", *to, "--token-file", "submit").out
        cuzk.fails(1, "PERMISSION_DENIED", "evict", "circom:x", *to, "--token-file", "submit")
        cuzk.fails(1, "NOT_FOUND", "evict", "circom:x", *to, "--token-file", "admin")
        cuzk.fails(1, "(TLS: ", "status", "--connect", "https://127.0.0.1:" + address, "--token-file", "submit")


if __name__ == "__main__":
    harness.main(globals())
