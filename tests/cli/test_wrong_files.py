# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every command with each of its files in turn replaced by one that it cannot use: missing, a folder, a device, empty, a web
page, packed, cut, of another kind. One line on stderr that names command and file, nothing on stdout, exit code 1, and no
file that was not there before. With --json the same as JSON."""
import gzip, json, os, random
import harness
from harness import EMULATOR, read, run

# command, then its arguments: FILE a good file, >NAME an output
COMMANDS = {
    "prove": ["ZKEY", "WTNS", ">p.json", ">pub.json"],
    "prove with its circuit": ["PARAMS", "BLS_WTNS", ">p.bin", ">pub.json", "--r1cs", "BLS_R1CS"],
    "verify": ["VKEY", "PUBLIC", "PROOF"],
    "verify several": ["VKEY", "PUBLIC", "PROOF", "PUBLIC", "PROOF"],
    "setup": ["R1CS", ">k.zkey"],
    "check": ["ZKEY"],
    "check a witness": ["R1CS", "WTNS"],
    "check with its circuit": ["ZKEY", "--r1cs", "R1CS"],
    "inspect": ["ZKEY"],
    "export vk": ["ZKEY", ">vk.json"],
    "export calldata": ["PUBLIC", "PROOF"],
    "bench": ["ZKEY", "WTNS", "--runs", "1"],
    "prove porep": ["C1", "--params", "none", "--out", ">porep.bin"],
    "prove winning": ["WINNING", "--request", "WINNING_REQUEST", "--params", "none"],
    "verify winning": ["FIL_PROOF", "--request", "WINNING_REQUEST", "--vk", "FIL_VK", "--allow-test-key"],
    "params list": ["--manifest", "MANIFEST"],
}
NAMES = {"prove with its circuit": "prove", "verify several": "verify", "check a witness": "check",
         "check with its circuit": "check"}

# what a file is called that stands for a kind where another is expected
KINDS = ["ZKEY", "WTNS", "R1CS", "VKEY", "PROOF", "PUBLIC", "PARAMS", "VK", "C1", "WINNING", "FIL_PROOF", "MANIFEST"]
# places where another kind is a good answer too
ACCEPTED = {
    "VKEY": {"ZKEY", "PARAMS", "VK"}, "ZKEY": {"PARAMS"}, "PARAMS": {"ZKEY"}, "check": set(KINDS), "inspect": set(KINDS),
    "export vk": {"VKEY", "VK", "ZKEY", "PARAMS"},
}


def good_files(cuzk):
    c = lambda name: cuzk.circom("bn254", "multiplier2", name)
    g = lambda name: cuzk.fixture("groth/cube/" + name)
    case = "cases/winning-2k-5/"
    files = {"ZKEY": c("circuit.zkey"), "WTNS": c("witness.wtns"), "R1CS": c("circuit.r1cs"), "PUBLIC": c("public.json"),
             "VKEY": c("verification_key.json"), "PROOF": c("proof.json"), "PARAMS": g("circuit.params"),
             "VK": g("circuit.vk"), "BLS_WTNS": g("witness.wtns"), "BLS_R1CS": g("circuit.r1cs"),
             "C1": cuzk.fixture("cases/vector-porep-2k/c1.json"), "WINNING": cuzk.fixture(case + "vanilla-0.bincode"),
             "FIL_PROOF": cuzk.fixture(case + "proof.bin"), "FIL_VK": cuzk.fixture(case + "winning-2k.vk")}
    cuzk.ok("gen-vanilla", "winning", "w.json", "--sector-size", "2KiB", "--request", "r.json")
    files["WINNING"], files["WINNING_REQUEST"] = cuzk.path("w.json"), cuzk.path("r.json")
    files["MANIFEST"] = cuzk.write_json("parameters.json", {"a.vk": {"cid": "x", "digest": "0" * 32, "sector_size": 2048}})
    return files


def bad_files(cuzk, good):
    """(name, path, text that the message has beside the path) of what is no file of any kind."""
    data = read(good)
    os.makedirs(cuzk.path("folder"), exist_ok=True)
    page = b"<!DOCTYPE html>\n<html><head><title>404</title></head><body>not found</body></html>\n"
    yield "missing", cuzk.path("none"), "No such file"
    yield "folder", cuzk.path("folder"), "directory"
    yield "device", "/dev/null", "not a file"
    yield "below a file", good + "/x", "Not a directory"
    yield "empty", cuzk.write("empty", b""), ""
    yield "page", cuzk.write("page", page), ""
    yield "packed", cuzk.write("packed", gzip.compress(data, mtime=0)), ""
    yield "cut", cuzk.write("cut", data[:len(data) * 2 // 3]), ""
    yield "beginning", cuzk.write("beginning", data[:4]), ""
    yield "noise", cuzk.write("noise", random.Random(5).randbytes(700)), ""
    yield "zeros", cuzk.write("zeros", bytes(4096)), ""


def expect(cuzk, name, args, path, text, before):
    """The one line, and nothing else."""
    words = name.split() if name not in NAMES else [NAMES[name]]
    r = cuzk(*words, *args)
    # a circuit to compare with beside what is no key, and a request that is none, are wrong usage
    expected = {1, 2} if name == "check with its circuit" or "--request" in args else {1}
    assert r.code in expected, (name, path, str(r))
    lines = [l for l in r.err.splitlines() if ": note: " not in l and ": warning: " not in l]
    assert len(lines) == 1, (name, path, str(r))
    command = " ".join(words[:1] if words[0] in ("export",) else words)
    assert lines[0].startswith(("cuzk %s: " % command, "cuzk %s: " % words[0])), (name, str(r))
    assert path in lines[0] and text in lines[0], (name, path, text, str(r))
    if words[0] not in ("inspect", "check"):  # these report up to what is broken
        assert r.out == "", (name, str(r))
    assert cuzk.names() == before, (name, cuzk.names(), before)


def places(args):
    """(index, kind) of the files that a command reads."""
    return [(i, a) for i, a in enumerate(args) if a.isupper()]


def filled(args, files, at=None, path=None):
    return [path if i == at else files.get(a, a.lstrip(">")) for i, a in enumerate(args)]


def test_no_files(cuzk):
    files = good_files(cuzk)
    for name, args in COMMANDS.items():
        seen = set()
        for at, kind in places(args):
            if kind in seen:
                continue  # the second pair of verify is read as the first
            seen.add(kind)
            for what, path, text in bad_files(cuzk, files[kind]):
                if what in ("noise", "zeros") and kind in ("WINNING", "FIL_PROOF"):
                    continue  # binary formats without a mark: found wrong in what they say, not by name
                expect(cuzk, name, filled(args, files, at, path), path, text, cuzk.names())


def test_other_kinds(cuzk):
    """A good file in the wrong place."""
    files = good_files(cuzk)
    for name, args in COMMANDS.items():
        for at, kind in places(args)[:3]:
            for other in KINDS:
                same = other == kind.replace("BLS_", "")
                if same or other in ACCEPTED.get(kind, set()) | ACCEPTED.get(name.split(" a ")[0].split(" with ")[0], set()):
                    continue
                if kind == "WINNING" or kind == "FIL_PROOF":
                    continue  # bytes and JSON of many forms: test_filecoin.py
                expect(cuzk, name, filled(args, files, at, files[other]), files[other], "", cuzk.names())


def test_as_json(cuzk):
    """With --json the failure is an object on stdout, with the message of the line; stderr keeps the line."""
    files = good_files(cuzk)
    for name in ("prove", "verify", "setup", "check", "inspect", "export vk", "bench", "prove porep", "params list"):
        args = COMMANDS[name]
        at, kind = places(args)[0]
        for what, path, text in bad_files(cuzk, files[kind]):
            if what not in ("missing", "folder", "empty", "cut"):
                continue
            before = cuzk.names()
            r = cuzk(*name.split(), *filled(args, files, at, path), "--json")
            assert r.code == 1 and cuzk.names() == before, str(r)
            if r.out:
                found = json.loads(r.out)
                assert isinstance(found, dict) and path in json.dumps(found, ensure_ascii=False), str(r)
            assert path in r.err or path in r.out, str(r)


def test_rapidsnark_names(cuzk):
    """prover and verifier: "Error: " and the file, exit code 1; a wrong proof is a result, not an error."""
    files = good_files(cuzk)
    programs = {"prover": ["ZKEY", "WTNS", ">p.json", ">pub.json"], "verifier": ["VKEY", "PUBLIC", "PROOF"]}
    for program, args in programs.items():
        command = EMULATOR + [os.path.join(cuzk.build, program)]
        r = run(command + filled(args, files), cwd=cuzk.scratch)
        assert r.code == 0 and r.out == "", str(r)
        assert r.err == ("" if program == "prover" else "Result: Valid proof\n"), str(r)
        for name in ("p.json", "pub.json"):
            if os.path.exists(cuzk.path(name)):
                os.unlink(cuzk.path(name))
        for at, kind in places(args):
            for what, path, text in bad_files(cuzk, files[kind]):
                before = cuzk.names()
                r = run(command + filled(args, files, at, path), cwd=cuzk.scratch)
                assert r.code == 1 and r.out == "" and cuzk.names() == before, str(r)
                assert r.err.startswith("Error: ") and len(r.err.splitlines()) == 1, str(r)
                if what in ("missing", "folder", "device", "below a file"):
                    assert path in r.err and text in r.err, str(r)
        for count in range(len(args) + 3):  # any other number of arguments
            if count != len(args):
                r = run(command + ["x"] * count, cwd=cuzk.scratch)
                assert r.code == 1 and "Invalid number of parameters" in r.err and "Usage: %s <" % program in r.err, str(r)
    for wrong in ('["34"]', '["5"]'):
        r = run(EMULATOR + [os.path.join(cuzk.build, "verifier"), files["VKEY"], cuzk.write("w.public", wrong), files["PROOF"]])
        assert (r.code, r.err) == (1, "Result: Invalid proof\n"), str(r)


def test_outputs_that_cannot_be_written(cuzk):
    """A folder that is missing, a name that is a folder: nothing half-written, older files keep their content."""
    files = good_files(cuzk)
    os.mkdir(cuzk.path("taken"))
    for name in ("prove", "setup", "export vk"):
        args = COMMANDS[name]
        outputs = [i for i, a in enumerate(args) if a.startswith(">")]
        for at in outputs:
            for path, text in ((cuzk.path("none/x.json"), "No such file"), (cuzk.path("taken"), "directory"),
                               (files["ZKEY"] + "/x", "Not a directory")):
                for i in outputs:
                    if i != at:
                        cuzk.write(args[i].lstrip(">"), b"older")
                before = cuzk.names()
                r = cuzk(*name.split(), *filled(args, files, at, path))
                assert r.code == 1 and path in r.err and text in r.err.replace("Is a d", "d"), str(r)
                assert cuzk.names() == before, (cuzk.names(), before)
                for i in outputs:
                    if i != at:
                        assert read(cuzk.path(args[i].lstrip(">"))) == b"older", str(r)


harness.main(globals())
