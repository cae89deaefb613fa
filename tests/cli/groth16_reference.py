# SPDX-License-Identifier: MIT OR Apache-2.0
"""Groth16 in the plainest way, with Python's integers: what keys hold, which constraint a witness breaks first, whether
a proof is valid. It shares nothing with src/: polynomials are evaluated by their definition, points multiplied by
doubling and adding, and proofs verified by the Tate pairing, which is another one than the library's but vanishes on the
same products.

Sources: Groth, "On the size of pairing-based non-interactive arguments" (2016); Barreto, Kim, Lynn, Scott, "Efficient
algorithms for pairing-based cryptosystems" (2002) for lines whose verticals fall away in the final power.
"""


class Curve:
    """y² = x³ + b over fp and its sextic twist over fp2 = fp[u]/(u²+1); fp12 = fp2[w]/(w⁶ - (a + u))."""

    def __init__(self, name, p, r, b, a, twist_is_m, g1, g2, two_adicity):
        self.name, self.p, self.r, self.b, self.a, self.twist_is_m = name, p, r, b, a, twist_is_m
        self.g1, self.g2, self.two_adicity = g1, g2, two_adicity
        self.bytes = (p.bit_length() + 63) // 64 * 8
        self.montgomery_inverse = pow(1 << (8 * self.bytes), -1, p)

    def root(self, generator, n):
        """The primitive n-th root of unity that a generator of the multiplicative group gives."""
        return pow(generator, (self.r - 1) // n, self.r)


BN254 = Curve(
    "bn254", 21888242871839275222246405745257275088696311157297823662689037894645226208583,
    21888242871839275222246405745257275088548364400416034343698204186575808495617, 3, 9, False, (1, 2),
    ((10857046999023057135944570762232829481370756359578518086990519993285655852781,
      11559732032986387107991004021392285783925812861821192530917403151452391805634),
     (8495653923123431417604973247489272438418190587263600148770280649306958101930,
      4082367875863433681332203403145435568316851327593401208105741076214120093531)), 28)

BLS12_381 = Curve(
    "bls12381",
    0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab,
    0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001, 4, 1, True,
    (0x17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb,
     0x08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1),
    ((0x024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8,
      0x13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e),
     (0x0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801,
      0x0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be)), 32)


# ---------------------------------------------------------------- groups


class Fp:
    """Coordinates of G1."""

    def __init__(self, p):
        self.p = p

    def mul(self, x, y):
        return x * y % self.p

    def add(self, x, y):
        return (x + y) % self.p

    def sub(self, x, y):
        return (x - y) % self.p

    def inv(self, x):
        return pow(x, -1, self.p)

    zero = 0


class Fp2:
    """Coordinates of G2: pairs."""

    def __init__(self, p):
        self.p = p

    def mul(self, x, y):
        return ((x[0] * y[0] - x[1] * y[1]) % self.p, (x[0] * y[1] + x[1] * y[0]) % self.p)

    def add(self, x, y):
        return ((x[0] + y[0]) % self.p, (x[1] + y[1]) % self.p)

    def sub(self, x, y):
        return ((x[0] - y[0]) % self.p, (x[1] - y[1]) % self.p)

    def inv(self, x):
        norm = pow(x[0] * x[0] + x[1] * x[1], -1, self.p)
        return (x[0] * norm % self.p, -x[1] * norm % self.p)

    zero = (0, 0)


class Group:
    """Affine points; None is infinity."""

    def __init__(self, field, generator):
        self.f, self.generator = field, generator
        self.powers = []  # 2^i times the generator

    def add(self, a, b):
        f = self.f
        if a is None or b is None:
            return b if a is None else a
        if a[0] == b[0]:
            if f.add(a[1], b[1]) == f.zero:
                return None
            slope = f.mul(f.mul(a[0], a[0]), f.inv(f.add(a[1], a[1])))
            slope = f.add(slope, f.add(slope, slope))
        else:
            slope = f.mul(f.sub(b[1], a[1]), f.inv(f.sub(b[0], a[0])))
        x = f.sub(f.sub(f.mul(slope, slope), a[0]), b[0])
        return (x, f.sub(f.mul(slope, f.sub(a[0], x)), a[1]))

    def neg(self, a):
        return None if a is None else (a[0], self.f.sub(self.f.zero, a[1]))

    def mul(self, a, k):
        total = None
        while k:
            if k & 1:
                total = self.add(total, a)
            a = self.add(a, a)
            k >>= 1
        return total

    def times_generator(self, k):
        while len(self.powers) < k.bit_length():
            self.powers.append(self.add(self.powers[-1], self.powers[-1]) if self.powers else self.generator)
        total = None
        for i in range(k.bit_length()):
            if k >> i & 1:
                total = self.add(total, self.powers[i])
        return total


GROUPS = {c.name: (Group(Fp(c.p), c.g1), Group(Fp2(c.p), c.g2)) for c in (BN254, BLS12_381)}


# ---------------------------------------------------------------- pairing


class Fp12:
    """Lists of 12 coefficients of powers of w: w¹² = 2a·w⁶ - (a² + 1), u = w⁶ - a."""

    def __init__(self, curve):
        self.p, self.a = curve.p, curve.a

    def mul(self, x, y):
        t = [0] * 23
        for i, xi in enumerate(x):
            if xi:
                for j, yj in enumerate(y):
                    t[i + j] += xi * yj
        for k in range(22, 11, -1):
            t[k - 6] += 2 * self.a * t[k]
            t[k - 12] -= (self.a * self.a + 1) * t[k]
        return [c % self.p for c in t[:12]]

    def pow(self, x, e):
        total = [1] + [0] * 11
        for bit in bin(e)[2:]:
            total = self.mul(total, total)
            if bit == "1":
                total = self.mul(total, x)
        return total

    def fp2(self, c, power):
        """c times w^power."""
        out = [0] * 12
        out[power] = (c[0] - self.a * c[1]) % self.p
        out[power + 6] = c[1] % self.p
        return out


def untwist(curve, field, q):
    """A point of the twist as one of the curve over fp12: times or over w² and w³."""
    if not curve.twist_is_m:
        return field.fp2(q[0], 2), field.fp2(q[1], 3)
    xi_inverse = Fp2(curve.p).inv((curve.a, 1))  # 1/w² = w⁴/xi
    f = Fp2(curve.p)
    return field.fp2(f.mul(q[0], xi_inverse), 4), field.fp2(f.mul(q[1], xi_inverse), 3)


def pairings_are_one(curve, pairs):
    """Whether the product of the Tate pairings of (point of G1, point of G2) is 1."""
    field, p = Fp12(curve), curve.p
    pairs = [(a, a, untwist(curve, field, b)) for a, b in pairs if a is not None and b is not None]
    total = [1] + [0] * 11

    def line(t, other, q):
        """The line through t and other (the tangent for the same point) at q, and their sum; a vertical counts as 1."""
        if t[0] == other[0] and (t[1] + other[1]) % p == 0:
            return None, None
        if t == other:
            slope = 3 * t[0] * t[0] * pow(2 * t[1], -1, p) % p
        else:
            slope = (other[1] - t[1]) * pow(other[0] - t[0], -1, p) % p
        value = [(yq - slope * xq) % p for xq, yq in zip(*q)]
        value[0] = (value[0] + slope * t[0] - t[1]) % p
        x = (slope * slope - t[0] - other[0]) % p
        return value, (x, (slope * (t[0] - x) - t[1]) % p)

    for bit in bin(curve.r)[3:]:
        total = field.mul(total, total)
        for step in (["double", "add"] if bit == "1" else ["double"]):
            moved = []
            for base, t, q in pairs:
                if t is not None:
                    value, t = line(t, t if step == "double" else base, q)
                    if value is not None:
                        total = field.mul(total, value)
                moved.append((base, t, q))
            pairs = moved
    return field.pow(total, (p ** 12 - 1) // curve.r) == [1] + [0] * 11


# ---------------------------------------------------------------- circuits


class Circuit:
    """constraints: (A, B, C), dicts from wire to coefficient. Wire 0 is ONE, the next n_public are public."""

    def __init__(self, curve, n_wires, n_public, constraints):
        self.curve, self.n_wires, self.n_public, self.constraints = curve, n_wires, n_public, constraints

    def first_broken(self, witness):
        """Number and three values of the first constraint that does not hold; None."""
        r = self.curve.r
        for i, sides in enumerate(self.constraints):
            a, b, c = (sum(k * witness[w] for w, k in side.items()) % r for side in sides)
            if a * b % r != c:
                return i, a, b, c
        return None

    def rows(self):
        """The constraints and one more row a public wire and ONE."""
        return self.constraints + [({k: 1}, {}, {}) for k in range(self.n_public + 1)]

    def domain(self):
        n = 1
        while n < len(self.rows()):
            n *= 2
        return n


def lagrange(curve, root, n, tau):
    """All L_i(tau) of the n points root^i: (tau^n - 1)·root^i / (n·(tau - root^i))."""
    r = curve.r
    z = (pow(tau, n, r) - 1) * pow(n, -1, r) % r
    return [z * w * pow(tau - w, -1, r) % r for w in (pow(root, i, r) for i in range(n))]


def key_scalars(circuit, toxic, generator):
    """What the key's points are multiples of: A_i, B_i and (beta·A_i + alpha·B_i + C_i) of each wire."""
    curve, r, n = circuit.curve, circuit.curve.r, circuit.domain()
    basis = lagrange(curve, curve.root(generator, n), n, toxic["tau"])
    columns = [[0] * circuit.n_wires for _ in range(3)]
    for value, sides in zip(basis, circuit.rows()):
        for column, side in zip(columns, sides):
            for wire, k in side.items():
                column[wire] = (column[wire] + k * value) % r
    a, b, c = columns
    mixed = [(toxic["beta"] * x + toxic["alpha"] * y + z) % r for x, y, z in zip(a, b, c)]
    return a, b, mixed


def verify(curve, vk, public, proof):
    """e(A, B) = e(alpha, beta)·e(inputs, gamma)·e(C, delta)? vk: alpha, beta, gamma, delta, ic; proof: three points."""
    g1, _ = GROUPS[curve.name]
    inputs = vk["ic"][0]
    for value, point in zip(public, vk["ic"][1:], strict=True):
        inputs = g1.add(inputs, g1.mul(point, value))
    a, b, c = proof
    return pairings_are_one(curve, [(a, b), (g1.neg(vk["alpha"]), vk["beta"]), (g1.neg(inputs), vk["gamma"]),
                                    (g1.neg(c), vk["delta"])])
