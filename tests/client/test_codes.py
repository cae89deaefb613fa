# SPDX-License-Identifier: MIT OR Apache-2.0
"""What every command does with every way in which a daemon may refuse: exit code, message, JSON, no files."""
from every_command import NO_PARAMETERS, check_failure, every_command, good_answers, json_of
from fake_daemon import Daemon, grpc, scripted, unix
import harness

STATUS = {"CANCELLED": "E_CANCELLED", "UNKNOWN": "E_INTERNAL", "INVALID_ARGUMENT": "E_FORMAT",
          "DEADLINE_EXCEEDED": "E_DEADLINE", "NOT_FOUND": "E_NOT_FOUND", "ALREADY_EXISTS": "E_MISMATCH",
          "PERMISSION_DENIED": "E_UNAVAILABLE", "RESOURCE_EXHAUSTED": "E_MEMORY", "FAILED_PRECONDITION": "E_FILE",
          "ABORTED": "E_INTERNAL", "OUT_OF_RANGE": "E_FORMAT", "UNIMPLEMENTED": "E_UNSUPPORTED", "INTERNAL": "E_INTERNAL",
          "UNAVAILABLE": "E_UNAVAILABLE", "DATA_LOSS": "E_INTERNAL", "UNAUTHENTICATED": "E_UNAVAILABLE"}


def refusal(code, words="the reason, in words"):
    return getattr(grpc.StatusCode, code), words


def test_every_command_ends_well(cuzk):
    """The script is in order: else the tests below would test nothing."""
    with Daemon(unix(cuzk), good_answers(cuzk)) as d:
        for c in every_command(cuzk):
            r = cuzk.ok(*c.line("--connect", unix(cuzk)), env=NO_PARAMETERS)
            assert r.err == "" and d.requests[-1][0] == c.method, (c.name, d.requests[-1][0], r)
            assert all(name in cuzk.names() for name in c.writes), (c.name, cuzk.names())


def test_every_command_is_refused(cuzk):
    commands, good = every_command(cuzk), good_answers(cuzk)
    with Daemon(unix(cuzk), good) as d:
        before = cuzk.names()
        for i, c in enumerate(commands):
            # three of the codes for each command; each code several times over all commands
            for code in sorted(STATUS)[i % 5::5]:
                if c.waits and code == "UNAVAILABLE":
                    continue  # is waited for: test_waiting
                d.answers = dict(good, **{c.method: refusal(code)})
                r = cuzk(*c.line("--connect", unix(cuzk)), "--json", env=NO_PARAMETERS)
                words = "no answer in time" if code == "DEADLINE_EXCEEDED" else code + ": the reason, in words"
                assert r.code == 1 and words in r.err and r.err.count("\n") == 1, (c.name, code, r)
                j = json_of(r)
                if c.name in ("cancel", "preload", "evict"):
                    j = j["results"][0]
                if c.name == "bench":
                    assert j["failed"] == 2 and words in j["kinds"][0]["first_error"], j
                else:
                    assert j["status"] == STATUS[code] and words in j["error"], (c.name, code, j)
                assert cuzk.names() == before, (c.name, cuzk.names())


def test_a_wrong_token_is_said_at_once(cuzk):
    """Nothing that waiting would mend: also where a command looks for a lost daemon again."""
    calls = []
    for code in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
        with Daemon(unix(cuzk), good_answers(cuzk)) as d:
            d.answers["AwaitProof"] = refusal(code)
            for c in every_command(cuzk):
                if c.waits:
                    check_failure(cuzk(*c.line("--connect", unix(cuzk))), code + ": the reason, in words")
                    calls.append(len(d.of("AwaitProof")))
    assert calls == [1, 2, 3, 1, 2, 3], calls


def test_any_words(cuzk):
    """What a daemon says comes as one line, and as one JSON string, whatever it holds."""
    texts = ["line one\nline two\r\n", "\x1b[2J\x07bell", 'quote " backslash \\', "\u00fc \u20ac \U0001f408", "", " ", "%s%n%d",
             "w" * 5000, "\u20ac" * 500, "a\tb"]
    with Daemon(unix(cuzk), {}) as d:
        for text in texts:
            d.answers["GetMetrics"] = refusal("INTERNAL", text)
            r = cuzk("metrics", "--connect", unix(cuzk), "--json")
            check_failure(r, "INTERNAL: ")
            assert not any(ord(c) < 32 for c in r.err[:-1]) and len(r.err) < 2000, r
            error = json_of(r)["error"]
            assert error.startswith("the daemon at unix:"), error
            if text and len(text) < 100:
                printable = "".join(" " if ord(c) < 32 else c for c in text)
                assert printable.strip() in error, (text, error)
            if not text:
                assert error.endswith("INTERNAL: without a reason"), error


def test_a_daemon_without_circom(cuzk):
    """An older daemon lacks the service: said as such, while everything else works."""
    with Daemon(unix(cuzk), good_answers(cuzk)) as d:
        for method in ("ProveWitness", "ListCircuits", "RegisterCircuit"):
            d.answers[method] = (grpc.StatusCode.UNIMPLEMENTED, "Method not found!")
        for c in every_command(cuzk):
            r = cuzk(*c.line("--connect", unix(cuzk)), env=NO_PARAMETERS)
            if c.method in ("ProveWitness", "ListCircuits", "RegisterCircuit"):
                assert r.code == 1 and "UNIMPLEMENTED: Method not found!" in r.err, (c.name, r)
            else:
                assert r.code == 0, (c.name, r)


def test_each_argument_is_tried(cuzk):
    """cancel, preload, evict: one that fails does not stop the rest, and makes the exit code."""
    def of(request):
        name = getattr(request, "job_id", None) or request.circuit_id
        return refusal("NOT_FOUND", "no " + name) if name.startswith("no") else good[method[0]]
    good, method = good_answers(cuzk), [None]
    with Daemon(unix(cuzk), scripted(CancelProof=of, PreloadSRS=of, EvictSRS=of)) as d:
        for command, method[0] in (("cancel", "CancelProof"), ("preload", "PreloadSRS"), ("evict", "EvictSRS")):
            r = cuzk(command, "no-1", "b", "no-2", "d", "--connect", unix(cuzk))
            assert r.code == 1 and len(r.out.splitlines()) == 2 and len(r.err.splitlines()) == 2, r
            assert "NOT_FOUND: no no-1" in r.err and "NOT_FOUND: no no-2" in r.err, r
            r = cuzk(command, "no-1", "b", "no-2", "d", "--connect", unix(cuzk), "--json")
            j = json_of(r)
            assert [x.get("status") for x in j["results"]] == ["E_NOT_FOUND", None, "E_NOT_FOUND", None], j
            assert len(d.of(method[0])) == 8, len(d.of(method[0]))
            assert cuzk.ok(command, "b", "d", "--connect", unix(cuzk), "--json").json()["ok"] is True


if __name__ == "__main__":
    harness.main(globals())
