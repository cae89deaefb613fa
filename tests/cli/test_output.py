# SPDX-License-Identifier: MIT OR Apache-2.0
"""BC-035: output files are whole or not there, and failures are told."""
import json, os, stat, subprocess
import harness
from harness import Skip, read


def inputs(cuzk):
    return [cuzk.circom("bn254", "multiplier2", n) for n in ("circuit.zkey", "witness.wtns")]


class Mount:
    """A tmpfs in the scratch folder; only root can make one."""

    def __init__(self, cuzk, name, options):
        self.path = cuzk.path(name)
        os.mkdir(self.path)
        r = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.path], capture_output=True)
        if r.returncode != 0:
            os.rmdir(self.path)
            raise Skip("cannot mount a tmpfs: " + r.stderr.decode().strip())

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        subprocess.run(["umount", self.path], check=True)


def test_missing_folder(cuzk):
    zkey, wtns = inputs(cuzk)
    cuzk.fails(1, ["none/p.json", "No such file or directory"], "prove", zkey, wtns, "none/p.json", "pub.json")
    cuzk.fails(1, ["none/pub.json", "No such file or directory"], "prove", zkey, wtns, "p.json", "none/pub.json")
    assert cuzk.names() == []


def test_target_is_a_folder(cuzk):
    zkey, wtns = inputs(cuzk)
    os.mkdir(cuzk.path("d"))
    cuzk.fails(1, ['"d"', "Is a directory"], "prove", zkey, wtns, "p.json", "d")
    cuzk.fails(1, ['"d"', "Is a directory"], "prove", zkey, wtns, "d", "pub.json")
    assert cuzk.names() == ["d"] and os.listdir(cuzk.path("d")) == []


def test_second_file_fails(cuzk):
    """The proof that was there before stays when the public values cannot be written."""
    zkey, wtns = inputs(cuzk)
    cuzk.write("p.json", "old proof")
    cuzk.fails(1, "none/pub.json", "prove", zkey, wtns, "p.json", "none/pub.json")
    assert read(cuzk.path("p.json")) == b"old proof" and cuzk.names() == ["p.json"]
    cuzk.fails(1, ["/dev/full", "No space left"], "prove", zkey, wtns, "p.json", "/dev/full")
    assert read(cuzk.path("p.json")) == b"old proof" and cuzk.names() == ["p.json"]


def test_full_file_system(cuzk):
    zkey, wtns = inputs(cuzk)
    with Mount(cuzk, "small", "size=64k") as small:
        with open(small + "/filler", "wb", buffering=0) as f:
            try:
                while True:
                    f.write(bytes(4096))
            except OSError:
                pass
        with open(small + "/p.json", "wb") as f:
            f.write(b"")  # an inode, but no block
        cuzk.fails(1, [small + "/p.json", "No space left on device"], "prove", zkey, wtns, small + "/p.json", "pub.json")
        cuzk.fails(1, [small + "/pub.json", "No space left on device"], "prove", zkey, wtns, "p.json",
                   small + "/pub.json")
        assert sorted(os.listdir(small)) == ["filler", "p.json"] and read(small + "/p.json") == b""
        r1cs = cuzk.circom("bn254", "poseidon2", "circuit.r1cs")
        cuzk.fails(1, [small + "/k.zkey", "No space left on device"], "setup", r1cs, small + "/k.zkey")
        assert sorted(os.listdir(small)) == ["filler", "p.json"]
    assert cuzk.names() == ["small"]


def test_read_only_file_system(cuzk):
    zkey, wtns = inputs(cuzk)
    with Mount(cuzk, "ro", "size=64k,ro") as ro:
        cuzk.fails(1, [ro + "/p.json", "Read-only file system"], "prove", zkey, wtns, ro + "/p.json", "pub.json")
    assert cuzk.names() == ["ro"]


def test_read_only_folder(cuzk):
    zkey, wtns = inputs(cuzk)
    if os.geteuid() == 0:
        raise Skip("root writes everywhere")
    os.mkdir(cuzk.path("ro"), 0o555)
    cuzk.fails(1, ["ro/p.json", "Permission denied"], "prove", zkey, wtns, "ro/p.json", "pub.json")
    assert cuzk.names() == ["ro"]


