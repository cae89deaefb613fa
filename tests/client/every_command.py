# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every command that speaks to a daemon: its command line, its calls, and a daemon's answers to them."""
from fake_daemon import completed, messages, scripted, vanilla_files
from harness import read
from test_filecoin import statement


class Command:
    """words: the command as people call it. method: the call that its result comes from. writes: files it makes."""

    def __init__(self, words, rest, method, writes=(), waits=False):
        self.words, self.rest, self.method, self.writes = words.split(), list(rest), method, list(writes)
        self.waits = waits  # looks again for a daemon that goes away
        self.name = " ".join(self.words)

    def line(self, *to):
        return [*self.words, *self.rest, *to]


def every_command(cuzk):
    """Each command once, with inputs that are in order."""
    kind, fields = statement(cuzk, "winning-2k-5")
    request = cuzk.write_json("request.json", fields)
    winning = [*vanilla_files(cuzk, "winning-2k-5"), "--request", request]
    zkey, wtns = (cuzk.circom("bn254", "multiplier2", n) for n in ("circuit.zkey", "witness.wtns"))
    outs = ["--out", "out.json", "--public", "out-public.json"]
    return [
        Command("submit winning", winning, "SubmitProof"),
        Command("submit winning", winning + ["--wait", "--out", "out.bin"], "AwaitProof", ["out.bin"], waits=True),
        Command("submit circom", ["mul", wtns, *outs], "ProveWitness", ["out.json", "out-public.json"]),
        Command("prove winning", winning + ["--out", "out.bin"], "AwaitProof", ["out.bin"], waits=True),
        Command("prove", [zkey, wtns, "out.json", "out-public.json"], "ProveWitness", ["out.json", "out-public.json"]),
        Command("await", ["j", "--out", "out.bin"], "AwaitProof", ["out.bin"], waits=True),
        Command("cancel", ["j"], "CancelProof"),
        Command("status", [], "GetStatus"),
        Command("queue", [], "GetStatus"),
        Command("preload", ["porep-32g"], "PreloadSRS"),
        Command("evict", ["porep-32g"], "EvictSRS"),
        Command("circuits list", [], "ListCircuits"),
        Command("circuits register", ["mul", "mul.zkey"], "RegisterCircuit"),
        Command("metrics", [], "GetMetrics"),
        Command("bench", ["--server", "--jobs", "2", "--circom", "mul=" + wtns], "ProveWitness"),
    ]


def good_answers(cuzk):
    """Answers with which every command of every_command ends well (prove winning without a .vk)."""
    proving, circom = messages()
    proof, public = (read(cuzk.circom("bn254", "multiplier2", n)).decode() for n in ("proof.json", "public.json"))
    info = circom.CircuitInfo(name="mul", zkey_path="/c/mul.zkey", curve="bn128", n_constraints=1, n_public=1, n_vars=4,
                              size_bytes=2500)
    return scripted(
        read(cuzk.fixture("cases/winning-2k-5/proof.bin")),
        ProveWitness=circom.ProveWitnessResponse(job_id="j", status=1, proof_json=proof, public_json=public, total_ms=12),
        CancelProof=proving.CancelProofResponse(was_running=True),
        GetStatus=proving.GetStatusResponse(
            gpus=[proving.GPUStatus(name="cpu", current_job_id="j", current_proof_kind="circom")],
            loaded_srs=[proving.SRSStatus(circuit_id="circom:mul", size_bytes=2500, ref_count=1)],
            queues=[proving.QueueStatus(proof_kind="circom", in_progress=1)], total_proofs_completed=3, uptime_seconds=9),
        PreloadSRS=proving.PreloadSrsResponse(load_time_ms=5),
        EvictSRS=proving.EvictSrsResponse(was_loaded=True, freed_bytes=2500),
        ListCircuits=circom.ListCircuitsResponse(circuits=[info]),
        RegisterCircuit=circom.RegisterCircuitResponse(circuit=info),
        GetMetrics=proving.GetMetricsResponse(prometheus_text="a 1\n"))


def check_failure(r, words):
    """The rule for what a daemon or a connection makes fail: exit code 1, one line that says why."""
    assert r.code == 1, r
    lines = [line for line in r.err.splitlines() if ": note: " not in line and ": warning: " not in line]
    assert len(lines) == 1 and lines[0].startswith("cuzk "), r
    for word in [words] if isinstance(words, str) else words:
        assert word in lines[0], "stderr lacks %r\n%s" % (word, r)


def json_of(r):
    """The one JSON object that --json prints, in UTF-8."""
    assert r.out.endswith("\n") and r.out.count("\n") == 1, r
    value = r.json()
    assert isinstance(value, dict) and isinstance(value["ok"], bool) and value["ok"] == (r.code == 0), r
    return value


# Looking for parameters anywhere but there would make results depend on the machine.
NO_PARAMETERS = {"FIL_PROOFS_PARAMETER_CACHE": "/nowhere"}
