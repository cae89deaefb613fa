# SPDX-License-Identifier: MIT OR Apache-2.0
"""Vanilla proofs that cuzk gen-vanilla makes, against filecoin_reference.py: with other seeds in every run, of all kinds
and sizes; and the same proofs spoiled, which both must refuse."""
import base64, copy, hashlib, json, os, random, struct
import filecoin_reference as reference
import harness
from filecoin_reference import Wrong, check_porep, check_post, check_update
from harness import read

SIZES = {"2KiB": 1 << 6, "4KiB": 1 << 7, "16KiB": 1 << 9, "8MiB": 1 << 18, "512MiB": 1 << 24, "32GiB": 1 << 30, "64GiB": 1 << 31}


def make(cuzk, kind, size, *more):
    seed = str(random.randrange(1 << 32))
    cuzk.ok("gen-vanilla", kind, "v.json", "--sector-size", size, "--request", "r.json", "--seed", seed, *more)
    return json.loads(read(cuzk.path("v.json"))), json.loads(read(cuzk.path("r.json")))


def refused(check, *args, **kw):
    try:
        check(*args, **kw)
    except Wrong:
        return
    raise AssertionError("a spoiled proof passes")


def digests(fields, *names):
    return [bytes.fromhex(fields[n]) for n in names]


def test_poseidon_vectors(cuzk):
    """The reference itself: published digests of 0, 1, 2, ..."""
    for arity, expected in ((2, "ffe7029a363c202e9da6059d33a9fba661e1ef02d90f9e736ba5765ed7086539"),
                            (4, "5d076266ff149801ec2713bf05466bfb99932279653cdb008a84e5a9104ba558"),
                            (8, "e6a5386df534992ad9aec49c9d2e684b777067114200011255dea5a31d619423")):
        assert reference.le(reference.poseidon(range(arity))).hex() == expected, arity


def test_graph_vectors(cuzk):
    """And its graphs: the published digests of all parents of 2KiB sectors."""
    for registered, old, expected in ((0, True, "3da49221e2ed55371b86d0bf3d6526fcf128af61bed904f966428db1b531750d"),
                                      (5, False, "840057702eea7652cf97e04306c30fe57174714d90de156a25eddd6075c25b97")):
        pid, all_parents = reference.porep_id(registered), b""
        for node in range(64):
            parents = reference.drg_parents(pid, node, old) + reference.expander_parents(pid, node, 64, old)
            all_parents += struct.pack("<14I", *parents)
        assert hashlib.sha256(all_parents).hexdigest() == expected, registered


def test_porep(cuzk):
    for size, number in (("2KiB", 5), ("16KiB", 0), ("512MiB", 7)):
        miner, sector = random.randrange(1, 1 << 40), random.randrange(1 << 40)
        c1, fields = make(cuzk, "porep", size, "--registered-proof", str(number), "--miner-id", str(miner), "--sector-number",
                          str(sector))
        assert (fields["registered_proof"], fields["miner_id"], fields["sector_number"]) == (number, miner, sector), fields
        for name in ("ticket", "seed", "comm_d", "comm_r"):
            assert bytes(c1[name]).hex() == fields[name], name
        check_porep(c1, miner, sector, number, SIZES[size], 2)
        if size == "2KiB":
            spoiled_porep(cuzk, c1, miner, sector, number)


def spoiled_porep(cuzk, c1, miner, sector, number):
    """One byte of a digest, an index, a row: the reference and cuzk refuse."""
    def digests_in(value, where=()):
        if isinstance(value, list) and len(value) == 32 and all(isinstance(v, int) for v in value):
            yield where
        elif isinstance(value, (list, dict)):
            for k in value if isinstance(value, dict) else range(len(value)):
                yield from digests_in(value[k], where + (k,))

    # what is hashed by nobody: the lists that the circuit computes again
    ignored = lambda where: "labeling_proofs" in where or "encoding_proof" in where
    places = [w for w in digests_in(c1) if not ignored(w)]
    # an index that its place does not have: 8 children have no number 8, or 9
    bad = copy.deepcopy(c1)
    step = next(iter(bad["vanilla_proofs"].values()))[0][0]["comm_r_last_proof"]["data"]["Single"]["path"]["path"][0]
    step["index"] += 8
    refused(check_porep, bad, miner, sector, number, 64, 2)
    r = cuzk("prove", "porep", cuzk.write_json("bad.json", bad), "--params", "none")
    assert r.code == 1 and "number above 7" in r.err, r
    for where in random.sample(places, 4):
        bad = copy.deepcopy(c1)
        at = bad
        for k in where:
            at = at[k]
        at[random.randrange(31)] ^= 1 << random.randrange(8)
        refused(check_porep, bad, miner, sector, number, 64, 2)
        r = cuzk("prove", "porep", cuzk.write_json("bad.json", bad), "--miner-id", str(miner), "--sector-number", str(sector),
                 "--params", "none")
        assert r.code == 1 and "none" not in r.err, (where, r)


