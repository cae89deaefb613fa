# SPDX-License-Identifier: MIT OR Apache-2.0
"""Keys and witnesses that are not what they should be: refused at once, by name, in little memory."""
import json, os, random, struct
import harness
from harness import R, Sections, Skip, read, wtns_values, zkey_counts_at


def key_and_witness(cuzk, curve="bn254", circuit="multiplier1000"):
    return cuzk.circom(curve, circuit, "circuit.zkey"), cuzk.circom(curve, circuit, "witness.wtns")


def refused(cuzk, texts, *args, limit=1.0, code=1):
    before = cuzk.names()
    r = cuzk.fails(code, texts, *args)
    assert r.cpu_seconds < limit * harness.SLOW, r
    if not harness.SANITIZED:
        assert r.peak_bytes < 50 << 20, (r, r.peak_bytes)
    assert cuzk.names() == before, cuzk.names()
    return r


def test_public_values_are_checked(cuzk):
    for curve in ("bn254", "bls12381"):
        r = cuzk.ok("check", cuzk.circom(curve, "manypublic", "public.json"))
        assert "1002" in r.out and "every value" in r.out, r
    cuzk.ok("check", cuzk.write("p.json", "[]"))
    largest = harness.R["bls12381"] - 1
    cuzk.ok("check", cuzk.write_json("p.json", [str(largest)]))
    for value, why in (("abc", "not a number"), ("-1", "not a number"), (1.5, "not a number"), (None, "found null"),
                       ("A" * 60000, "not a number"), (str(largest + 1), "not below the field order")):
        path = cuzk.write_json("p.json", ["1", value])
        cuzk.ok("inspect", path)
        cuzk.fails(1, ['p.json": ', "public signal 1", why], "check", path)


def test_swapped_and_wrong_files(cuzk):
    """BC-013."""
    zkey, wtns = key_and_witness(cuzk)
    r1cs = cuzk.circom("bn254", "multiplier1000", "circuit.r1cs")
    vkey = cuzk.circom("bn254", "multiplier1000", "verification_key.json")
    empty = cuzk.write("empty", b"")
    refused(cuzk, [wtns, "wtns", "zkey"], "prove", wtns, zkey)
    refused(cuzk, [r1cs, "r1cs", "zkey"], "prove", r1cs, wtns)
    refused(cuzk, [vkey, "verification_key.json", "zkey"], "prove", vkey, wtns)
    refused(cuzk, [empty, "empty"], "prove", empty, wtns)
    refused(cuzk, [empty, "empty"], "prove", zkey, empty)
    refused(cuzk, [cuzk.scratch, "it is a directory"], "prove", cuzk.scratch, wtns)
    refused(cuzk, [cuzk.scratch, "it is a directory"], "prove", zkey, cuzk.scratch)
    refused(cuzk, [zkey, "zkey", "wtns"], "prove", zkey, zkey)
    refused(cuzk, [r1cs, "r1cs", "wtns"], "prove", zkey, r1cs)
    refused(cuzk, ["none.zkey", "No such file or directory"], "prove", "none.zkey", wtns)
    refused(cuzk, ["none.wtns", "No such file or directory"], "prove", zkey, "none.wtns")
    refused(cuzk, ["/dev/null", "it is not a file"], "prove", "/dev/null", wtns)
    refused(cuzk, [wtns, "wtns", "r1cs"], "setup", wtns, "k.zkey")
    refused(cuzk, [r1cs, "r1cs"], "verify", r1cs, vkey, vkey)
    html = cuzk.write("page.zkey", "<!DOCTYPE html><html><body>404</body></html>")
    refused(cuzk, "HTML", "prove", html, wtns)


def test_no_key_is_ever_made(cuzk):
    """BC-042: a missing key is an error, not a reason to make one."""
    _, wtns = key_and_witness(cuzk)
    folder = cuzk.path("cache")
    os.mkdir(folder)
    refused(cuzk, [folder + "/k.zkey", "No such file"], "prove", folder + "/k.zkey", wtns)
    assert os.listdir(folder) == []


