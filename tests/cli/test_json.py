# SPDX-License-Identifier: MIT OR Apache-2.0
"""--json of every command: one object on stdout, whatever happens; what it holds against the files that it is about."""
import json, os
import harness
from harness import Sections, make_r1cs, make_wtns, read, wtns_values, R

# exit code -> the word that a failure's object has beside "ok"
STATUS_OF_USAGE = "E_ARGUMENT"


def one_object(r):
    """The only thing on stdout is one line with one object, whose "ok" goes with the exit code."""
    assert r.out.endswith("\n") and r.out.count("\n") == 1, r
    j = r.json()
    assert isinstance(j, dict) and j["ok"] is (r.code == 0), r
    if r.code != 0 and "valid" not in j:
        assert set(j) >= {"status", "error"} and j["status"].startswith("E_"), r
        # the line on stderr says the same
        assert j["error"] in r.err, r
    return j


def files(cuzk, circuit="multiplier2"):
    names = ("circuit.zkey", "witness.wtns", "circuit.r1cs", "verification_key.json", "public.json", "proof.json")
    return [cuzk.circom("bn254", circuit, n) for n in names]


def test_results(cuzk):
    """Each command once; members are compared with what the files say."""
    zkey, wtns, r1cs, vkey, public, proof = files(cuzk)
    values = wtns_values(read(wtns))

    j = one_object(cuzk("prove", zkey, wtns, "p.json", "pub.json", "--json"))
    assert j["proof"] == "p.json" and j["public"] == "pub.json" and j["curve"] == "bn128", j
    assert (j["constraints"], j["variables"], j["public_values"], j["lg_domain"]) == (1, len(values), 1, 2), j
    assert j["self_check"] is True and j["witness_bits"] == sum(v < 2 for v in values), j
    assert json.loads(read(cuzk.path("pub.json"))) == [str(values[1])], j
    assert one_object(cuzk("prove", zkey, wtns, "p.json", "pub.json", "--json", "--no-self-check"))["self_check"] is False

    j = one_object(cuzk("verify", vkey, public, proof, "--json"))
    assert j["valid"] is True, j

    j = one_object(cuzk("setup", r1cs, "new.zkey", "--vkey", "new.json", "--json"))
    assert os.path.exists(cuzk.path("new.zkey")) and os.path.exists(cuzk.path("new.json")), j

    for path in (zkey, wtns, r1cs, vkey, public, proof):
        one_object(cuzk("inspect", path, "--json"))
        one_object(cuzk("check", path, "--json"))
    one_object(cuzk("check", r1cs, wtns, "--json"))
    one_object(cuzk("check", zkey, "--r1cs", r1cs, "--json"))

    j = one_object(cuzk("bench", zkey, wtns, "--runs", "3", "--json"))
    assert (j["runs"], j["constraints"], j["key"]) == (3, 1, zkey), j
    stages = {s["stage"]: s for s in j["stages"]}
    assert "total" in stages and "self-check" in stages, j
    assert all(0 <= s["min"] <= s["median"] <= s["max"] for s in stages.values()), j
    assert stages["total"]["max"] >= stages["self-check"]["max"], j

    j = one_object(cuzk("version", "--json"))
    text = cuzk.ok("version").out
    assert j["version"] in text and "cpu path %s" % j["cpu"] in text and "threads %d" % j["threads"] in text, (j, text)
    assert one_object(cuzk("--version", "--json", "-t", "3"))["threads"] == 3

    one_object(cuzk("devices", "--json"))
    j = one_object(cuzk("params", "list", "--folder", cuzk.scratch, "--json"))
    assert j["folder"] == cuzk.scratch and all(f["state"] for f in j["files"]), j
    one_object(cuzk("gen-vanilla", "winning", "v.json", "--sector-size", "2KiB", "--json"))


def test_exports(cuzk):
    zkey, _, _, vkey, public, proof = files(cuzk)
    plain = cuzk.ok("export", "vk", zkey).out
    j = one_object(cuzk("export", "vk", zkey, "--json"))
    assert j["verification_key"] == json.loads(plain), j
    assert {k: v for k, v in json.loads(read(vkey)).items()} == j["verification_key"], j
    j = one_object(cuzk("export", "vk", zkey, "vk.json", "--json"))
    assert j["verification_key"] == "vk.json" and read(cuzk.path("vk.json")).decode() == plain, j
    j = one_object(cuzk("export", "calldata", public, proof, "--json"))
    assert j["calldata"] + "\n" == cuzk.ok("export", "calldata", public, proof).out, j
    # bytes are no JSON: to a file only
    key = cuzk.circom("bls12381", "multiplier2", "circuit.zkey")
    r = cuzk("export", "vk", key, "--format", "bytes", "--json")
    assert r.code == 2 and "give a FILE" in one_object(r)["error"], r
    one_object(cuzk("export", "vk", key, "k.vk", "--format", "bytes", "--json"))
    assert read(cuzk.path("k.vk")) == cuzk.ok("export", "vk", key, "--format", "bytes", text=False).out


