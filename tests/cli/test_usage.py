# SPDX-License-Identifier: MIT OR Apache-2.0
"""Usage errors, help, version, CPU pinning."""
import os, re, shutil
import harness
from harness import Skip

COMMANDS = ["devices", "prove", "prove porep", "prove snap", "prove window", "prove winning", "verify", "verify porep",
            "verify snap", "verify window", "verify winning", "setup", "params setup", "inspect", "check", "export",
            "bench", "gen-vanilla", "params", "help", "version"]


def test_no_command(cuzk):
    cuzk.fails(2, "no command given")


def test_unknown_command_suggests(cuzk):
    cuzk.fails(2, '"porve": unknown command; did you mean "prove"?', "porve")
    cuzk.fails(2, 'did you mean "verify"?', "verfy")
    cuzk.fails(2, 'did you mean "inspect"?', "inspekt")
    r = cuzk.fails(2, '"xyzzy": unknown command', "xyzzy")
    assert "did you mean" not in r.err, r


def test_unknown_option_suggests(cuzk):
    cuzk.fails(2, '"--thread": unknown option; did you mean "--threads"?', "prove", "--thread", "2", "a", "b")
    cuzk.fails(2, '"--selfcheck": unknown option', "prove", "--selfcheck", "a", "b")
    cuzk.fails(2, '"-x": unknown option', "verify", "-x")


def test_number_of_arguments(cuzk):
    cuzk.fails(2, "too few arguments", "prove", "a")
    cuzk.fails(2, "PROOF is given without PUBLIC", "prove", "a", "b", "c")
    cuzk.fails(2, "too many arguments", "prove", "a", "b", "c", "d", "e")
    cuzk.fails(2, "a PUBLIC is given without PROOF", "verify", "a", "b", "c", "d")
    cuzk.fails(2, "too few arguments", "inspect")
    cuzk.fails(2, "nothing to write", "setup", "a.r1cs")
    cuzk.fails(2, "too few arguments", "export", "vk")
    cuzk.fails(2, "expected: cuzk export calldata PUBLIC PROOF", "export", "calldata", "a")
    cuzk.fails(2, '"calldat": unknown thing to export; did you mean calldata', "export", "calldat", "a", "b")


def test_option_values(cuzk):
    for bad in ("0", "-1", "x", "1025", "", "99999999999999999999", "2x"):
        cuzk.fails(2, "--threads: \"%s\" is not a number from 1 to 1024" % bad, "prove", "--threads", bad, "a", "b")
    cuzk.fails(2, "--threads: needs a value (N)", "prove", "a", "b", "--threads")
    cuzk.fails(2, "--quiet: takes no value", "prove", "a", "b", "--quiet=1")
    cuzk.fails(2, "--r1cs: given twice", "prove", "a", "b", "--r1cs", "x", "--r1cs=y")
    cuzk.fails(2, '--format: "xml" is not', "prove", "a", "b", "--format", "xml")
    cuzk.fails(2, "--runs: \"0\" is not a number", "bench", "a", "b", "--runs", "0")


def test_options_before_the_command(cuzk):
    vkey, public, proof = (cuzk.circom("bn254", "multiplier2", n)
                           for n in ("verification_key.json", "public.json", "proof.json"))
    assert cuzk.ok("-q", "verify", vkey, public, proof).out == ""
    assert "threads 3" in cuzk.ok("--threads", "3", "version").out
    assert "threads 3" in cuzk.ok("--threads=3", "version").out
    assert cuzk.ok("--json", "--quiet", "verify", vkey, public, proof, "--threads", "1").json()["valid"] is True
    assert cuzk.ok("--help", "prove").out == cuzk.ok("prove", "--help").out
    assert "threads 2" in cuzk.ok("-t", "2", "--version").out
    cuzk.fails(2, '"--r1cs": belongs behind the command', "--r1cs", "x", "prove", "a", "b")
    cuzk.fails(2, '"--thread": unknown option; did you mean "--threads"?', "--thread", "2", "prove")
    cuzk.fails(2, "no command given", "-q")
    cuzk.fails(2, "--threads: needs a value (N)", "--threads")
    cuzk.fails(2, '"--threads": unknown command', "--", "--threads")


def test_double_dash_ends_options(cuzk):
    cuzk.fails(1, '"--r1cs"', "inspect", "--", "--r1cs")


def test_help(cuzk):
    text = cuzk.ok("help").out
    assert text == cuzk.ok("--help").out == cuzk.ok("-h").out
    for command in COMMANDS:
        assert "\n  %s " % command in text, command
        own = cuzk.ok("help", *command.split()).out
        assert own.startswith("usage: cuzk %s" % command), own
        assert own == cuzk.ok(*command.split(), "--help").out
        assert "exit codes: 0 success, 1 invalid or failed, 2 usage" in own
    cuzk.fails(2, 'did you mean "setup"', "help", "setpu")


def test_docs_name_every_option(cuzk):
    with open(os.path.join(harness.TOP, "docs", "cli.md")) as f:
        docs = f.read()
    for command in COMMANDS:
        assert "cuzk %s" % command in docs, command
        for line in cuzk.ok("help", *command.split()).out.splitlines():
            for word in line.split():
                if line.startswith("  -") and word.startswith("--"):
                    assert "`%s" % word in docs, "docs/cli.md does not name %s of %s" % (word, command)


