# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a command says and returns when its surroundings fail it: stdout closed, full or without a
reader, names that are not UTF-8, inputs that shrink while they are mapped."""
import fcntl, json, os, signal, subprocess, time
import harness
from harness import Skip, read


def inputs(cuzk, circuit="multiplier2"):
    return [cuzk.circom("bn254", circuit, n) for n in ("circuit.zkey", "witness.wtns")]


def shell(cuzk, line, *args):
    """Run a line of sh; "$@" are the program and args."""
    return harness.run(["sh", "-c", line, "sh"] + harness.EMULATOR + [cuzk.program] + list(args), cwd=cuzk.scratch)


def test_result_in_files(cuzk):
    """A finished setup or proof is a success also when its summary cannot be printed."""
    zkey, wtns = inputs(cuzk)
    r1cs = cuzk.circom("bn254", "multiplier2", "circuit.r1cs")
    for where, why in ((">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")):
        r = shell(cuzk, '"$@" %s' % where, "setup", r1cs, "k.zkey", "--vkey", "vk.json")
        assert r.code == 0, r
        assert "warning: writing to stdout failed: %s; the keys are written" % why in r.err, r
        cuzk.ok("check", "k.zkey", "--r1cs", r1cs)
        for more in ([], ["--json"]):
            r = shell(cuzk, '"$@" %s' % where, "prove", zkey, wtns, "p.json", "pub.json", *more)
            assert r.code == 0 and "proof and public values are written" in r.err, r
            cuzk.ok("verify", zkey, "pub.json", "p.json")
        r = shell(cuzk, '"$@" %s' % where, "prove", zkey, wtns, "p.json", "pub.json", "--quiet")
        assert r.code == 0 and r.err == "", r
        os.unlink(cuzk.path("k.zkey"))
    assert cuzk.names() == ["p.json", "pub.json", "vk.json"]


def test_no_stream_at_all(cuzk):
    """Output files never get the numbers of standard streams."""
    zkey, wtns = inputs(cuzk)
    r = shell(cuzk, '"$@" <&- >&- 2>&-', "setup", cuzk.circom("bn254", "multiplier2", "circuit.r1cs"), "k.zkey")
    assert r.code == 0, r
    cuzk.ok("check", "k.zkey")
    r = shell(cuzk, '"$@" <&- >&- 2>&-', "prove", zkey, wtns, "p.json", "pub.json", "--progress", "-v")
    assert r.code == 0, r
    cuzk.ok("verify", zkey, "pub.json", "p.json")
    assert json.loads(read(cuzk.path("pub.json"))) == ["33"]
    assert shell(cuzk, '"$@" <&- >&- 2>&-', "prove", wtns, zkey).code == 1
    # a proof that shall go to the closed stdout is lost, and that is told
    for name in ("/dev/stdout", "/dev/fd/1"):
        r = shell(cuzk, '"$@" >&-', "prove", zkey, wtns, name, "x.json")
        assert r.code == 1 and name in r.err, r
    assert cuzk.names() == ["k.zkey", "p.json", "pub.json"]


def test_result_in_exit_code(cuzk):
    vkey, public, proof = (cuzk.circom("bn254", "multiplier2", n)
                           for n in ("verification_key.json", "public.json", "proof.json"))
    r = shell(cuzk, '"$@" >&-', "verify", vkey, public, proof)
    assert r.code == 0 and "the exit code tells the result" in r.err, r
    r = shell(cuzk, '"$@" >&-', "verify", vkey, cuzk.write("pub.json", '["34"]'), proof)
    assert r.code == 1 and "invalid" in r.err, r


def test_result_on_stdout(cuzk):
    zkey, _ = inputs(cuzk)
    public, proof = (cuzk.circom("bn254", "multiplier2", n) for n in ("public.json", "proof.json"))
    for args in (["inspect", zkey], ["inspect", zkey, "--json"], ["check", zkey], ["export", "vk", zkey], ["help"],
                 ["export", "calldata", public, proof], ["version"], ["--help"], ["prove", "--help"]):
        r = shell(cuzk, '"$@" >&-', *args)
        assert r.code == 1 and "writing to stdout failed: Bad file descriptor" in r.err, r
    r = shell(cuzk, '"$@" >&-', "inspect", "none", "--json")
    assert r.code == 1 and "No such file" in r.err, r
    r = shell(cuzk, '"$@" >&-', "export", "vk", zkey, "vk.json")  # prints nothing
    assert r.code == 0 and r.err == "", r


def test_reader_has_gone(cuzk):
    """setup and prove end their work when nobody reads what they print."""
    zkey, wtns = inputs(cuzk)
    for args in (["setup", cuzk.circom("bn254", "multiplier2", "circuit.r1cs"), "k.zkey"],
                 ["prove", zkey, wtns, "p.json", "pub.json"]):
        reader, writer = os.pipe()
        os.close(reader)
        p = subprocess.run(harness.EMULATOR + [cuzk.program] + args, cwd=cuzk.scratch, stdout=writer,
                           stderr=subprocess.PIPE, text=True)
        os.close(writer)
        assert p.returncode == 0 and "Broken pipe" in p.stderr, p
    cuzk.ok("check", "k.zkey")
    cuzk.ok("verify", zkey, "pub.json", "p.json")


def test_json_is_always_json(cuzk):
    """Names of any bytes: the object is UTF-8 and parses."""
    zkey, wtns = inputs(cuzk)
    names = [b"plain", b"\xff\xfe.zkey", b"a\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x9f\x94",
             "\u00e9 \u65e5\u672c \U0001f511".encode(), b'q"\\\n\t\x01\x7f']
    for name in names:
        path = os.fsdecode(os.path.join(os.fsencode(cuzk.scratch), name))
        with open(path, "wb") as f:
            f.write(read(zkey))
        for args, code in ((["inspect", path], 0), (["check", path, "--r1cs", "none"], 1), (["prove", path, "none"], 1),
                           (["prove", path + "none", wtns], 1), (["bench", path, path], 1), (["x" + path], 2),
                           (["verify", path], 2), (["prove", path, wtns, path, path], 2),
                           (["prove", "--threads", path, "a", "b"], 2)):
            r = cuzk(*args, "--json", text=False)
            assert r.code == code, r
            j = json.loads(r.out.decode("utf-8"))  # strict
            assert j["ok"] is (code == 0), r
            if args[0] == "inspect":
                told = os.path.basename(j["file"])
                try:
                    assert told == name.decode("utf-8"), told
                except UnicodeDecodeError:
                    assert "\ufffd" in told, told
        os.unlink(path)


def test_json_of_usage_errors(cuzk):
    for args in (["--json"], ["--json", "prove"], ["prove", "--json"], ["porve", "a", "--json"],
                 ["prove", "a", "b", "--thread", "2", "--json"], ["prove", "a", "b", "--json=1", "--json"],
                 ["help", "nothing", "--json"], ["setup", "a", "--json"], ["export", "vkey", "a", "--json"],
                 ["bench", "a", "b", "--runs", "x", "--json"], ["prove", "a", "b", "-", "c", "--json"]):
        r = cuzk(*args)
        j = r.json()
        assert r.code == (1 if args[:3] == ["prove", "a", "b"] and "-" in args else 2), r
        assert j["ok"] is False and j["error"] in r.err, r
        assert j["status"] == ("E_ARGUMENT" if r.code == 2 else "E_FILE"), r
    assert cuzk("prove", "--", "--json").out == ""


def test_dash_as_output(cuzk):
    zkey, wtns = inputs(cuzk)
    r1cs = cuzk.circom("bn254", "multiplier2", "circuit.r1cs")
    for args in (["prove", zkey, wtns, "-", "pub.json"], ["prove", zkey, wtns, "p.json", "-"], ["setup", r1cs, "-"],
                 ["setup", r1cs, "k.zkey", "--vkey", "-"], ["export", "vk", zkey, "-"]):
        cuzk.fails(2, '"-" is not taken as a name for an output', *args)
    assert cuzk.names() == []
    cuzk.ok("export", "vk", zkey, "./-")
    assert cuzk.names() == ["-"]


class Held:
    """A process that waits in its first write to stderr, because the pipe behind it is full."""

    def __init__(self, cuzk, mapped, *args):
        self.reader, writer = os.pipe()
        flags = fcntl.fcntl(writer, fcntl.F_GETFL)
        fcntl.fcntl(writer, fcntl.F_SETFL, flags | os.O_NONBLOCK)
        self.filler = 0
        for piece in (b"." * 4096, b"."):
            try:
                while True:
                    self.filler += os.write(writer, piece)
            except BlockingIOError:
                pass
        fcntl.fcntl(writer, fcntl.F_SETFL, flags)
        self.process = subprocess.Popen([cuzk.program] + list(args), cwd=cuzk.scratch, stdout=subprocess.PIPE,
                                        stderr=writer, stdin=subprocess.DEVNULL)
        os.close(writer)
        before, deadline = None, time.monotonic() + 30 * harness.SLOW
        while True:
            with open("/proc/%d/stat" % self.process.pid) as f:
                now = f.read().rsplit(")", 1)[1].split()
            with open("/proc/%d/maps" % self.process.pid) as f:
                is_mapped = mapped in f.read()
            if is_mapped and now[0] == "S" and before == now[11:13]:
                break
            before = now[11:13]
            assert now[0] != "Z" and time.monotonic() < deadline, "the program does not wait"
            time.sleep(0.05)

    def release(self):
        err = b""
        while True:
            piece = os.read(self.reader, 65536)
            if not piece:
                break
            err += piece
        os.close(self.reader)
        out = self.process.stdout.read()
        return self.process.wait(), out.decode(), err[self.filler:].decode()


def test_input_shrinks(cuzk):
    """BC-098: a mapped key or witness that is cut off ends the command with a message, not with a
    signal, and leaves nothing behind."""
    if harness.EMULATOR:
        raise Skip("emulator")
    zkey, wtns = inputs(cuzk, "range64")
    data = read(zkey)
    cuts = [["prove", "k.zkey", wtns, "--progress", "--threads", "1"],
            ["prove", "k.zkey", wtns, "--progress", "--threads", "3", "--json"],
            ["check", "k.zkey", "--progress"]]
    for args in cuts:
        path = cuzk.write("k.zkey", data)
        held = Held(cuzk, path, *args)
        os.truncate(path, 4096)
        code, out, err = held.release()
        text = '"k.zkey": the file was shortened while it was being read: it had %d bytes' % len(data)
        assert code == 1, (args, code, out, err)
        assert err.splitlines()[-1] == "cuzk %s: %s" % (args[0], text), (args, err)
        if "--json" in args:
            assert json.loads(out) == {"ok": False, "status": "E_FILE", "error": text}, out
        assert cuzk.names() == ["k.zkey"], cuzk.names()
    # a .params, whose points are decoded while it is opened for a proof: check reads it in pieces
    params = read(cuzk.fixture("groth/inputs300/circuit.params"))
    path = cuzk.write("k.params", params)
    held = Held(cuzk, path, "check", "k.params", "--progress")
    os.truncate(path, 4096)
    code, out, err = held.release()
    assert code == 1 and '"k.params": the file was shortened' in err, (code, out, err)
    os.unlink(path)
    # replaced by another file of the same name: the old one stays mapped, and proves
    path = cuzk.write("k.zkey", data)
    held = Held(cuzk, path, "prove", "k.zkey", wtns, "p.json", "pub.json", "--progress")
    cuzk.write("short", data[:4096])
    os.rename(cuzk.path("short"), path)
    code, out, err = held.release()
    assert code == 0, (code, out, err)
    cuzk.ok("verify", zkey, "pub.json", "p.json")


def test_key_of_prover_shrinks(cuzk):
    """The same for rapidsnark's program, which shows no progress to hold it by: it is stopped."""
    if harness.EMULATOR:
        raise Skip("emulator")
    r1cs, wtns = (cuzk.circom("bn254", "sha256_256", n) for n in ("circuit.r1cs", "witness.wtns"))
    cuzk.ok("setup", r1cs, "whole.zkey", "-q")
    data, path = read(cuzk.path("whole.zkey")), cuzk.path("k.zkey")
    for _ in range(20):
        cuzk.write("k.zkey", data)
        p = subprocess.Popen([os.path.join(cuzk.build, "prover"), "k.zkey", wtns, "p.json", "pub.json"], cwd=cuzk.scratch,
                             env=dict(os.environ, CUZK_CPU="portable"), stderr=subprocess.PIPE, text=True)
        while p.poll() is None:
            with open("/proc/%d/maps" % p.pid) as f:
                if path in f.read():
                    break
        p.send_signal(signal.SIGSTOP)
        os.truncate(path, 4096)
        p.send_signal(signal.SIGCONT)
        _, err = p.communicate(timeout=60 * harness.SLOW)
        if p.returncode != 0:
            break
    text = 'Error: "k.zkey": the file was shortened while it was being read: it had %d bytes\n' % len(data)
    assert p.returncode == 1 and err == text, (p.returncode, err)
    assert not set(cuzk.names()) & {"p.json", "pub.json"}, cuzk.names()


if __name__ == "__main__":
    harness.main(globals())