def test_replaces_and_follows_links(cuzk):
    zkey, wtns = inputs(cuzk)
    cuzk.write("target", "old")
    os.symlink("target", cuzk.path("p.json"))
    cuzk.ok("prove", zkey, wtns, "p.json", "pub.json")
    assert os.path.islink(cuzk.path("p.json")) and b"pi_a" in read(cuzk.path("target"))
    mode = os.stat(cuzk.path("pub.json")).st_mode
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(mode) == 0o666 & ~mask, oct(mode)


def test_outputs_that_are_inputs(cuzk):
    """A slip in the order of arguments never replaces a key or a witness."""
    for name, source in zip(("k.zkey", "w.wtns"), inputs(cuzk)):
        cuzk.write(name, read(source))
    os.symlink("k.zkey", cuzk.path("link"))
    for proof, public in (("k.zkey", "pub.json"), ("p.json", "w.wtns"), ("link", "pub.json"), ("x.json", "x.json")):
        cuzk.fails(2, "of the same command", "prove", "k.zkey", "w.wtns", proof, public)
    r1cs = cuzk.write("c.r1cs", read(cuzk.circom("bn254", "multiplier2", "circuit.r1cs")))
    cuzk.fails(2, "of the same command", "setup", r1cs, "c.r1cs")
    cuzk.fails(2, "of the same command", "setup", r1cs, "n.zkey", "--vkey", "n.zkey")
    # files that are not there yet
    os.mkdir(cuzk.path("d"))
    for a, b in (("n", "./n"), ("n", cuzk.path("n")), ("d/n", "d/../d/n")):
        cuzk.fails(2, "of the same command", "prove", "k.zkey", "w.wtns", a, b)
    cuzk.ok("prove", "k.zkey", "w.wtns", "n", "d/n")
    os.unlink(cuzk.path("n"))
    os.unlink(cuzk.path("d/n"))
    os.rmdir(cuzk.path("d"))
    assert cuzk.names() == ["c.r1cs", "k.zkey", "link", "w.wtns"]
    assert read(cuzk.path("k.zkey")) == read(inputs(cuzk)[0])


def test_devices(cuzk):
    zkey, wtns = inputs(cuzk)
    cuzk.ok("prove", zkey, wtns, "/dev/null", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    r = harness.run(["sh", "-c", '%s prove "$1" "$2" /dev/stdout /dev/null --quiet | cat' % cuzk.program, "sh", zkey, wtns],
                    cwd=cuzk.scratch)
    assert r.code == 0 and '"pi_a"' in r.out, r
    assert cuzk.names() == []


def test_stream_that_is_a_file(cuzk):
    """A proof for /dev/stdout is added to what others write there; the file is not replaced."""
    zkey, wtns = inputs(cuzk)
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        for how in (">", ">>"):
            log = cuzk.write("log", "")
            r = harness.run(["sh", "-c", '(echo before; "$1" prove "$2" "$3" "$4" /dev/null --quiet; echo after) %s log' % how,
                             "sh", cuzk.program, zkey, wtns, name], cwd=cuzk.scratch)
            text = read(log).decode()
            assert r.code == 0 and text.startswith("before\n{") and text.endswith("}after\n"), (r, text)
            assert json.loads(text[len("before\n"):-len("after\n")])["protocol"] == "groth16"
    assert cuzk.names() == ["log"]


def test_unwritable_is_told_first(cuzk):
    """Before the work is done whose result could not be written."""
    zkey, _ = inputs(cuzk)
    cuzk.write("file", "")
    for where, why in (("none/p", "No such file"), ("file/p", "Not a directory"), (".", "Is a directory")):
        cuzk.fails(1, ['writing "%s"' % where, why], "prove", zkey, "no-witness", where, "pub.json")
        cuzk.fails(1, ['writing "%s"' % where, why], "prove", zkey, "no-witness", "p.json", where)
    assert cuzk.names() == ["file"]


def test_stdout_full(cuzk):
    zkey, wtns = inputs(cuzk)
    r = harness.run(["sh", "-c", '"$1" inspect "$2" >/dev/full', "sh", cuzk.program, zkey], cwd=cuzk.scratch)
    assert r.code == 1 and "writing to stdout failed" in r.err, r


if __name__ == "__main__":
    harness.main(globals())