def test_window(cuzk):
    for size, numbers in (("2KiB", (5, 10)), ("8MiB", (6, 11)), ("512MiB", (12,)), ("32GiB", (8, 13)), ("64GiB", (14,))):
        for number in numbers:
            slots = reference.WINDOW_SLOTS.get(SIZES[size], 2)
            partition = random.choice([0, 1, 7])
            array, fields = make(cuzk, "window", size, "--registered-proof", str(number), "--sectors", "2", "--partition",
                                 str(partition))
            assert fields["partition_index"] == partition and len(array) == len(fields["sectors"]) == 2, fields
            randomness, = digests(fields, "randomness")
            for i, (text, sector) in enumerate(zip(array, fields["sectors"])):
                # before the variant V1_1 a challenge's number depends on the place in the whole proof
                first = 0 if number >= 10 else (partition * slots + i) * 10
                check = lambda record: check_post(record, sector["sector_number"], bytes.fromhex(sector["comm_r"]), randomness,
                                                  SIZES[size], range(first, first + 10), sample=random.sample(range(10), 2))
                check(base64.b64decode(text))
            spoiled_post(cuzk, "window", array, check, base64.b64decode(array[-1]))


def test_winning(cuzk):
    for size, number in (("2KiB", 0), ("8MiB", 1), ("512MiB", 2), ("32GiB", 3), ("64GiB", 4)):
        array, fields = make(cuzk, "winning", size)
        assert fields["registered_proof"] == number and len(array) == 1, fields
        randomness, = digests(fields, "randomness")
        sector, = fields["sectors"]
        check = lambda record: check_post(record, sector["sector_number"], bytes.fromhex(sector["comm_r"]), randomness,
                                          SIZES[size], range(66), sample=random.sample(range(66), 2))
        check(base64.b64decode(array[0]))
        spoiled_post(cuzk, "winning", array, check, base64.b64decode(array[0]))


def spoiled_post(cuzk, kind, array, check, record):
    """The ends, the commitments and the numbers of the last record."""
    for at in (0, 8 + random.randrange(31), 40, 48, len(record) - 64 + random.randrange(31), len(record) - 32 + random.randrange(31)):
        bad = bytearray(record)
        bad[at] ^= 1 << random.randrange(5)
        refused(check, bytes(bad))
        texts = array[:-1] + [base64.b64encode(bad).decode()]
        r = cuzk("prove", kind, cuzk.write_json("bad.json", texts), "--request", "r.json", "--params", "none")
        assert r.code == 1 and "none" not in r.err, (at, r)
    refused(check, record[:-1])
    refused(check, record + b"\0")


def test_update(cuzk):
    for size, sample in (("2KiB", None), ("4KiB", range(3)), ("8MiB", range(1))):
        array, fields = make(cuzk, "snap", size)
        records = [base64.b64decode(text) for text in array]
        commitments = digests(fields, "comm_r_old", "comm_r_new", "comm_d_new")
        check_update(records, *commitments, SIZES[size], sample)
        if size == "2KiB":
            for at in (0, 32, 40 + random.randrange(31), len(records[0]) - 40):
                bad = bytearray(records[0])
                bad[at] ^= 1
                refused(check_update, [bytes(bad)], *commitments, SIZES[size])
                text = base64.b64encode(bad).decode()
                r = cuzk("prove", "snap", cuzk.write_json("bad.json", [text]), "--request", "r.json", "--params", "none")
                assert r.code == 1 and "none" not in r.err, (at, r)


harness.main(globals())