def test_commands_of_the_server_without_it(cuzk):
    """A program that has no cuzk-server beside it says so, whatever else stands on the line."""
    alone = cuzk.path("bin/cuzk")
    os.mkdir(cuzk.path("bin"))
    shutil.copy(cuzk.program, alone)
    for line in (["submit", "porep", "x"], ["status", "--no-such"], ["prove", "a", "b", "--connect", "x"],
                 ["prove", "porep", "a", "--connect=x"], ["bench", "--server"], ["help", "queue"], ["serve"]):
        r = harness.run(harness.EMULATOR + [alone] + line)
        assert r.code == 1 and r.out == "" and len(r.err.splitlines()) == 1, r
        assert "not supported: this program was built without the proving server" in r.err, r
    r = harness.run(harness.EMULATOR + [alone, "--json", "evict", "porep-32g"])
    assert r.json()["status"] == "E_UNSUPPORTED", r
    r = harness.run(harness.EMULATOR + [alone, "prove", "--", "a", "--connect"])
    assert r.code == 1 and "not supported" not in r.err, r


def test_devices(cuzk):
    """Without a device the command says why; help and version do not look for one."""
    r = cuzk.ok("devices", "--threads", "1")
    assert r.out.startswith("cpu: path ") and "threads 1" in r.out, r
    j = cuzk.ok("devices", "--json").json()
    assert j["ok"] and j["cpu"] and isinstance(j["devices"], list), j
    for d in j["devices"]:
        assert d["id"].startswith("cuda:") and d["usable"] == (d["reason"] == ""), d
    if not j["devices"]:
        assert "no CUDA device: " in r.out and j["no_device"] != "", (r, j)
    cuzk.fails(2, "devices", "devices", "extra")
    key, wtns = [cuzk.circom("bn254", "multiplier2", n) for n in ("circuit.zkey", "witness.wtns")]
    for name in ("gpu", "cuda", "cuda:", "cuda:x", "cuda:0x", "cuda:1000", ""):
        cuzk.fails(2, 'device "%s": expected cpu, cuda:N, auto or auto:N' % name, "prove", key, wtns, "--device", name)
    if not j["devices"]:
        cuzk.fails(1, 'device "cuda:0"', "prove", key, wtns, "--device", "cuda:0")
    assert cuzk.ok("prove", key, wtns, "--device", "cpu", "--json").json()["device"] == "cpu"


def test_version(cuzk):
    r = cuzk.ok("version", "--threads", "1")
    assert r.out.startswith("cuzk ") and "threads 1" in r.out, r
    j = cuzk.ok("version", "--json").json()
    assert j["cpu"] in ("portable", "adx", "ifma", "ifma-emulated") and j["threads"] >= 1, j
    with open(os.path.join(harness.TOP, "CMakeLists.txt")) as f:
        assert "VERSION %s " % j["version"] in f.read()
    assert cuzk.ok("--version").code == 0


def test_cpu_pinning(cuzk):
    """BC-043: a path that the processor lacks is refused, never replaced."""
    env = {"CUZK_CPU": "portable"}
    assert "cpu path portable" in cuzk.ok("version", env=env).out
    cuzk.fails(2, ["CUZK_CPU", "sse9"], "version", env={"CUZK_CPU": "sse9"})
    with open("/proc/cpuinfo") as f:
        flags = f.read()
    for path, flag in (("adx", " adx"), ("ifma", "avx512ifma")):
        env = {"CUZK_CPU": path}
        if flag in flags:
            assert "cpu path " + path in cuzk.ok("version", env=env).out
        else:
            cuzk.fails(2, ["CUZK_CPU", path], "version", env=env)


def test_old_processor(cuzk):
    """BC-043: runs on a processor without ADX and BMI2 (under an emulator)."""
    import shutil
    emulator = shutil.which("qemu-x86_64")
    if emulator is None or harness.SANITIZED or os.uname().machine != "x86_64":
        raise Skip("no qemu-x86_64, or a sanitizer build")
    zkey, wtns, vkey = (cuzk.circom("bn254", "multiplier2", n)
                        for n in ("circuit.zkey", "witness.wtns", "verification_key.json"))
    for model in ("qemu64", "Nehalem", "max,-adx", "max,-bmi2"):
        r = harness.run([emulator, "-cpu", model, cuzk.program, "version"], cwd=cuzk.scratch, limit=60)
        assert r.code == 0 and "cpu path portable" in r.out, r
    r = harness.run([emulator, "-cpu", "qemu64", cuzk.program, "prove", zkey, wtns, "p.json", "pub.json"],
                    cwd=cuzk.scratch, limit=120)
    assert r.code == 0, r
    cuzk.ok("verify", vkey, "pub.json", "p.json")


def test_signal(cuzk):
    """SIGTERM during a long setup ends it with a message and leaves no file."""
    import signal, subprocess, time
    r1cs = cuzk.circom("bn254", "sha256_256", "circuit.r1cs")
    p = subprocess.Popen(harness.EMULATOR + [cuzk.program, "setup", "--threads", "1", r1cs, "key.zkey"],
                         cwd=cuzk.scratch, env={**os.environ, "CUZK_CPU": "portable"},
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # a process that does not catch it yet would just die of it
    catches = lambda: int(re.search(r"SigCgt:\s*(\w+)", open("/proc/%d/status" % p.pid).read())[1], 16)
    end = time.monotonic() + 30 * harness.SLOW
    while not catches() & 1 << (signal.SIGTERM - 1):
        assert p.poll() is None and time.monotonic() < end, p.communicate()
        time.sleep(0.001)
    time.sleep(0.1)
    p.send_signal(signal.SIGTERM)
    out, err = p.communicate(timeout=60 * harness.SLOW)
    assert p.returncode == 1 and "cancelled" in err, (p.returncode, out, err)
    assert cuzk.names() == [], cuzk.names()


if __name__ == "__main__":
    harness.main(globals())
