# SPDX-License-Identifier: MIT OR Apache-2.0
"""How processes live and end: loops, threads, one processor, and the programs named as rapidsnark's."""
import csv, json, os, shutil, time
import harness
from harness import Skip, read


def inputs(cuzk, circuit="multiplier2"):
    return [cuzk.circom("bn254", circuit, n) for n in ("circuit.zkey", "witness.wtns", "verification_key.json")]


def test_hundred_runs(cuzk):
    """BC-036: no process outlives its output."""
    zkey, wtns, vkey = inputs(cuzk)
    for i in range(100 if not (harness.SANITIZED or harness.EMULATOR) else 10):
        p = cuzk.ok("prove", zkey, wtns, "p.json", "pub.json", "--threads", str(1 + i % 4), limit=20)
        v = cuzk.ok("verify", vkey, "pub.json", "p.json", limit=20)
        assert p.cpu_seconds < 1 * harness.SLOW and v.cpu_seconds < 1 * harness.SLOW, (p, v)


def test_one_and_two_threads(cuzk):
    """BC-048: no stage waits for a task of the same pool."""
    zkey, wtns, vkey = inputs(cuzk, "poseidon2")
    for threads in ("1", "2", "3", "16"):
        cuzk.prove_and_verify(zkey, wtns, vkey, "--threads", threads)
    params, r1cs, w, vk = (cuzk.fixture("groth/cube/" + n) for n in (
        "circuit.params", "circuit.r1cs", "witness.wtns", "circuit.vk"))
    for threads in ("1", "2"):
        cuzk.ok("prove", params, w, "p.bin", "pub.json", "--r1cs", r1cs, "--threads", threads)
        cuzk.ok("verify", vk, "pub.json", "p.bin", "--threads", threads)
        cuzk.ok("setup", r1cs, "k.zkey", "--params", "k.params", "--threads", threads)


def test_one_processor(cuzk):
    """BC-048: bound to one processor the program counts one, and more threads still finish."""
    taskset = shutil.which("taskset")
    if taskset is None:
        raise Skip("no taskset")
    zkey, wtns, vkey = inputs(cuzk, "poseidon2")
    cpu = str(min(os.sched_getaffinity(0)))
    for threads in ([], ["--threads", "4"]):
        r = harness.run([taskset, "-c", cpu] + harness.EMULATOR + [cuzk.program, "prove", zkey, wtns, "p.json", "pub.json",
                        "--json"] + threads, cwd=cuzk.scratch)
        assert r.code == 0 and r.json()["threads"] == (4 if threads else 1), r
        cuzk.ok("verify", vkey, "pub.json", "p.json")


def test_bench(cuzk):
    zkey, wtns, _ = inputs(cuzk, "poseidon2")
    r = cuzk.ok("bench", zkey, wtns, "--runs", "3", "--csv")
    lines = r.out.splitlines()
    assert lines[0].startswith("key,curve,constraints,") and lines[1].split(",")[6] == "total", r
    os.symlink(zkey, cuzk.path('a,"b".zkey'))
    table = list(csv.DictReader(cuzk.ok("bench", 'a,"b".zkey', wtns, "--runs", "1", "--csv").out.splitlines()))
    assert "A, B, C" in [row["stage"] for row in table], table
    for row in table:
        assert row["key"] == 'a,"b".zkey' and row["runs"] == "1" and None not in row, row
        assert float(row["min_ms"]) <= float(row["max_ms"]), row
    j = cuzk.ok("bench", zkey, wtns, "--runs", "2", "--json").json()
    assert j["runs"] == 2 and j["stages"][0]["stage"] == "total", j
    assert all(0 <= s["min"] <= s["median"] <= s["max"] for s in j["stages"]), j
    assert "stage" in cuzk.ok("bench", zkey, wtns, "--runs", "1").out