def test_truncated_zkey(cuzk):
    """BC-004."""
    zkey, wtns = key_and_witness(cuzk)
    data = read(zkey)
    s = Sections(data)
    # section 10 is the last of snarkjs' files
    assert s.list[-1][0] == 10
    cut_in_10 = s.begin_of(10) + 30
    before_10 = s.begin_of(10) - 12
    cut_in_9 = s.begin_of(9) + 1000
    for cut in (cut_in_10, before_10, cut_in_9):
        path = cuzk.write("k.zkey", data[:cut])
        refused(cuzk, ["section", str(cut)], "prove", path, wtns)
    # without section 10 at all the key proves
    s.remove(10)
    cuzk.write("k.zkey", s.bytes())
    cuzk.prove_and_verify("k.zkey", wtns, cuzk.circom("bn254", "multiplier1000", "verification_key.json"))
    assert "contributions" in cuzk.ok("check", "k.zkey").out


def test_truncated_bellperson_keys(cuzk):
    """Files without a magic: what they look like, and where they end short."""
    params, vk, r1cs, wtns = (cuzk.fixture("groth/dense/" + n) for n in (
        "circuit.params", "circuit.vk", "circuit.r1cs", "witness.wtns"))
    data = read(params)
    n_ic = struct.unpack_from(">I", data, 864)[0]
    end_of_ic = 868 + 96 * n_ic
    n_h = struct.unpack_from(">I", data, end_of_ic)[0]
    cuts = [(96, "head of the verifying key alone has 868 bytes"), (867, "has 868 bytes, file size is 867"),
            (868, "ic) should end at %d, file size is 868" % end_of_ic), (end_of_ic - 1, "should end at %d" % end_of_ic),
            (end_of_ic + 3, "the length of array h should stand at %d" % end_of_ic),
            (end_of_ic + 4, "array h (%d points) should end at %d" % (n_h, end_of_ic + 4 + 96 * n_h)),
            (len(data) - 1, "array b_g2"), (len(data) - 192, "should end at %d, file size is" % len(data))]
    for cut, text in cuts:
        path = cuzk.write("k.params", data[:cut])
        for args in (["inspect", path], ["check", path], ["prove", path, wtns, "--r1cs", r1cs], ["verify", path, r1cs, r1cs],
                     ["export", "vk", path]):
            refused(cuzk, [path, "truncated", text], *args)
        r = refused(cuzk, [path, "bellperson key (.params, .vk) of the wrong size", "r1cs"], "setup", path, "k.zkey")
    for cut, text in ((700, "has 868 bytes"), (len(read(vk)) - 1, "should end at %d" % len(read(vk)))):
        path = cuzk.write("k.vk", read(vk)[:cut])
        for args in (["inspect", path], ["verify", path, r1cs, r1cs]):
            refused(cuzk, [path, "bellperson key (.params or .vk) truncated", text], *args)
    refused(cuzk, "unknown kind of file", "inspect", cuzk.write("k.params", data[:95]))


def test_every_truncation_of_a_small_key(cuzk):
    zkey, wtns = key_and_witness(cuzk, circuit="multiplier2")
    data = read(zkey)
    steps = 150 if not harness.SANITIZED else 25
    for cut in sorted(random.sample(range(len(data)), steps)):
        refused(cuzk, "k.zkey", "prove", cuzk.write("k.zkey", data[:cut]), wtns)


def test_counts_that_disagree(cuzk):
    """BC-005: each section's length is checked against the header when the key is opened."""
    zkey, wtns = key_and_witness(cuzk)
    data = read(zkey)
    header = Sections(data).get(2)
    at = zkey_counts_at(header)
    for field in range(3):  # nVars, nPublic, domainSize
        for change in (-1, 1):
            s = Sections(data)
            changed = bytearray(header)
            value = struct.unpack_from("<I", header, at + 4 * field)[0]
            struct.pack_into("<I", changed, at + 4 * field, value + change)
            s.set(2, bytes(changed))
            refused(cuzk, "section", "prove", cuzk.write("k.zkey", s.bytes()), wtns)
    s = Sections(data)
    s.set(4, s.get(4)[:-44])
    n = struct.unpack_from("<I", s.get(4))[0]
    refused(cuzk, ["section 4", str(n)], "prove", cuzk.write("k.zkey", s.bytes()), wtns)
    for section in (3, 5, 6, 7, 8, 9):
        s = Sections(data)
        s.set(section, s.get(section)[:-64])
        refused(cuzk, "section %d" % section, "prove", cuzk.write("k.zkey", s.bytes()), wtns)