def test_help(cuzk):
    """The help as an object has every command and option of the help as text."""
    text = cuzk.ok("help").out
    j = one_object(cuzk("help", "--json"))
    names = [c["command"] for c in j["commands"]]
    assert len(set(names)) == len(names) and {"prove", "verify porep", "version", "help"} <= set(names), names
    assert one_object(cuzk("--help", "--json")) == j
    for c in j["commands"]:
        assert "  %s %s" % (c["command"], c["arguments"]) in text and c["summary"] in text, c
    for o in j["common_options"]:
        assert o["name"] in text and o["help"] in text, o
    for name in ("prove", "params setup", "bench"):
        text = cuzk.ok("help", *name.split()).out
        one = one_object(cuzk("help", *name.split(), "--json"))
        assert one["command"] == name and one["summary"] in text, one
        for o in one["options"] + one["common_options"]:
            left = ", ".join(filter(None, [o.get("alias"), o["name"]])) + (" " + o["value"] if "value" in o else "")
            assert "  %-24s %s\n" % (left, o["help"]) in text, (o, text)
        assert one == one_object(cuzk(*name.split(), "--help", "--json"))


def test_usage_errors(cuzk):
    for command in ([], ["porve"], ["prove"], ["prove", "a", "b", "--threads", "0"], ["verify", "a"], ["setup"], ["inspect"],
                    ["check"], ["export"], ["export", "key", "a"], ["bench", "a"], ["gen-vanilla", "porep"], ["params", "lst"],
                    ["params", "setup", "porep"], ["version", "x"], ["help", "porve"], ["devices", "x"], ["verify", "porep"],
                    ["prove", "window"]):
        r = cuzk(*command, "--json")
        assert r.code == 2, r
        assert one_object(r)["status"] == STATUS_OF_USAGE, r
    # no double blank where a command takes no argument
    cuzk.fails(2, 'too many arguments, expected: cuzk version (see "cuzk help version")', "version", "x")


def test_failures(cuzk):
    zkey, wtns, r1cs, vkey, public, proof = files(cuzk)
    missing = cuzk.path("none")
    broken = cuzk.write("broken.json", read(proof)[:100])
    for command in (["prove", missing, wtns], ["prove", zkey, missing], ["verify", missing, public, proof],
                    ["verify", vkey, missing, proof], ["verify", vkey, public, missing], ["verify", vkey, public, broken],
                    ["setup", missing, "k.zkey"], ["inspect", missing], ["check", missing], ["check", r1cs, missing],
                    ["export", "vk", missing], ["export", "calldata", public, broken], ["bench", missing, wtns],
                    ["bench", zkey, missing], ["gen-vanilla", "porep", "none/v.json", "--sector-size", "2KiB"],
                    ["params", "list", "--manifest", missing], ["verify", "winning", missing, "--registered-proof", "0",
                     "--randomness", "00" * 32, "--sector-number", "1", "--comm-r", "00" * 32],
                    ["prove", "porep", missing]):
        r = cuzk(*command, "--json")
        assert r.code == 1, r
        one_object(r)
    assert cuzk.names() == ["broken.json"]


def test_unsatisfied(cuzk):
    """A witness that breaks a constraint, and a proof of another statement."""
    zkey, wtns, r1cs, vkey, public, proof = files(cuzk)
    values = wtns_values(read(wtns))
    values[1] = (values[1] + 1) % R["bn254"]
    bad = cuzk.write("bad.wtns", make_wtns(R["bn254"], values))
    r = cuzk("prove", zkey, bad, "p.json", "pub.json", "--r1cs", r1cs, "--json")
    j = one_object(r)
    assert r.code == 1 and j["status"] == "E_UNSATISFIED" and "constraint 0" in j["error"], r
    r = cuzk("check", r1cs, bad, "--json")
    assert r.code == 1, r
    one_object(r)
    other = cuzk.write_json("other.json", ["34"])
    r = cuzk("verify", vkey, other, proof, "--json")
    j = one_object(r)
    assert r.code == 1 and j["valid"] is False, r


def test_params_check(cuzk):
    """Files that are missing and damaged: the object says what is wrong with the first."""
    manifest = cuzk.write_json("m.json", {
        "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
        "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0.vk":
            {"cid": "Qm", "digest": "00" * 16, "sector_size": 2048}})
    listed = one_object(cuzk("params", "list", "--manifest", manifest, "--folder", cuzk.scratch, "--json"))["files"]
    assert len(listed) == 1, listed
    r = cuzk("params", "check", "--manifest", manifest, "--folder", cuzk.scratch, "--json")
    j = one_object(r)
    assert r.code == 1 and j["files"][0]["state"] == "missing", r
    cuzk.write(listed[0]["name"], b"x" * 100)
    r = cuzk("params", "check", "--manifest", manifest, "--folder", cuzk.scratch, "--json")
    j = one_object(r)
    assert r.code == 1 and j["files"][0]["state"] == "damaged" and listed[0]["name"] in j["error"], r


def test_names_of_any_bytes(cuzk):
    """Quotes, line breaks, control characters and bytes that are no UTF-8 in a file's name."""
    for name in (b'a"b', b"a\\b", b"a\nb", b"a\tb", b"a\x01b", b"a\xffb", b"\xed\xa0\x80", "ä€😀".encode()):
        r = cuzk("export", "vk", name.decode("utf-8", "surrogateescape"), "--json", text=False)
        assert r.code == 1, r
        text = r.out.decode("utf-8")  # strictly
        j = json.loads(text)
        assert j["ok"] is False and j["status"] == "E_FILE", j
        expected = name.replace(b"\n", b" ").replace(b"\t", b" ").replace(b"\x01", b" ").decode("utf-8", "replace")
        # a byte that is no UTF-8 becomes one U+FFFD each
        assert expected.strip("\ufffd") in j["error"], (name, j)


harness.main(globals())
