#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes bn254_consts.h, bls12_381_consts.h and halves_consts.h of src/field.

The inputs are the curve families' parameter x, the equation, the tower and the generators; every
other number is computed here and checked (moduli against the family polynomials, points against
the equations and their order, endomorphisms on the generators). Only the standard library is used.

    python3 tools/gen_consts.py            writes the headers
    python3 tools/gen_consts.py --check    compares them with the files, exit code 1 on a difference
    python3 tools/gen_consts.py --dir D    writes into (or compares with) the folder D
"""
import argparse
import os
import sys

MASK64 = (1 << 64) - 1


class Fp2:
    """c0 + c1·u with u² = -1, plain integers modulo p."""

    def __init__(self, p, c0, c1):
        self.p, self.c0, self.c1 = p, c0 % p, c1 % p

    def __add__(self, o):
        return Fp2(self.p, self.c0 + o.c0, self.c1 + o.c1)

    def __sub__(self, o):
        return Fp2(self.p, self.c0 - o.c0, self.c1 - o.c1)

    def __neg__(self):
        return Fp2(self.p, -self.c0, -self.c1)

    def __mul__(self, o):
        if isinstance(o, int):
            return Fp2(self.p, self.c0 * o, self.c1 * o)
        return Fp2(self.p, self.c0 * o.c0 - self.c1 * o.c1, self.c0 * o.c1 + self.c1 * o.c0)

    def __eq__(self, o):
        return self.c0 == o.c0 and self.c1 == o.c1

    def conj(self):
        return Fp2(self.p, self.c0, -self.c1)

    def inv(self):
        n = pow(self.c0 * self.c0 + self.c1 * self.c1, -1, self.p)
        return Fp2(self.p, self.c0 * n, -self.c1 * n)

    def pow(self, e):
        r, b = Fp2(self.p, 1, 0), self
        while e:
            if e & 1:
                r = r * b
            b = b * b
            e >>= 1
        return r


class Fp1:
    """Element of Fp with the same interface, so that point code is written once."""

    def __init__(self, p, v):
        self.p, self.v = p, v % p

    def __add__(self, o):
        return Fp1(self.p, self.v + o.v)

    def __sub__(self, o):
        return Fp1(self.p, self.v - o.v)

    def __neg__(self):
        return Fp1(self.p, -self.v)

    def __mul__(self, o):
        return Fp1(self.p, self.v * (o if isinstance(o, int) else o.v))

    def __eq__(self, o):
        return self.v == o.v

    def inv(self):
        return Fp1(self.p, pow(self.v, -1, self.p))


def point_add(a, b):
    """Affine addition; None is infinity."""
    if a is None or b is None:
        return b if a is None else a
    if a[0] == b[0]:
        if not a[1] == b[1]:
            return None
        s = a[0] * a[0] * 3 * (a[1] * 2).inv()
    else:
        s = (b[1] - a[1]) * (b[0] - a[0]).inv()
    x = s * s - a[0] - b[0]
    return (x, s * (a[0] - x) - a[1])


def point_mul(k, a):
    if k < 0:
        return point_mul(-k, (a[0], -a[1]))
    r = None
    while k:
        if k & 1:
            r = point_add(r, a)
        a = point_add(a, a)
        k >>= 1
    return r


def limbs(v, n, bits=64):
    assert 0 <= v < 1 << (n * bits)
    return [(v >> (bits * i)) & ((1 << bits) - 1) for i in range(n)]


class Writer:
    """Collects macros; every one gets its defining expression as a comment."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.out = []

    def section(self, title):
        self.out.append("\n/* ---- %s ---- */" % title)

    def comment(self, text):
        line = "\n/*"
        for word in text.split():
            if len(line.split("\n")[-1]) + len(word) + 1 > 96:
                self.out.append(line)
                line = " *"
            line += " " + word
        self.out.append(line + " */")

    def scalar(self, name, text, value, hexa=False, ull=True):
        self.comment(text)
        s = "UINT64_C(0x%016x)" % value if hexa else ("UINT64_C(%d)" % value if ull else str(value))
        self.out.append("#define CUZK_%s_%s %s" % (self.prefix, name, s))

    @staticmethod
    def words(ws, indent):
        lines = []
        for i in range(0, len(ws), 3):
            lines.append(indent + ", ".join("UINT64_C(0x%016x)" % w for w in ws[i : i + 3]))
        return lines

    def define(self, name, body):
        """body: lines; joined with aligned backslashes."""
        lines = ["#define CUZK_%s_%s" % (self.prefix, name)] + body
        width = 99
        for line in lines[:-1]:
            assert len(line) < width
            self.out.append(line.ljust(width) + "\\")
        self.out.append(lines[-1])

    def raw(self, name, text, ws):
        """A list of words: {w0, w1, …}."""
        self.comment(text)
        body = self.words(ws, "     ")
        for i in range(len(body) - 1):
            body[i] += ","
        body[0] = "    {" + body[0][5:]
        body[-1] += "}"
        self.define(name, body)

    def struct_body(self, groups, depth_open, depth_close):
        body = []
        for gi, ws in enumerate(groups):
            rows = self.words(ws, "      ")
            for i in range(len(rows) - 1):
                rows[i] += ","
            rows[0] = "    " + "{{" + rows[0].lstrip()
            rows[-1] += "}}" + ("," if gi + 1 < len(groups) else "")
            body += rows
        body[0] = "    " + depth_open + body[0].lstrip()
        body[-1] += depth_close
        return body

    def elem(self, name, text, ws):
        """A field element: initialiser of fr or fp."""
        self.comment(text)
        self.define(name, self.struct_body([ws], "", ""))

    def elem2(self, name, text, ws0, ws1):
        """Initialiser of fp2."""
        self.comment(text)
        self.define(name, self.struct_body([ws0, ws1], "{", "}"))