def test_huge_counts(cuzk):
    """Counts near 2^32 and lengths near 2^64 allocate nothing."""
    zkey, wtns = key_and_witness(cuzk, circuit="multiplier2")
    data = read(zkey)
    header = Sections(data).get(2)
    at = zkey_counts_at(header)
    for field in range(3):
        for value in (0, 0x7fffffff, 0x80000000, 0xffffffff):
            s = Sections(data)
            changed = bytearray(header)
            struct.pack_into("<I", changed, at + 4 * field, value)
            s.set(2, bytes(changed))
            refused(cuzk, "k.zkey", "prove", cuzk.write("k.zkey", s.bytes()), wtns)
    for size in (2**64 - 1, 2**64 - 12, 2**63, 2**32):
        changed = bytearray(data)
        struct.pack_into("<Q", changed, 16, size)
        refused(cuzk, "k.zkey", "prove", cuzk.write("k.zkey", changed), wtns)
    changed = bytearray(data)
    struct.pack_into("<I", changed, 8, 0xffffffff)  # number of sections
    refused(cuzk, "k.zkey", "prove", cuzk.write("k.zkey", changed), wtns)
    w = bytearray(read(wtns))
    struct.pack_into("<I", w, 12 + 12 + 36, 0xffffffff)
    refused(cuzk, "w.wtns", "prove", zkey, cuzk.write("w.wtns", w))


def test_domain_beyond_the_field(cuzk):
    """BC-049."""
    zkey, wtns = key_and_witness(cuzk, circuit="multiplier2")
    s = Sections(read(zkey))
    header = bytearray(s.get(2))
    for lg in (28, 29, 31):
        struct.pack_into("<I", header, zkey_counts_at(header) + 8, 1 << lg)
        s.set(2, bytes(header))
        for command in ("prove", "check", "inspect"):
            refused(cuzk, "domain size 2^%d, keys over bn128 are supported up to 2^27" % lg, command,
                    cuzk.write("k.zkey", s.bytes()), *([wtns] if command == "prove" else []))


def test_other_proof_systems(cuzk):
    """BC-014."""
    zkey, wtns = key_and_witness(cuzk, circuit="multiplier2")
    for protocol, name in ((2, "PLONK"), (10, "FFLONK"), (99, "99")):
        s = Sections(read(zkey))
        s.set(1, struct.pack("<I", protocol))
        path = cuzk.write("k.zkey", s.bytes())
        refused(cuzk, name, "prove", path, wtns)
        refused(cuzk, name, "inspect", path)


def test_custom_gates(cuzk):
    """BC-018."""
    s = Sections(read(cuzk.circom("bn254", "multiplier2", "circuit.r1cs")))
    s.list.append((4, struct.pack("<I", 1) + b"CMul\0" + struct.pack("<I", 0)))
    s.list.append((5, struct.pack("<I", 1) + struct.pack("<II", 0, 1) + struct.pack("<Q", 1)))
    path = cuzk.write("c.r1cs", s.bytes())
    assert "custom gates" in cuzk.ok("inspect", path).out
    refused(cuzk, "custom gates are not supported", "setup", path, "k.zkey")


def test_raw_witness(cuzk):
    """BC-023."""
    zkey, wtns = key_and_witness(cuzk)
    values = wtns_values(read(wtns))
    raw = b"".join(v.to_bytes(32, "little") for v in values)
    refused(cuzk, "no wtns header; this looks like a raw witness dump of %d values" % len(values), "prove",
            zkey, cuzk.write("witness.wtns", raw))


def test_damaged_points(cuzk):
    """One flipped bit in a point: the self-check refuses the proof, check names the place."""
    zkey, wtns = key_and_witness(cuzk)
    s = Sections(read(zkey))
    for section in (5, 6, 7, 8, 9):
        changed = Sections(s.bytes())
        body = bytearray(changed.get(section))
        step = 128 if section == 7 else 64
        index = len(body) // step // 2
        body[index * step + 3] ^= 1
        changed.set(section, bytes(body))
        path = cuzk.write("k.zkey", changed.bytes())
        # off the curve: told without the circuit
        cuzk.fails(1, 'key "%s": the proof has a point that is not on the curve' % path, "prove", path, wtns)
        r = cuzk.fails(1, ["section %d" % section, str(index)], "check", path)
    assert cuzk.names() == ["k.zkey"]