def test_progress(cuzk):
    zkey, wtns, _ = inputs(cuzk, "poseidon2")
    r = cuzk.ok("prove", zkey, wtns, "p.json", "pub.json", "--progress")
    lines = r.err.splitlines()
    assert lines and all(l.startswith("cuzk prove: ") and " % " in l for l in lines), r
    shares = [float(l.split(":")[1].split("%")[0]) for l in lines]
    assert shares == sorted(shares) and shares[-1] <= 100, r
    assert cuzk.ok("prove", zkey, wtns, "p.json", "pub.json").err == ""


def test_verbose_errors(cuzk):
    r = cuzk.fails(1, ["[E_FILE, ", ".c:"], "inspect", "none", "-v", many_lines=True)
    r = cuzk("inspect", "none", "--json")
    assert r.code == 1 and '"status":"E_FILE"' in r.out, r
    r = cuzk("prove", "none", "none", "--json")
    assert r.json()["ok"] is False and r.json()["status"] == "E_FILE", r


def test_no_library_at_start(cuzk):
    """Only the C library is linked: nothing heavy is loaded before it is needed."""
    ldd = shutil.which("ldd")
    if ldd is None or harness.SANITIZED or harness.EMULATOR:
        raise Skip("no ldd, or a sanitizer build")
    names = [l.split()[0] for l in harness.run([ldd, cuzk.program]).out.splitlines()]
    known = ("linux-vdso", "libc.so", "libm.so", "libpthread", "libdl", "ld-linux", "/lib")
    assert all(n.startswith(known) for n in names), names


def rapidsnark(cuzk, name, *args):
    return harness.run(harness.EMULATOR + [os.path.join(cuzk.build, name)] + list(args), cwd=cuzk.scratch)


def test_prover_as_rapidsnark(cuzk):
    zkey, wtns, vkey = inputs(cuzk)
    r = rapidsnark(cuzk, "prover", zkey, wtns, "p.json", "pub.json")
    assert r.code == 0 and r.out == "" and r.err == "", r
    text = read(cuzk.path("p.json")).decode()
    proof = json.loads(text)
    assert text == json.dumps(proof, separators=(",", ":"), sort_keys=True)
    assert proof["curve"] == "bn128" and proof["protocol"] == "groth16"
    assert read(cuzk.path("pub.json")) == b'["33"]'
    r = rapidsnark(cuzk, "prover", zkey)
    assert r.code == 1 and "Usage: prover <circuit.zkey> <witness.wtns> <proof.json> <public.json>" in r.err, r
    r = rapidsnark(cuzk, "prover", wtns, zkey, "q.json", "r.json")
    assert r.code == 1 and r.err.startswith("Error: ") and r.out == "", r
    r = rapidsnark(cuzk, "prover", zkey, "none", "q.json", "r.json")
    assert r.code == 1 and "No such file" in r.err, r
    assert cuzk.names() == ["p.json", "pub.json"]


def test_verifier_as_rapidsnark(cuzk):
    _, _, vkey = inputs(cuzk)
    public, proof = (cuzk.circom("bn254", "multiplier2", n) for n in ("public.json", "proof.json"))
    r = rapidsnark(cuzk, "verifier", vkey, public, proof)
    assert r.code == 0 and r.err == "Result: Valid proof\n" and r.out == "", r
    r = rapidsnark(cuzk, "verifier", vkey, cuzk.write("pub.json", '["34"]'), proof)
    assert r.code == 1 and r.err == "Result: Invalid proof\n", r
    r = rapidsnark(cuzk, "verifier", vkey, cuzk.write("pub.json", "[]"), proof)
    assert r.code == 1 and r.err.startswith("Error: "), r
    r = rapidsnark(cuzk, "verifier", vkey, "none", proof)
    assert r.code == 1 and r.err.startswith("Error: "), r
    r = rapidsnark(cuzk, "verifier", vkey)
    assert r.code == 1 and "Usage: verifier <verification_key.json> <inputs.json> <proof.json>" in r.err, r


if __name__ == "__main__":
    harness.main(globals())
