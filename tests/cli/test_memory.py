# SPDX-License-Identifier: MIT OR Apache-2.0
"""Peak resident memory of a proof: the key's size and a quarter, and 64 MiB, mapped pages counted.

Circuits are generated: chains of squares (every value a field element, the most that a proof holds)
and rows of bits. CUZK_NIGHTLY=1 takes them up to 2^20 constraints."""
import os, random, struct
import harness
from harness import R, Sections, Skip, make_wtns

NIGHTLY = bool(os.environ.get("CUZK_NIGHTLY"))
SLACK = 64 << 20


def r1cs_of(prime, n_wires, n_out, n_constraints, body):
    s = Sections.__new__(Sections)
    s.magic, s.version = b"r1cs", 1
    header = struct.pack("<I", 32) + prime.to_bytes(32, "little") + struct.pack(
        "<IIIIQI", n_wires, n_out, 0, n_wires - 1 - n_out, n_wires, n_constraints)
    s.list = [(1, header), (2, body), (3, struct.pack("<%dQ" % n_wires, *range(n_wires)))]
    return s.bytes()


def squares(prime, n):
    """w_2 = random, w_(i+1) = w_i², the last one is the output, wire 1."""
    one = (1).to_bytes(32, "little")
    term = lambda wire: struct.pack("<II", 1, wire) + one
    wires = list(range(2, n + 2)) + [1]
    pieces = [term(w) for w in wires]
    body = b"".join(a + a + c for a, c in zip(pieces, pieces[1:]))
    values = [random.randrange(2, prime)]
    for _ in range(n):
        values.append(values[-1] * values[-1] % prime)
    return r1cs_of(prime, n + 2, 1, n, body), make_wtns(prime, [1, values[n]] + values[:n])


def bits(prime, n):
    """b·(b - 1) = 0 for n bits."""
    one, minus_one = (1).to_bytes(32, "little"), (prime - 1).to_bytes(32, "little")
    constant = struct.pack("<I", 0) + minus_one
    body = b"".join(struct.pack("<II", 1, w) + one + struct.pack("<II", 2, w) + one + constant + bytes(4)
                    for w in range(1, n + 1))
    return r1cs_of(prime, n + 1, 0, n, body), make_wtns(prime, [1] + [random.getrandbits(1) for _ in range(n)])


def prove_within(cuzk, make, curve, n, threads, slack=SLACK):
    r1cs, wtns = make(R[curve], n)
    cuzk.ok("setup", cuzk.write("c.r1cs", r1cs), "k.zkey", "-q", limit=600)
    cuzk.write("w.wtns", wtns)
    for t in threads:
        j = cuzk.ok("prove", "k.zkey", "w.wtns", "p.json", "pub.json", "--json", "--threads", str(t), limit=600).json()
        cuzk.ok("verify", "k.zkey", "pub.json", "p.json")
        key, peak = os.path.getsize(cuzk.path("k.zkey")), j["peak_memory_bytes"]
        most = key * 5 // 4 + slack
        print("  %s, %s, 2^%d, %d threads: key %.1f MiB, peak %.1f MiB of %.1f" %
              (make.__name__, curve, j["lg_domain"], t, key / 2**20, peak / 2**20, most / 2**20))
        assert j["constraints"] == n and peak <= most, j


def need_plain_build():
    if harness.SANITIZED or harness.EMULATOR:
        raise Skip("sanitizer build or emulator")


def test_fixtures(cuzk):
    need_plain_build()
    for circuit in ("range64", "eddsa_poseidon"):
        zkey, wtns = (cuzk.circom("bn254", circuit, n) for n in ("circuit.zkey", "witness.wtns"))
        j = cuzk.ok("prove", zkey, wtns, "p.json", "pub.json", "--json").json()
        assert j["peak_memory_bytes"] < 1.25 * os.path.getsize(zkey) + SLACK, j


def test_generated(cuzk):
    need_plain_build()
    # less than is allowed, so that a copied key would be noticed at this size
    prove_within(cuzk, squares, "bn254", (1 << 16) - 3, (2,), 24 << 20)
    prove_within(cuzk, bits, "bls12381", (1 << 14) - 3, (2,), 24 << 20)


def test_big(cuzk):
    need_plain_build()
    if not NIGHTLY:
        raise Skip("CUZK_NIGHTLY is not set")
    prove_within(cuzk, squares, "bn254", (1 << 20) - 3, (1, 8))
    prove_within(cuzk, squares, "bls12381", (1 << 18) + 1, (2,))  # just beyond a power of two
    prove_within(cuzk, bits, "bn254", (1 << 20) - 3, (2,))


if __name__ == "__main__":
    harness.main(globals())
