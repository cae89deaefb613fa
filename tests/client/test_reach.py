# SPDX-License-Identifier: MIT OR Apache-2.0
"""Load, TLS, tokens, addresses, and what a daemon says, against a scripted daemon."""
import os, subprocess, time

from fake_daemon import Daemon, completed, grpc, messages, scripted, unix, vanilla_files
import harness
from harness import Skip, read
from test_filecoin import statement


def test_bench(cuzk):
    _, circom = messages()
    answer = circom.ProveWitnessResponse(job_id="j", status=1, proof_json="{}", public_json="[]", total_ms=12)
    kind, fields = statement(cuzk, "winning-2k-5")
    request, wtns = cuzk.write_json("request.json", fields), cuzk.circom("bn254", "multiplier2", "witness.wtns")
    line = ["bench", "--server", "--connect", unix(cuzk), "--winning", *vanilla_files(cuzk, "winning-2k-5"),
            "--winning-request", request, "--circom", "mul=" + wtns]
    with Daemon(unix(cuzk), scripted(ProveWitness=answer)) as d:
        r = cuzk.ok(*line, "--jobs", "40", "--concurrency", "8", "--mix", "winning:3,circom:1", "--json").json()
        kinds = {k["kind"]: k for k in r["kinds"]}
        assert r["ok"] and kinds["winning"]["completed"] == 30 and kinds["circom"]["completed"] == 10, r
        assert kinds["winning"]["daemon_seconds_p50"] == 1.234 and kinds["winning"]["seconds_p50"] < 60, r
        ids = [r.submit.request_id for r in d.of("Prove")] + [r.request_id for r in d.of("ProveWitness")]
        assert len(set(ids)) == 40 and len(d.of("Prove")) == 30, ids
        begin = time.monotonic()
        r = cuzk.ok(*line, "--jobs", "10", "--rate", "20")
        assert time.monotonic() - begin > 0.44 and "open loop, 20 sent a second" in r.out, r
        assert [l.split()[:3] for l in r.out.splitlines()[2:4]] == [["winning", "5", "0"], ["circom", "5", "0"]], r
        assert "winning,5,0," in cuzk.ok(*line, "--jobs", "10", "--csv").out
        d.answers["ProveWitness"] = circom.ProveWitnessResponse(job_id="j", status=2, error_message="bad witness")
        r = cuzk.fails(1, "circom: 2 of 2 jobs failed; the first: bad witness", *line, "--jobs", "4")
        assert "winning" in r.out, r
        cuzk.fails(2, "--mix names porep: --porep is missing", *line, "--mix", "porep:1")
        for mix in ("x", "winning:0", "winning:1x", "winning,winning", "winning:", "winning:99999"):
            cuzk.fails(2, "--mix", *line, "--mix", mix)
        cuzk.fails(2, "exclude each other", *line, "--rate", "1", "--concurrency", "2")
        cuzk.fails(2, "no job is given", *line[:4])


