// SPDX-License-Identifier: MIT OR Apache-2.0
// Known answers of the curves from @noble/curves (npm, MIT), an implementation that shares no code
// with this one. Written to tests/fixtures/curve/{bn254,bls12_381}.txt.gz:
//
//     node tests/curve/make_vectors.mjs FOLDER_WITH_node_modules
//
// Lines of words, numbers in hexadecimal, coordinates in plain form, Fp2 as c0 c1:
//   g1mul k x y            k·generator, the points are numbered from 0 in file order
//   g1add i j x y          sum of two of the points above; "inf" instead of x y for infinity
//   g1out x y              on the curve, outside the subgroup of order r
//   g1enc i compressed uncompressed    encodings of point i (bls12_381)
//   g2mul g2add g2out g2enc            the same for G2
//   gt k1 k2 c0 … c11      e(k1·G1, k2·G2), order of cuzk_gt (src/curve/curve.h)
// Random numbers come from SHA-256 of a counter: the files are reproducible.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import path from 'node:path';

const require = createRequire(path.resolve(process.argv[2], 'package.json'));
const { bls12_381 } = require('@noble/curves/bls12-381.js');
const { bn254 } = require('@noble/curves/bn254.js');

const COUNTS = { g1mul: 1000, g1add: 1000, g2mul: 500, g2add: 500, gt: 24, out: 20, enc: 60 };

let counter = 0;
function random(bits) {
  let v = 0n;
  for (let n = 0; n < bits; n += 256) {
    v = (v << 256n) | BigInt('0x' + createHash('sha256').update(`cuzk curve ${counter++}`).digest('hex'));
  }
  return v & ((1n << BigInt(bits)) - 1n);
}

const hex = (v) => v.toString(16);
const hexes = (v) => (typeof v === 'bigint' ? hex(v) : `${hex(v.c0)} ${hex(v.c1)}`);
const bytes = (b) => Buffer.from(b).toString('hex');

function scalars(r, x, n) {
  const lambda = [x * x, x * x - 1n, 6n * x * x, 36n * x ** 3n + 18n * x ** 2n + 6n * x + 1n];
  const list = [1n, 2n, 3n, 4n, 5n, 15n, 16n, 17n, 31n, 32n, x, x - 1n, x + 1n, r >> 1n];
  for (const l of lambda) {
    list.push(l % r, (l + 1n) % r, (l * x) % r);
  }
  for (const shift of [31, 32, 63, 64, 65, 127, 128, 129, 191, 192, 253]) {
    list.push(1n << BigInt(shift), (1n << BigInt(shift)) - 1n);
  }
  const edge = list.filter((k) => k > 0n && k < r);
  const all = [...new Set([...edge, ...edge.map((k) => r - k)])];
  while (all.length < n) {
    const k = random([64, 128, 253, 253, 253, 253][all.length % 6]);
    all.push(k === 0n ? 1n : k);
  }
  return all.slice(0, n);
}

// y of a point over Fp or Fp2 with this x, or null
function solve(F, b, x) {
  try {
    return F.sqrt(F.add(F.mul(F.sqr(x), x), b));
  } catch {
    return null;
  }
}

