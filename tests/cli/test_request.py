# SPDX-License-Identifier: MIT OR Apache-2.0
"""Requests of Filecoin's proofs: what cannot be asked for is a usage error, by option and in a file alike; what a
vanilla proof or a proof holds is content."""
import json
import harness
from harness import read

KINDS = {  # kind as gen-vanilla calls it -> its digests
    "porep": ["ticket", "seed", "comm_d", "comm_r"],
    "snap": ["comm_r_old", "comm_r_new", "comm_d_new"],
    "window": ["randomness"],
    "winning": ["randomness"],
}
NUMBERS = ["registered_proof", "sector_size", "miner_id", "sector_number"]


def make(cuzk, kind):
    cuzk.ok("gen-vanilla", kind, "v.json", "--sector-size", "2KiB", "--request", "r.json")
    fields = json.loads(read(cuzk.path("r.json")))
    # one sector is given as options can give it
    for sector in fields.pop("sectors", []):
        fields.update(sector)
    return fields


def option(name):
    return "--" + name.replace("_", "-")


def options(fields):
    return [word for name, value in fields.items() for word in (option(name), str(value))]


def both_ways(cuzk, command, fields, texts):
    """The same wrong fields as options and as a file: usage errors that say the same."""
    cuzk.fails(2, texts, *command, *options(fields))
    cuzk.fails(2, texts, *command, "--request", cuzk.write_json("x.json", fields))
    j = cuzk(*command, "--request", "x.json", "--json").json()
    assert j["ok"] is False and j["status"] == "E_ARGUMENT", j


def test_wrong_fields(cuzk):
    for kind, digests in KINDS.items():
        fields = make(cuzk, kind)
        proof = cuzk.write("proof.bin", bytes(192))
        for command in (["prove", kind, "v.json", "--out", "p.bin"], ["verify", kind, proof]):
            for name in digests:
                for bad in ("", "00", "0" * 63, "0" * 65, "0" * 63 + "g", "0x" + "0" * 62):
                    both_ways(cuzk, command, dict(fields, **{name: bad}),
                              '%s: "%s" is not 64 hexadecimal digits (32 bytes)' % (name, bad))
            for name in ("registered_proof", "sector_number"):
                for bad in ("", "-1", "0x10", "1.5", "18446744073709551616", "7 "):
                    both_ways(cuzk, command, dict(fields, **{name: bad}),
                              '%s: "%s" is not a decimal number below 2^64' % (name, bad))
            both_ways(cuzk, command, dict(fields, sector_size="3KiB"), '"3KiB" is not a sector size')
            both_ways(cuzk, command, dict(fields, registered_proof="99"), "99")
        assert "p.bin" not in cuzk.names()


def test_missing_fields(cuzk):
    """A proof cannot be verified without any of them; a vanilla proof of a PoRep holds them all."""
    for kind, digests in KINDS.items():
        fields = make(cuzk, kind)
        proof = cuzk.write("proof.bin", bytes(192))
        needed = digests + ["registered_proof"] + (["miner_id", "sector_number"] if kind == "porep" else [])
        for name in needed:
            less = {k: v for k, v in fields.items() if k != name}
            both_ways(cuzk, ["verify", kind, proof], less, name)


def test_twice(cuzk):
    for kind in KINDS:
        fields = make(cuzk, kind)
        path = cuzk.write_json("all.json", fields)
        for name, value in fields.items():
            cuzk.fails(2, "%s is given twice" % name, "verify", kind, cuzk.write("proof.bin", bytes(192)), "--request", path,
                       option(name), value)
        name, value = next(iter(fields.items()))
        text = '{"%s": "%s", "%s": "%s"}' % (name, value, name, value)
        cuzk.fails(2, ['twice.json": ', "%s is given twice" % name], "verify", kind, "proof.bin", "--request",
                   cuzk.write("twice.json", text))


def test_fields_of_other_kinds(cuzk):
    everything = {f for digests in KINDS.values() for f in digests} | {"partition_index"}
    for kind, digests in KINDS.items():
        own = set(digests) | ({"comm_r"} if kind in ("window", "winning") else set())
        own |= {"partition_index"} if kind == "window" else set()
        for name in everything - own:
            cuzk.fails(2, 'has no field "%s"' % name, "verify", kind, cuzk.write("proof.bin", bytes(192)), "--request",
                       cuzk.write_json("x.json", {name: "00"}))
            cuzk.fails(2, '"%s": unknown option' % option(name), "verify", kind, "proof.bin", option(name), "00")


def test_files_that_are_no_request(cuzk):
    proof = cuzk.write("proof.bin", bytes(192))
    for text, words in (("", "x.json"), ("{", "x.json"), ("[]", "expected an object, found"), ("{}x", "x.json"), ("nul", "x.json"),
                        ('{"miner_id": true}', "miner_id: expected a short string or a number"),
                        ('{"miner_id": {}}', "miner_id: expected a short string or a number"),
                        ('{"miner_id": "%s"}' % ("1" * 200), "miner_id: expected a short string"),
                        ('{"%s": 1}' % ("a" * 300), "has no field"),
                        ('{"sectors": {}}', "sectors: expected an array"), ('{"sectors": [1]}', "sectors: element 0: expected an object"),
                        ('{"sectors": [{"sector_number": 1}]}', "sectors: element 0: comm_r is missing"),
                        ('{"sectors": [{"comm_r": "%s"}]}' % ("0" * 64), "sectors: element 0: sector_number is missing"),
                        ('{"sectors": [{"comm_r": "0"}]}', "sectors: element 0: comm_r: "),
                        ('{"sectors": [{"sector": 1}]}', '"sector" is not a member of a sector'),
                        ('{"sectors": [{"sector_number": 1, "sector_number": 1}]}', '"sector_number" is given twice'),
                        ('{"sectors": [], "sectors": []}', '"sectors" is given twice')):
        cuzk.fails(2, words, "verify", "window", proof, "--request", cuzk.write("x.json", text))
    # every beginning of a good request
    make(cuzk, "window")
    whole = read(cuzk.path("r.json"))
    for n in range(0, len(whole.rstrip()), 7):
        cuzk.fails(2, 'cut.json": ', "verify", "window", proof, "--request", cuzk.write("cut.json", whole[:n]))
    cuzk.fails(1, "No such file", "verify", "window", proof, "--request", "none.json")


def test_content(cuzk):
    """What vanilla proofs and proofs hold: 1."""
    fields = make(cuzk, "winning")
    one = json.loads(read(cuzk.path("v.json")))
    assert len(one) == 1, one
    given = options(fields)
    for name, value, text in (("none.json", [], ["none.json", "an array of no proof"]), ("two.json", one + one, "about one sector"),
                              ("half.json", [one[0][:400]], "half.json"), ("text.json", ["%%%"], "text.json")):
        if name == "half.json":
            text = "vanilla"  # the length of its content is found behind the file
        cuzk.fails(1, text, "prove", "winning", cuzk.write_json(name, value), "--out", "p.bin", *given)
    other = dict(fields, randomness="11" * 32)
    r = cuzk("prove", "winning", "v.json", "--out", "p.bin", *options(other))
    assert r.code == 1, r
    assert "p.bin" not in cuzk.names()


harness.main(globals())
