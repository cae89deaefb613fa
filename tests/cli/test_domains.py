# SPDX-License-Identifier: MIT OR Apache-2.0
"""BC-001: the root of unity belongs to the file format. The H points of a .zkey from a known trapdoor
against their definition, computed here with the integers of Python: H_i = L_(2i+1)(tau)/delta over
the domain of twice the size, root 5^((r-1)/2n). On BLS12-381 another root (Filecoin's, from 7) gives
other points from domain 4 on. Proofs of these keys verify; tests/peers has snarkjs prove with such
keys as well. CUZK_NIGHTLY=1 takes the domain of 2^20 too."""

import harness
from harness import R, Sections, read
from test_memory import NIGHTLY, squares

P = {"bn254": 21888242871839275222246405745257275088696311157297823662689037894645226208583,
     "bls12381": int("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab", 16)}
G1 = {"bn254": (1, 2),
      "bls12381": (int("17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb", 16),
                   int("08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1", 16))}


def add(p, a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0]:
        if (a[1] + b[1]) % p == 0:
            return None
        slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, p)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, p)
    x = (slope * slope - a[0] - b[0]) % p
    return x, (slope * (a[0] - x) - a[1]) % p


def multiple(p, k, point):
    out = None
    for bit in bin(k)[2:]:
        out = add(p, out, out)
        if bit == "1":
            out = add(p, out, point)
    return out


def h_point(key, curve, i):
    """Point i of section 9, plain coordinates."""
    n8, p = {"bn254": 32, "bls12381": 48}[curve], P[curve]
    raw = key.get(9)[2 * n8 * i:2 * n8 * (i + 1)]
    back = pow(2, -8 * n8, p)
    return tuple(int.from_bytes(raw[k:k + n8], "little") * back % p for k in (0, n8))


def expected_h(curve, lg, i, tau, delta, generator):
    r, n2 = R[curve], 2 << lg
    w = pow(generator, (r - 1) // n2 * (2 * i + 1), r)
    scalar = w * (pow(tau, n2, r) - 1) * pow(n2 * (tau - w) * delta, -1, r) % r
    return multiple(P[curve], scalar, G1[curve])


def check_domain(cuzk, curve, lg):
    tau, delta = 987654321987654321987654321, 1357913579
    t = cuzk.write_json("t.json", dict(tau=str(tau), alpha="23", beta="34", gamma="1", delta=str(delta)))
    r1cs, wtns = squares(R[curve], (1 << lg) - 2)
    cuzk.ok("setup", cuzk.write("c.r1cs", r1cs), "k.test.zkey", "--vkey", "vk.test.json", "--test-trapdoor", t, limit=600)
    cuzk.prove_and_verify("k.test.zkey", cuzk.write("w.wtns", wtns), "vk.test.json", "--allow-test-key")
    key = Sections(read(cuzk.path("k.test.zkey")))
    n = 1 << lg
    for i in {0, 1, n // 2, n - 1}:
        found = h_point(key, curve, i)
        assert found == expected_h(curve, lg, i, tau, delta, 5), (curve, lg, i)
        assert curve == "bn254" or found != expected_h(curve, lg, i, tau, delta, 7), (curve, lg, i)


def test_small_domains(cuzk):
    for curve in R:
        for lg in (2, 3, 10):
            check_domain(cuzk, curve, lg)


def test_large_domain(cuzk):
    if not NIGHTLY:
        raise harness.Skip("CUZK_NIGHTLY is not set")
    for curve in R:
        check_domain(cuzk, curve, 20)


if __name__ == "__main__":
    harness.main(globals())
