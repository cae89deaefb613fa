# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk gen-vanilla: what it writes, that it follows from the seed, what it refuses."""
import base64, hashlib, json, os
import harness
from harness import read


def load(path):
    return json.loads(read(path))


def test_porep(cuzk):
    out, request = cuzk.path("c1.json"), cuzk.path("request.json")
    r = cuzk.ok("gen-vanilla", "porep", out, "--sector-size", "2KiB", "--seed", "7", "--request", request)
    assert "wrote %s %s in" % (out, request) in r.out, r
    c1, stated = load(out), load(request)
    assert c1["registered_proof"] == "StackedDrg2KiBV1_1" and stated["registered_proof"] == 5
    (proofs,) = c1["vanilla_proofs"].values()
    assert [len(p) for p in proofs] == [2]
    for name in ("comm_r", "comm_d", "seed", "ticket"):
        assert bytes(c1[name]).hex() == stated[name], name
    # the replica id from its definition
    porep_id = (5).to_bytes(8, "little") + bytes(24)
    prover_id = bytes([0xE8, 0x07]) + bytes(30)
    digest = bytearray(hashlib.sha256(prover_id + (1).to_bytes(8, "big") + bytes(c1["ticket"]) +
                                      bytes(c1["comm_d"]) + porep_id).digest())
    digest[31] &= 0x3F
    assert list(digest) == c1["replica_id"]


def test_envelope_and_seed(cuzk):
    paths = [cuzk.path("%d.json" % i) for i in range(4)]
    common = ("--sector-size", "16KiB", "--sector-number", "99")
    cuzk.ok("gen-vanilla", "porep", paths[0], *common)
    cuzk.ok("gen-vanilla", "porep", paths[1], *common, "--seed", "0")
    cuzk.ok("gen-vanilla", "porep", paths[2], *common, "--seed", "1")
    cuzk.ok("gen-vanilla", "porep", paths[3], *common, "--c1")
    assert read(paths[0]) == read(paths[1]) != read(paths[2])
    envelope = load(paths[3])
    assert (envelope["SectorNum"], envelope["SectorSize"]) == (99, 16384)
    assert base64.b64decode(envelope["Phase1Out"], validate=True) == read(paths[0])


def test_bincode_kinds(cuzk):
    out, request = cuzk.path("v.json"), cuzk.path("r.json")
    for kind, size, options, n, n_bytes in (
            ("winning", "32GiB", (), 1, 164064), ("window", "32GiB", ("--sectors", "3"), 3, 24960),
            ("snap", "2KiB", (), 1, 15064), ("snap", "8MiB", (), 4, 43864)):
        r = cuzk.ok("gen-vanilla", kind, out, "--sector-size", size, "--request", request, "--json", *options)
        assert r.json()["ok"] is True and r.json()["request"] == request
        assert [len(base64.b64decode(s, validate=True)) for s in load(out)] == [n_bytes] * n, kind
        stated = load(request)
        assert stated["sector_size"] == size
        if kind == "window":
            assert [s["sector_number"] for s in stated["sectors"]] == [1, 2, 3]


def test_large_porep(cuzk):
    out = cuzk.path("c1.json")
    r = cuzk.ok("gen-vanilla", "porep", out, "--sector-size", "32GiB")
    assert r.peak_bytes < 100 << 20 or harness.SANITIZED, r.peak_bytes
    assert os.path.getsize(out) > 35 << 20


def test_refused(cuzk):
    out = cuzk.path("v.json")
    size = ("--sector-size", "2KiB")
    cuzk.fails(2, "--sector-size is missing", "gen-vanilla", "porep", out)
    cuzk.fails(2, '--seed: "x" is not a number of 64 bits', "gen-vanilla", "porep", out, *size, "--seed", "x")
    cuzk.fails(2, '--seed: "18446744073709551616"', "gen-vanilla", "porep", out, *size, "--seed", str(1 << 64))
    cuzk.fails(2, 'sector size "33GiB" is not known', "gen-vanilla", "porep", out, "--sector-size", "33GiB")
    cuzk.fails(2, 'kind "seal" is not known', "gen-vanilla", "seal", out, *size)
    cuzk.fails(2, "only a window proof has several sectors", "gen-vanilla", "winning", out, *size, "--sectors", "2")
    cuzk.fails(2, "3 sectors, expected 1 to 2", "gen-vanilla", "window", out, *size, "--sectors", "3")
    cuzk.fails(2, "only a porep has an envelope", "gen-vanilla", "snap", out, *size, "--c1")
    cuzk.fails(2, "registered proof 8 is not one of sectors of 2KiB", "gen-vanilla", "porep", out, *size,
               "--registered-proof", "8")
    cuzk.fails(2, "registered proof 20 of kind PoRep is not known", "gen-vanilla", "porep", out, *size,
               "--registered-proof", "20")
    cuzk.fails(1, "depend on comm_r", "gen-vanilla", "porep", out, *size, "--registered-proof", "10")
    cuzk.fails(1, "there is no PoRep for sectors of 8KiB", "gen-vanilla", "porep", out, "--sector-size", "8KiB")
    cuzk.fails(2, "", "gen-vanilla", "porep", out, *size, "--request", out)
    cuzk.fails(1, "no-such", "gen-vanilla", "porep", cuzk.path("no-such/v.json"), *size)
    assert not os.path.exists(out)


def test_no_room(cuzk):
    r = harness.run(["sh", "-c", 'ulimit -f 8; exec "$@"', "sh"] + harness.EMULATOR +
                    [cuzk.program, "gen-vanilla", "winning", "v.json", "--sector-size", "2KiB"], cwd=cuzk.scratch)
    assert r.code == 1 and r.err == 'cuzk gen-vanilla: writing "v.json": File too large\n', r
    assert cuzk.names() == []


harness.main(globals())