class Field:
    """One prime field: emits what the field templates need."""

    def __init__(self, w, name, letter, p, n, n52):
        self.w, self.name, self.p, self.n, self.n52 = w, name, p, n, n52
        self.letter = letter
        self.r_bits, self.r52_bits = 64 * n, 52 * n52

    def mont(self, v):
        return limbs((v << self.r_bits) % self.p, self.n)

    def elem(self, suffix, text, v):
        self.w.elem(suffix, text + ", Montgomery form", self.mont(v))

    def emit(self):
        w, N, c, p, n = self.w, self.name, self.letter, self.p, self.n
        R = "2^%d" % self.r_bits
        w.section("%s: integers modulo %s" % (N.lower(), c))
        w.scalar(N + "_LIMBS", "64-bit limbs of an element", n, ull=False)
        w.scalar(N + "_BITS", "bits of %s" % c, p.bit_length(), ull=False)
        w.raw(N + "_MODULUS", "%s = 0x%x" % (c, p), limbs(p, n))
        w.scalar(N + "_N0", "-1/%s mod 2^64" % c, -pow(p, -1, 1 << 64) % (1 << 64), hexa=True)
        w.raw(N + "_FOLD", "2^-64 mod %s: folds the lowest word away" % c,
              limbs(pow(2, -64, p), n))
        w.elem(N + "_ONE", "1 in Montgomery form: R mod %s, R = %s" % (c, R), self.mont(1))
        assert 10 * (pow(2, 2 * self.r_bits, p)) <= 9 * p, "from_canonical of mont_adx.h needs it"
        w.elem(N + "_R2", "R^2 mod %s" % c, self.mont(1 << self.r_bits))
        w.elem(N + "_HALF", "1/2, Montgomery form", self.mont(pow(2, -1, p)))
        w.raw(N + "_MODULUS_MINUS_2", "%s - 2, exponent of the Fermat inversion" % c,
              limbs(p - 2, n))
        w.comment("Eight-lane form: %d limbs of 52 bits, R52 = 2^%d." % (self.n52, self.r52_bits))
        w.out[-1] = w.out[-1].lstrip("\n")
        w.out[-1] = "\n" + w.out[-1]
        w.scalar(N + "52_LIMBS", "52-bit limbs of an element", self.n52, ull=False)
        w.raw(N + "52_MODULUS", c, limbs(p, self.n52, 52))
        w.scalar(N + "52_N0", "-1/%s mod 2^52" % c, -pow(p, -1, 1 << 52) % (1 << 52), hexa=True)
        w.raw(N + "52_FOLD", "2^-52 mod %s: folds the lowest limb away" % c,
              limbs(pow(2, -52, p), self.n52, 52))
        w.raw(N + "52_ONE", "R52 mod %s" % c, limbs((1 << self.r52_bits) % p, self.n52, 52))
        w.raw(N + "52_R2", "R52^2 mod %s" % c, limbs((1 << 2 * self.r52_bits) % p, self.n52, 52))
        w.raw(N + "52_FROM_MONT",
              "R52^2 / R mod %s: the R52 Montgomery product of it and x·R is x·R52" % c,
              limbs(pow(2, 2 * self.r52_bits - self.r_bits, p), self.n52, 52))
        w.raw(N + "52_TO_MONT", "R mod %s: the R52 Montgomery product of it and x·R52 is x·R" % c,
              limbs(pow(2, self.r_bits, p), self.n52, 52))