function group(lines, name, curve, Point, F, order, primes, r, x, fpOrder) {
  const ks = scalars(r, x, COUNTS[name + 'mul']);
  const points = ks.map((k) => Point.BASE.multiply(k));
  points.forEach((p, i) => {
    const a = p.toAffine();
    lines.push(`${name}mul ${hex(ks[i])} ${hexes(a.x)} ${hexes(a.y)}`);
  });
  const index = new Map(ks.map((k, i) => [k, i]));
  for (let n = 0; n < COUNTS[name + 'add']; n++) {
    let i = Number(random(32)) % ks.length;
    let j = Number(random(32)) % ks.length;
    if (n % 8 === 0) j = i;
    if (n % 8 === 1) {
      i = n % 60;
      j = index.get(r - ks[i]) ?? i;
    }
    const s = points[i].add(points[j]);
    const a = s.toAffine();
    lines.push(`${name}add ${i} ${j} ${s.is0() ? 'inf' : `${hexes(a.x)} ${hexes(a.y)}`}`);
  }
  // outside the subgroup: random points, and points whose order is a small prime
  if (order !== r) {
    const two = typeof Point.BASE.toAffine().x !== 'bigint';
    const find = () => {
      for (;;) {
        const x0 = two ? F.fromBigTuple([random(512) % fpOrder, random(512) % fpOrder]) : random(512) % fpOrder;
        const y0 = solve(F, Point.CURVE().b ?? curve.b, x0);
        if (y0 !== null) return Point.fromAffine({ x: x0, y: y0 });
      }
    };
    const times = (p, k) => {
      let out = Point.ZERO;
      for (const bit of k.toString(2)) {
        out = out.double();
        if (bit === '1') out = out.add(p);
      }
      return out;
    };
    const outside = [];
    while (outside.length < COUNTS.out) outside.push(find());
    for (const q of primes) {
      let cofactor = order;
      while (cofactor % q === 0n) cofactor /= q;
      if (cofactor === order) throw new Error(`${name}: ${q} does not divide the order`);
      let p = Point.ZERO;
      while (p.is0()) p = times(find(), cofactor);
      for (let next = times(p, q); !next.is0(); next = times(p, q)) p = next;
      outside.push(p, p.add(Point.BASE));
    }
    for (const p of outside) {
      if (times(p, r).is0()) throw new Error(`${name}: expected a point outside the subgroup`);
      const a = p.toAffine();
      lines.push(`${name}out ${hexes(a.x)} ${hexes(a.y)}`);
    }
  }
  return points;
}

function pairings(lines, curve, Point1, Point2, Fp12, r, x) {
  const ks = scalars(r, x, 200);
  for (let n = 0; n < COUNTS.gt; n++) {
    const k1 = ks[(n * 37) % ks.length];
    const k2 = ks[n === 0 ? 0 : (n * 91 + 150) % ks.length];
    const e = curve.pairing(Point1.BASE.multiply(k1), Point2.BASE.multiply(k2));
    const c = [e.c0, e.c1].flatMap((h) => [h.c0, h.c1, h.c2]).flatMap((f) => [f.c0, f.c1]);
    lines.push(`gt ${hex(k1)} ${hex(k2)} ${c.map(hex).join(' ')}`);
  }
}

function make(file, curve, r, x, traceOrders, primes) {
  const lines = [];
  const { Fp, Fp2, Fp12 } = curve.fields;
  const P1 = curve.G1.Point, P2 = curve.G2.Point;
  const p1 = group(lines, 'g1', curve.G1, P1, Fp, traceOrders[0], primes[0], r, x, Fp.ORDER);
  const p2 = group(lines, 'g2', curve.G2, P2, Fp2, traceOrders[1], primes[1], r, x, Fp.ORDER);
  if (curve === bls12_381) {
    for (const [name, points] of [['g1', p1], ['g2', p2]]) {
      for (let i = 0; i < COUNTS.enc; i++) {
        const p = points[i * 7];
        lines.push(`${name}enc ${i * 7} ${bytes(p.toBytes(true))} ${bytes(p.toBytes(false))}`);
      }
    }
  }
  pairings(lines, curve, P1, P2, Fp12, r, x);
  const out = path.join(path.dirname(new URL(import.meta.url).pathname), '..', 'fixtures', 'curve', file + '.txt.gz');
  writeFileSync(out, gzipSync(Buffer.from(lines.join('\n') + '\n'), { level: 9 }));
  console.log(`${out}: ${lines.length} lines`);
}

{
  const x = 4965661367192848881n;
  const r = bn254.fields.Fr.ORDER;
  const p = bn254.fields.Fp.ORDER;
  make('bn254', bn254, r, x, [r, r * (2n * p - r)], [[], [10069n, 5864401n, 1875725156269n]]);
}
{
  const x = 0xd201000000010000n;
  const r = bls12_381.fields.Fr.ORDER;
  const h1 = 0x396c8c005555e1568c00aaab0000aaabn;
  const h2 = 0x5d543a95414e7f1091d50792876a202cd91de4547085abaa68a205b2e5a7ddfa628f1cb4d9e82ef21537e293a6691ae1616ec6e786f0c70cf1c38e31c7238e5n;
  make('bls12_381', bls12_381, r, x, [h1 * r, h2 * r],
    [[3n, 11n, 10177n, 859267n, 52437899n], [13n, 23n, 2713n, 11953n, 262069n]]);
}