def test_unreduced_coordinates(cuzk):
    """A coordinate that is not below p, in every place of a key that holds points: refused by every
    program that would calculate with it, with file, section and index."""
    P = {"bn254": 21888242871839275222246405745257275088696311157297823662689037894645226208583,
         "bls12381": int("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab", 16)}
    for curve, p in P.items():
        zkey, wtns = key_and_witness(cuzk, curve)
        public, proof = (cuzk.circom(curve, "multiplier1000", n) for n in ("public.json", "proof.json"))
        n8 = {"bn254": 32, "bls12381": 48}[curve]
        s = Sections(read(zkey))
        for section in (3, 5, 6, 7, 8, 9):
            changed = Sections(s.bytes())
            body = bytearray(changed.get(section))
            each = 4 * n8 if section == 7 else 2 * n8
            index = len(body) // each - 1
            at = index * each + random.randrange(each // n8) * n8
            body[at:at + n8] = random.choice((p, p + 1, 2**(8 * n8) - 1)).to_bytes(n8, "little")
            changed.set(section, bytes(body))
            path = cuzk.write("k.zkey", changed.bytes())
            place = [path, "section %d" % section, "point %d: coordinate is not below" % index]
            refused(cuzk, place, "prove", path, wtns)
            refused(cuzk, place[1:], "bench", path, wtns)
            cuzk.fails(1, place, "check", path)
            r = harness.run(harness.EMULATOR + [os.path.join(cuzk.build, "prover"), path, wtns, "p.json", "pub.json"],
                            cwd=cuzk.scratch)
            assert r.code == 1 and all(t in r.err for t in place), r
            cuzk("inspect", path)
            if section == 3:
                refused(cuzk, [path, "IC", "coordinate is not below"], "verify", path, public, proof)
                refused(cuzk, [path, "IC", "coordinate is not below"], "export", "vk", path)
        header = bytearray(s.get(2))
        for point in range(3):  # alpha1, beta1 and the first coordinate of beta2
            changed = bytearray(header)
            at = zkey_counts_at(header) + 12 + point * 2 * n8
            changed[at:at + n8] = p.to_bytes(n8, "little")
            s.set(2, bytes(changed))
            path = cuzk.write("k.zkey", s.bytes())
            for command in ("inspect", "check", "prove", "verify"):
                more = {"prove": [wtns], "verify": [public, proof]}.get(command, [])
                cuzk.fails(1, [path, "section 2", "coordinate is not below"], command, path, *more)
        s.set(2, bytes(header))
        # the same key as JSON
        vk = json.loads(read(cuzk.circom(curve, "multiplier1000", "verification_key.json")))
        vk["IC"][1][0] = str(int(vk["IC"][1][0]) + p)
        path = cuzk.write_json("vk.json", vk)
        cuzk.fails(1, [path, "IC", "1"], "verify", path, public, proof)
    # bellperson's files: big endian, below 2^381; point 1 of each array
    names = ("params", "vk", "r1cs")
    params, vk, r1cs = (cuzk.fixture("groth/dense/circuit." + n) for n in names)
    wtns = cuzk.fixture("groth/dense/witness.wtns")
    bad = P["bls12381"].to_bytes(48, "big")
    data, at = bytearray(read(params)), 3 * 96 + 3 * 192
    for name, each in (("IC", 96), ("h", 96), ("l", 96), ("a", 96), ("b_g1", 96), ("b_g2", 192)):
        n = struct.unpack_from(">I", data, at)[0]
        changed = bytearray(data)
        changed[at + 4 + each:at + 4 + each + 48] = bad
        path = cuzk.write("k.params", changed)
        cuzk.fails(1, [path, name, "coordinate is not below"], "prove", path, wtns, "--r1cs", r1cs)
        cuzk.fails(1, [path, name, "coordinate is not below"], "check", path, "--r1cs", r1cs)
        at += 4 + n * each
    changed = bytearray(read(vk))
    changed[3 * 96 + 3 * 192 + 4 + 96:3 * 96 + 3 * 192 + 4 + 96 + 48] = bad
    path = cuzk.write("k.vk", changed)
    cuzk.fails(1, [path, "IC", "coordinate is not below"], "verify", path, path, path)


def test_valid_points_in_wrong_places(cuzk):
    """Points that are fine by themselves: the key's parts no longer fit together."""
    for curve, size in (("bn254", 64), ("bls12381", 96)):
        zkey, wtns = key_and_witness(cuzk, curve)
        r1cs = cuzk.circom(curve, "multiplier1000", "circuit.r1cs")
        cuzk.ok("check", zkey)
        cuzk.ok("check", zkey, "--r1cs", r1cs)
        for section in (6, 7, 9):
            s = Sections(read(zkey))
            body = bytearray(s.get(section))
            n = 2 * size if section == 7 else size
            body[3 * n:4 * n], body[5 * n:6 * n] = body[5 * n:6 * n], body[3 * n:4 * n]
            s.set(section, bytes(body))
            path = cuzk.write("k.zkey", s.bytes())
            cuzk.fails(1, "k.zkey", "check", path)
            cuzk.fails(1, "", "prove", path, wtns)
        # another coefficient: the key alone is of one piece or not, the circuit tells in any case
        s = Sections(read(zkey))
        body = bytearray(s.get(4))
        body[4 + 12] ^= 1
        s.set(4, bytes(body))
        cuzk.fails(1, "k.zkey", "check", cuzk.write("k.zkey", s.bytes()), "--r1cs", r1cs)
    other = cuzk.circom("bn254", "poseidon2", "circuit.r1cs")
    cuzk.fails(1, "", "check", cuzk.circom("bn254", "multiplier1000", "circuit.zkey"), "--r1cs", other)
    cuzk.fails(2, "not a proving key", "check", wtns, "--r1cs", r1cs)
    params, circuit = (cuzk.fixture("groth/dense/circuit." + n) for n in ("params", "r1cs"))
    cuzk.ok("check", params, "--r1cs", circuit)
    cuzk.ok("check", params)


def test_damaged_contributions(cuzk):
    """Section 10 says who made the key: check notices a change, proving does not need it."""
    for curve in R:
        zkey, wtns = key_and_witness(cuzk, curve, "poseidon2_ceremony")
        r = cuzk.ok("check", zkey)
        assert "hash into one another" in r.out and "not checked: that contributors knew their secrets" in r.out, r
        s = Sections(read(zkey))
        body = bytearray(s.get(10))
        body[68 + 5] ^= 1
        s.set(10, bytes(body))
        path = cuzk.write("k.zkey", s.bytes())
        cuzk.fails(1, [path, "section 10 (contributions): record 0 of 2"], "check", path)
        cuzk.ok("prove", path, wtns, "p.json", "pub.json")
        body[68 + 5] ^= 1
        s.set(10, bytes(body[:-40]))
        path = cuzk.write("k.zkey", s.bytes())
        cuzk.fails(1, "section 10 (contributions): record 1 of 2", "check", path)
        assert "warning: contributions: record 1" in cuzk.ok("inspect", path).out


def test_damaged_coefficients(cuzk):
    zkey, wtns = key_and_witness(cuzk)
    s = Sections(read(zkey))
    for offset, value in ((0, 2), (4, 0xffffffff), (8, 0xffffffff)):
        changed = Sections(s.bytes())
        body = bytearray(changed.get(4))
        struct.pack_into("<I", body, 4 + 44 * 5 + offset, value)
        changed.set(4, bytes(body))
        path = cuzk.write("k.zkey", changed.bytes())
        r = refused(cuzk, ['key "%s": zkey section 4 (coefficients): record 5: ' % path], "prove", path, wtns)
        assert wtns not in r.err, r
        cuzk.fails(1, "section 4", "check", path)


def test_flipped_bits(cuzk):
    """Any flipped bit: no proof that does not verify, no crash."""
    zkey, wtns = key_and_witness(cuzk, circuit="multiplier2")
    vkey = cuzk.circom("bn254", "multiplier2", "verification_key.json")
    data = read(zkey)
    for _ in range(150 if not harness.SANITIZED else 25):
        changed = bytearray(data)
        bit = random.randrange(8 * len(data))
        changed[bit // 8] ^= 1 << bit % 8
        r = cuzk("prove", cuzk.write("k.zkey", changed), wtns, "p.json", "pub.json")
        assert r.code in (0, 1), (bit, r)
        if r.code == 0:
            v = cuzk("verify", "k.zkey", "pub.json", "p.json")
            assert v.code == 0, (bit, r, v)


def test_damaged_r1cs(cuzk):
    data = read(cuzk.circom("bn254", "multiplier1000", "circuit.r1cs"))
    for cut in (0, 3, 11, 12, 30, 100, len(data) // 2, len(data) - 1):
        refused(cuzk, "c.r1cs", "setup", cuzk.write("c.r1cs", data[:cut]), "k.zkey")
    s = Sections(data)
    body = bytearray(s.get(2))
    struct.pack_into("<I", body, 4, 0xffffffff)  # wire of the first term
    s.set(2, bytes(body))
    refused(cuzk, ["constraint 0"], "setup", cuzk.write("c.r1cs", s.bytes()), "k.zkey")


if __name__ == "__main__":
    harness.main(globals())