def emit_scalar_roots(w, fr, r):
    s = ((r - 1) & -(r - 1)).bit_length() - 1
    w.scalar("FR_TWO_ADICITY", "largest s with 2^s | r - 1", s, ull=False)
    for g in (5, 7):
        root = pow(g, (r - 1) >> s, r)
        full = pow(root, 1 << (s - 1), r) == r - 1
        w.scalar("FR_HAS_ROOT_G%d" % g, "whether %d is no square, so that the root below has "
                 "order 2^s" % g, int(full), ull=False)
        if full:
            fr.elem("FR_ROOT_G%d" % g, "%d^((r-1)/2^s): primitive 2^s-th root of unity" % g, root)
            fr.elem("FR_ROOT_G%d_INV" % g, "its inverse", pow(root, -1, r))
        fr.elem("FR_G%d" % g, "%d" % g, g)


def emit_square_roots(w, p, n):
    assert p % 4 == 3
    w.section("fp: more")
    w.raw("FP_MODULUS_SQR", "p^2, added to differences of products", limbs(p * p, 2 * n))
    for k in (2, 5):
        w.raw("FP_MODULUS_SQR_X%d" % k, "%d p^2" % k, limbs(k * p * p, 2 * n))
    w.raw("FP_SQRT_EXP", "(p-3)/4, p = 3 mod 4: a^e·a is a root of a, or of -a", limbs((p - 3) // 4, n))


def emit_tower(w, fp, p, xi):
    def e2(name, text, v):
        w.elem2(name, text + ", Montgomery form", fp.mont(v.c0), fp.mont(v.c1))

    w.section("tower Fp2 = Fp[u]/(u^2+1), Fp6 = Fp2[v]/(v^3-XI), Fp12 = Fp6[w]/(w^2-v)")
    w.scalar("XI_C0", "XI = XI_C0 + u", xi.c0, ull=False)
    e2("XI", "XI", xi)
    for i in (1, 2, 3):
        base = xi.pow((p**i - 1) // 6)
        g = Fp2(p, 1, 0)
        for j in range(1, 6):
            g = g * base
            text = "XI^(%d(p%s-1)/6): w^(%d·p%s) = this·w^%d" % (
                j, "" if i == 1 else "^%d" % i, j, "" if i == 1 else "^%d" % i, j)
            if i == 2:
                assert g.c1 == 0
                w.elem("FROB%d_%d" % (i, j), text + " (in Fp), Montgomery form", fp.mont(g.c0))
            else:
                e2("FROB%d_%d" % (i, j), text, g)


def emit_curve(w, fp, fr, c):
    p, r, x, xi = c["p"], c["r"], c["x"], c["xi"]
    nf, b = fp.n, c["b"]
    b2 = xi * b if c["twist"] == "M" else xi.inv() * b

    def e2(name, text, v):
        w.elem2(name, text + ", Montgomery form", fp.mont(v.c0), fp.mont(v.c1))

    def e1(name, text, v):
        w.elem(name, text + ", Montgomery form", fp.mont(v))

    w.section("curves G1: y^2 = x^3 + B, G2: y^2 = x^3 + B2")
    w.scalar("B_SMALL", "B", b, ull=False)
    e1("B", "B", b)
    e1("B3", "3·B", 3 * b)
    e2("B2", "B2 = %s" % ("B·XI (M-twist)" if c["twist"] == "M" else "B/XI (D-twist)"), b2)
    w.scalar("TWIST_IS_M", "1: M-twist, B2 = B·XI; 0: D-twist, B2 = B/XI", int(c["twist"] == "M"),
             ull=False)
    g1 = (Fp1(p, c["g1"][0]), Fp1(p, c["g1"][1]))
    g2 = (Fp2(p, *c["g2"][0]), Fp2(p, *c["g2"][1]))
    assert g1[1] * g1[1] == g1[0] * g1[0] * g1[0] + Fp1(p, b)
    assert g2[1] * g2[1] == g2[0] * g2[0] * g2[0] + b2
    assert point_mul(r, g1) is None and point_mul(r, g2) is None
    e1("G1_X", "generator of G1, x", g1[0].v)
    e1("G1_Y", "generator of G1, y", g1[1].v)
    e2("G2_X", "generator of G2, x", g2[0])
    e2("G2_Y", "generator of G2, y", g2[1])

    t = c["trace"]
    h1 = (p + 1 - t) // r
    assert h1 * r == p + 1 - t
    t2 = t * t - 2 * p
    f = isqrt_exact((4 * p * p - t2 * t2) // 3)
    orders = [p * p + 1 - (t2 + s * 3 * f) // 2 for s in (1, -1)]
    orders = [o for o in orders if o % r == 0]
    assert len(orders) == 1
    h2 = orders[0] // r
    w.raw("H1", "cofactor of G1: #E(Fp)/r", limbs(h1, nf))
    w.raw("H2", "cofactor of G2: #E'(Fp2)/r", limbs(h2, 2 * nf))

    w.section("family parameter and endomorphisms")
    w.scalar("X_ABS", "|x|, the parameter of the curve family", abs(x), hexa=True)
    w.scalar("X_IS_NEG", "whether x is negative", int(x < 0), ull=False)
    if c["family"] == "bn":
        w.raw("ATE_LOOP", "6x + 2, the length of the ate loop", limbs(6 * x + 2, 2))
        w.raw("SIX_X2", "6x^2: psi acts on G2 as this scalar (p mod r)", limbs(6 * x * x, 2))
        assert p % r == 6 * x * x
    lam = c["lambda"] % r
    assert (lam * lam + lam + 1) % r == 0
    beta = next(cand for cand in cube_roots_of_unity(p)
                if point_mul(lam, g1) == (g1[0] * cand, g1[1]))
    w.raw("LAMBDA", "%s mod r, a cube root of 1: (x, y) -> (BETA·x, y) is this scalar on G1"
          % c["lambda_text"], limbs(lam, 4))
    e1("BETA", "the cube root of 1 in Fp that belongs to LAMBDA", beta)
    e1("BETA_SQR", "BETA^2: belongs to LAMBDA^2", beta * beta)

    sx, sy = xi.pow((p - 1) // 3), xi.pow((p - 1) // 2)
    sign = "" if c["twist"] == "D" else "-"
    if c["twist"] == "M":
        sx, sy = sx.inv(), sy.inv()
    psi = (g2[0].conj() * sx, g2[1].conj() * sy)
    assert psi == point_mul(p % r, g2)
    e2("PSI_X", "XI^(%s(p-1)/3): psi(x, y) = (PSI_X·conj x, PSI_Y·conj y) is p (the trace minus 1) "
       "on G2" % sign, sx)
    e2("PSI_Y", "XI^(%s(p-1)/2)" % sign, sy)
    px2 = sx.conj() * sx
    assert px2.c1 == 0 and sy.conj() * sy == Fp2(p, -1, 0)
    e1("PSI2_X", "PSI_X^(p+1), in Fp: psi(psi(x, y)) = (PSI2_X·x, -y)", px2.c0)
    assert (g2[0] * px2.c0, g2[1]) == point_mul(lam, g2)  # without the sign it is LAMBDA on G2
    check_subgroup_tests(c, h1 * r, h2 * r)
    check_final_exponent(c)
    if c["family"] == "bn":
        emit_glv(w, r, lam)


def emit_glv(w, r, lam):
    """Short vectors of the lattice {(a, b): a + b·lam = 0 mod r}, and the quotients to round by."""
    (a1, b1), (a2, b2) = emit_glv_basis(w, r, lam)
    q1, q2 = (b2 << 256) // r, (-b1 << 256) // r
    # floor(k q / 2^256) is below the exact quotient by less than 2, so that the two parts of k are
    # smaller than twice the sums of the vectors' parts
    assert 2 * (a1 + a2) < 2**128 - 16 and 2 * (b2 - b1) < 2**128 - 16
    w.raw("GLV_Q1", "floor(2^256·B2/r)", limbs(q1, 3))
    w.raw("GLV_Q2", "floor(2^256·B1/r)", limbs(q2, 3))


def emit_glv_basis(w, r, lam):
    (a1, b1), (a2, b2) = glv_basis(r, lam)
    assert a1 > 0 and b1 < 0 and a2 > 0 and b2 > 0 and a1 * b2 - a2 * b1 == r
    assert (a1 + b1 * lam) % r == 0 and (a2 + b2 * lam) % r == 0
    w.raw("GLV_A1", "A1 - B1·LAMBDA = 0 mod r, a short vector", limbs(a1, 2))
    w.raw("GLV_B1", "B1 of the first short vector", limbs(-b1, 2))
    w.raw("GLV_A2", "A2 + B2·LAMBDA = 0 mod r, the other short vector", limbs(a2, 2))
    w.raw("GLV_B2", "B2 of the other short vector", limbs(b2, 2))
    return (a1, b1), (a2, b2)


def emit_halves(w, c):
    """What rounds to the nearest, so that the parts of a scalar have no bit more than needed."""
    r, lam = c["r"], c["lambda"] % c["r"]
    is_bn = c["family"] == "bn"
    (a1, b1), (a2, b2) = glv_basis(r, lam) if is_bn else emit_glv_basis(w, r, lam)
    n1, n2 = ((b2 << 257) // r + 1) // 2, ((-b1 << 257) // r + 1) // 2
    # floor(k n / 2^256 + 1/2) differs from the exact quotient by 1/2 + k/2^257 at most, k <= r/2
    most = max(a1 + a2, b2 - b1)
    most = (most << 257) + most * r >> 258
    w.raw("GLV_N1", "2^256·B2/r, to the nearest", limbs(n1, 3))
    w.raw("GLV_N2", "2^256·B1/r, to the nearest", limbs(n2, 3))
    w.raw("GLV_MOST", "no part of a k <= r/2 is larger where quotients are rounded with N1, N2",
          limbs(most, 2))


def glv_basis(r, lam):
    """Euclid on (r, lam), stopped in the middle: remainders s·r + t·lam give vectors (rem, -t)."""
    import math

    older, old = (r, 0), (lam, 1)
    while old[0] >= math.isqrt(r):
        q = older[0] // old[0]
        older, old = old, (older[0] - q * old[0], older[1] - q * old[1])
    q = older[0] // old[0]
    new = (older[0] - q * old[0], older[1] - q * old[1])
    other = min((older, new), key=lambda v: max(abs(v[0]), abs(v[1])))
    vectors = [(old[0], -old[1]), (other[0], -other[1])]
    return vectors if vectors[0][1] < 0 else vectors[::-1]


def check_subgroup_tests(c, order1, order2):
    """That the tests of curve/scalar_mul.h are exact.

    A point killed by a + b·psi is killed by its norm a^2 + a b t + b^2 p (psi^2 - t psi + p = 0).
    If the norm and the group's order have only the one factor r in common, its order divides r."""
    import math

    p, r, x, t = c["p"], c["r"], c["x"], c["trace"]
    assert order1 % r**2 != 0 and order2 % r**2 != 0
    if c["family"] == "bn":
        assert order1 == r
        coeffs = [x + 1, x, x, -2 * x]  # (x+1) + x psi + x psi^2 - 2x psi^3
    else:
        assert x**4 - x**2 + 1 == r  # the norm of x^2 + phi, phi^2 + phi + 1 = 0
        coeffs = [-x, 1]
    a = b = 0
    for k in reversed(coeffs):
        a, b = k - b * p, a + b * t
    norm = a * a + a * b * t + b * b * p
    assert norm % r == 0 and math.gcd(norm, order2) == r


def check_final_exponent(c):
    """That the addition chains of curve/pairing.h raise to a multiple of (p^4 - p^2 + 1)/r."""
    p, r, x = c["p"], c["r"], c["x"]
    hard = (p**4 - p**2 + 1) // r
    assert hard * r == p**4 - p**2 + 1
    if c["family"] == "bn":
        l1 = 4 * x + 6 * x**2 + 12 * x**3
        l0, l2, l3 = l1 + 1 + 2 * x + 6 * x**2, l1 + 2 * x, l1 - 1
        assert l0 + l1 * p + l2 * p**2 + l3 * p**3 == 2 * x * (6 * x**2 + 3 * x + 1) * hard
    else:
        assert (x - 1) ** 2 * (x + p) * (x**2 + p**2 - 1) + 3 == 3 * hard


def isqrt_exact(v):
    import math

    s = math.isqrt(v)
    assert s * s == v
    return s


def cube_roots_of_unity(p):
    g = 2
    while pow(g, (p - 1) // 3, p) == 1:
        g += 1
    b = pow(g, (p - 1) // 3, p)
    return [b, b * b % p]


def curves():
    x = 4965661367192848881
    p = 36 * x**4 + 36 * x**3 + 24 * x**2 + 6 * x + 1
    bn = dict(
        prefix="BN254", file="bn254_consts.h", title="BN254 (alt_bn128, bn128)", family="bn", x=x,
        equations="p = 36x^4 + 36x^3 + 24x^2 + 6x + 1, r = 36x^4 + 36x^3 + 18x^2 + 6x + 1",
        p=p, r=36 * x**4 + 36 * x**3 + 18 * x**2 + 6 * x + 1, trace=6 * x * x + 1, b=3,
        xi=Fp2(p, 9, 1), twist="D", n=4, n52=5, g1=(1, 2),
        **{"lambda": 36 * x**3 + 18 * x**2 + 6 * x + 1},
        lambda_text="36x^3 + 18x^2 + 6x + 1",
        g2=((10857046999023057135944570762232829481370756359578518086990519993285655852781,
             11559732032986387107991004021392285783925812861821192530917403151452391805634),
            (8495653923123431417604973247489272438418190587263600148770280649306958101930,
             4082367875863433681332203403145435568316851327593401208105741076214120093531)))
    x = -0xD201000000010000
    p = (x - 1) ** 2 * (x**4 - x**2 + 1) // 3 + x
    bls = dict(
        prefix="BLS12_381", file="bls12_381_consts.h", title="BLS12-381", family="bls", x=x,
        equations="p = (x-1)^2 (x^4 - x^2 + 1)/3 + x, r = x^4 - x^2 + 1",
        p=p, r=x**4 - x**2 + 1, trace=x + 1, b=4, xi=Fp2(p, 1, 1), twist="M", n=6, n52=8,
        **{"lambda": -x * x},
        lambda_text="-x^2",
        g1=(0x17F1D3A73197D7942695638C4FA9AC0FC3688C4F9774B905A14E3A3F171BAC586C55E83FF97A1AEFFB3AF00ADB22C6BB,
            0x08B3F481E3AAA0F1A09E30ED741D8AE4FCF5E095D5D00AF600DB18CB2C04B3EDD03CC744A2888AE40CAA232946C5E7E1),
        g2=((0x024AA2B2F08F0A91260805272DC51051C6E47AD4FA403B02B4510B647AE3D1770BAC0326A805BBEFD48056C8C121BDB8,
             0x13E02B6052719F607DACD3A088274F65596BD0D09920B61AB5DA61BBDC7F5049334CF11213945D57E5AC7D055D042B7E),
            (0x0CE5D527727D6E118CC9CDC6DA2E351AADFD9BAA8CBDD3A76D429A695160D12C923AC9CC3BACA289E193548608B82801,
             0x0606C4A02EA734CC32ACD2B02BC28B99CB3E287E85A763AF267492AB572E99AB3F370D275CEC1DA1AAA9075FF05F79BE)))
    return [bn, bls]


HEADER = """/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Generated by tools/gen_consts.py: do not edit.
 *
 * Constants of %(title)s with x = %(xs)s:
 * %(equations)s.
 * Macros are initialisers: a field element as {{limbs}} for fr and fp and {{{c0}}, {{c1}}} for
 * fp2, always reduced; a plain integer or exponent as {limbs}; limbs least significant first.
 * R is 2^64 to the power of the limb count. */
#ifndef CUZK_FIELD_%(prefix)s_CONSTS_H
#define CUZK_FIELD_%(prefix)s_CONSTS_H

#include <stdint.h>

/* clang-format off */
"""


def generate(c):
    w = Writer(c["prefix"])
    fp = Field(w, "FP", "p", c["p"], c["n"], c["n52"])
    fr = Field(w, "FR", "r", c["r"], 4, 5)
    fr.emit()
    emit_scalar_roots(w, fr, c["r"])
    fp.emit()
    emit_square_roots(w, c["p"], c["n"])
    emit_tower(w, fp, c["p"], c["xi"])
    emit_curve(w, fp, fr, c)
    xs = ("-0x%x" % -c["x"]) if c["x"] < 0 else ("0x%x" % c["x"])
    return (HEADER % dict(c, xs=xs)) + "\n".join(w.out).replace("\n\n\n", "\n\n") + "\n\n/* clang-format on */\n\n#endif\n"


HALVES_HEADER = """/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Generated by tools/gen_consts.py: do not edit.
 *
 * Short vectors of the lattice of the (a, b) with a + b·LAMBDA = 0 mod r, and what scalars of both
 * curves are cut in two by, rounding to the nearest; as in the headers of the curves, where bn254
 * has its vectors. */
#ifndef CUZK_FIELD_HALVES_CONSTS_H
#define CUZK_FIELD_HALVES_CONSTS_H

#include <stdint.h>

/* clang-format off */
"""


def generate_halves():
    text = HALVES_HEADER
    for c in curves():
        w = Writer(c["prefix"])
        w.section(c["title"])
        emit_halves(w, c)
        text += "\n".join(w.out) + "\n"
    return text.replace("\n\n\n", "\n\n") + "\n/* clang-format on */\n\n#endif\n"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--check", action="store_true")
    ap.add_argument("--dir", default=os.path.join(os.path.dirname(__file__), "..", "src", "field"))
    args = ap.parse_args()
    status = 0
    files = [(c["file"], generate(c)) for c in curves()]
    for name, text in files + [("halves_consts.h", generate_halves())]:
        path = os.path.join(args.dir, name)
        if not args.check:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            continue
        with open(path, encoding="utf-8") as f:
            if f.read() != text:
                print("%s differs from what tools/gen_consts.py generates" % path)
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