def make_certificates(cuzk):
    """A CA, the daemon's certificate for localhost, a client's, and a stranger's CA."""
    def run(*args):
        try:
            subprocess.run(args, cwd=cuzk.scratch, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except FileNotFoundError:
            raise Skip("openssl is missing")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    for ca in ("ca", "stranger"):
        run("openssl", "req", "-x509", *key, "-keyout", ca + ".key", "-out", ca + ".pem", "-subj", "/CN=" + ca, "-days", "2")
    for name, alt in (("server", "DNS:localhost"), ("client", "DNS:client")):
        run("openssl", "req", *key, "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
        cuzk.write("ext", "subjectAltName=" + alt)
        run("openssl", "x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-out", name + ".pem", "-extfile", "ext", "-days", "2")


def forgive_leaks(cuzk):
    """c-ares, which looks names up for gRPC, keeps a few bytes for good."""
    os.environ["LSAN_OPTIONS"] = "print_suppressions=0:suppressions=" + cuzk.write("leaks", "leak:libcares\n")


def test_tls(cuzk):
    if grpc is None:
        raise Skip("python3-grpcio is missing")
    make_certificates(cuzk)
    forgive_leaks(cuzk)
    pair = (read(cuzk.path("server.key")), read(cuzk.path("server.pem")))
    metrics = {"GetMetrics": messages()[0].GetMetricsResponse(prometheus_text="a 1\n")}
    with Daemon("localhost:0", metrics, grpc.ssl_server_credentials([pair])) as d:
        address = "localhost:%d" % d.port
        assert cuzk.ok("metrics", "--connect", address, "--tls-ca", "ca.pem").out == "a 1\n"
        cuzk.ok("metrics", "--connect", "https://" + address, "--tls-ca", "ca.pem")
        cuzk.ok("metrics", "--connect", "127.0.0.1:%d" % d.port, "--tls-ca", "ca.pem", "--tls-name", "localhost")
        for line in (["--connect", address, "--tls-ca", "stranger.pem"], ["--connect", "https://" + address],
                     ["--connect", address, "--tls-ca", "ca.pem", "--tls-name", "elsewhere"]):
            cuzk.fails(1, ["connecting to", address, "(TLS: "], "metrics", *line)
        cuzk.fails(1, address, "metrics", "--connect", address)
    both = grpc.ssl_server_credentials([pair], read(cuzk.path("ca.pem")), True)
    with Daemon("localhost:0", metrics, both) as d:
        line = ["metrics", "--connect", "localhost:%d" % d.port, "--tls-ca", "ca.pem"]
        cuzk.ok(*line, "--tls-cert", "client.pem", "--tls-key", "client.key")
        cuzk.fails(1, "localhost:%d" % d.port, *line)
        cuzk.fails(2, "only the certificate is given", *line, "--tls-cert", "client.pem")
        cuzk.fails(1, ["the client's key", "it is not PEM"], *line, "--tls-cert", "client.pem", "--tls-key", "ext")
        cuzk.fails(1, ["certificates", "No such file"], "metrics", "--connect", "localhost:1", "--tls-ca", "nowhere")


def test_token(cuzk):
    metrics = {"GetMetrics": messages()[0].GetMetricsResponse(prometheus_text="a 1\n")}
    cuzk.write("token", "s3cret\nsecond line\n")
    with Daemon(unix(cuzk), metrics) as d:
        cuzk.ok("metrics", "--connect", unix(cuzk), "--token-file", "token")
        cuzk.ok("metrics", "--connect", unix(cuzk))
        assert [m.get("authorization") for _, _, m in d.requests] == ["Bearer s3cret", None]
        for text, reason in (("", "empty"), ("\nx", "empty"), ("a b\n", "printable"), ("\u00e9", "printable")):
            cuzk.write("bad", text)
            r = cuzk.fails(1, reason, "metrics", "--connect", unix(cuzk), "--token-file", "bad")
        d.answers["GetMetrics"] = (grpc.StatusCode.UNAUTHENTICATED, "a token is needed")
        cuzk.fails(1, "UNAUTHENTICATED: a token is needed", "metrics", "--connect", unix(cuzk))


def test_daemons_words_reach_the_user(cuzk):
    codes = {"INVALID_ARGUMENT": "E_FORMAT", "NOT_FOUND": "E_NOT_FOUND", "FAILED_PRECONDITION": "E_FILE",
             "RESOURCE_EXHAUSTED": "E_MEMORY", "UNIMPLEMENTED": "E_UNSUPPORTED", "PERMISSION_DENIED": "E_UNAVAILABLE",
             "UNAVAILABLE": "E_UNAVAILABLE", "INTERNAL": "E_INTERNAL", "DEADLINE_EXCEEDED": "E_DEADLINE"}
    with Daemon(unix(cuzk), {}) as d:
        for code, status in codes.items():
            d.answers["PreloadSRS"] = (getattr(grpc.StatusCode, code), "the reason, in words")
            r = cuzk("preload", "x", "--connect", unix(cuzk), "--json")
            assert r.code == 1 and r.json()["results"][0]["status"] == status, r
            if code != "DEADLINE_EXCEEDED":
                assert "the daemon at %s: %s: the reason, in words" % (unix(cuzk), code) in r.err, r


def test_answers_that_are_none(cuzk):
    to = ["--connect", unix(cuzk)]
    with Daemon(unix(cuzk), {"GetMetrics": b"\xff\xff\xff", "ListCircuits": b"\x0a\x7f", "Prove": b"", "SubmitProof": b"",
                             "RegisterCircuit": b"", "GetStatus": b"\x0a\x00\x12\x00\x1a\x00"},
                http_status=(200, b"{}")) as d:
        cuzk.fails(1, "its answer to GetMetrics is not a message of that type", "metrics", *to)
        cuzk.fails(1, "its answer to ListCircuits is not a message of that type", "circuits", "list", *to)
        cuzk.fails(1, "without the circuit", "circuits", "register", "a", "b", *to)
        assert "up 0.0 s" in cuzk.ok("status", *to, "--status", d.http_address).out
        cuzk.ok("status", "--json", *to).json()
        kind, fields = statement(cuzk, "winning-2k-5")
        request = cuzk.write_json("request.json", fields)
        files = vanilla_files(cuzk, "winning-2k-5")
        cuzk.fails(1, "an answer without a result", "bench", "--server", "--jobs", "1", "--winning", *files,
                   "--winning-request", request, *to)
        # a port that speaks HTTP, but another version
        cuzk.fails(1, "perhaps the daemon's HTTP port", "metrics", "--connect", d.http_address)


def test_address_of_the_configuration(cuzk):
    metrics = {"GetMetrics": messages()[0].GetMetricsResponse(prometheus_text="a 1\n")}
    with Daemon("127.0.0.1:0", metrics) as d:
        config = cuzk.write("cuzk.toml", '[daemon]\nlisten = "0.0.0.0:%d"\nallow_plaintext = true\n' % d.port)
        assert cuzk.ok("metrics", "--config", config).out == "a 1\n"
        assert cuzk.ok("metrics", env={"CUZK_LISTEN": "127.0.0.1:%d" % d.port}).out == "a 1\n"
        assert cuzk.ok("metrics", env={"CUZK_DAEMON_LISTEN": '127.0.0.1:%d' % d.port}).out == "a 1\n"
        cuzk.fails(1, "there is no such socket", "metrics", "--config", config, "--connect", unix(cuzk))
        # the HTTP port of another daemon is not mixed in
        d.answers["GetStatus"] = messages()[0].GetStatusResponse()
        env = {"CUZK_STATUS_LISTEN": "127.0.0.1:1", "CUZK_LISTEN": "127.0.0.1:%d" % d.port}
        assert "127.0.0.1:1:" in cuzk.ok("status", env=env).out
        assert "127.0.0.1:1:" not in cuzk.ok("status", "--connect", env["CUZK_LISTEN"], env=env).out
        bad = cuzk.write("bad.toml", "[daemon]\nlisten = 3\n")
        cuzk.fails(2, ["looking for the daemon's address", "bad.toml"], "metrics", "--config", bad)


if __name__ == "__main__":
    harness.main(globals())
