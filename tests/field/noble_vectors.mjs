// SPDX-License-Identifier: MIT OR Apache-2.0
// Field operations computed by @noble/curves, an independent implementation, one case a line:
//
//   node tests/field/noble_vectors.mjs SEED CASES > vectors.txt
//
// CASES per field, for fr, fp, fp2 of both curves. A line is "curve field name=value ..."; a value
// is a plain integer in hexadecimal, in fp2 "c0,c1"; sqrt=none where there is no root. Inputs are
// a third edge values, the rest random. Exit code 77 when the npm package is not installed; it is
// looked for in tests/peers, the repository's root and $CUZK_NODE_MODULES.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const places = [
    process.env.CUZK_NODE_MODULES,
    join(here, '../peers/node_modules'),
    join(here, '../../node_modules'),
].filter(Boolean);
const place = places.find((p) => existsSync(join(p, '@noble/curves/package.json')));
if (!place) {
    console.error(`noble_vectors: @noble/curves not found in ${places.join(', ')}`);
    process.exit(77);
}
const load = (file) => import(pathToFileURL(join(place, '@noble/curves', file)).href);
const { bls12_381 } = await load('bls12-381.js');
const { bn254 } = await load('bn254.js');
const pkg = await import(pathToFileURL(join(place, '@noble/curves/package.json')).href, {
    with: { type: 'json' },
});

const seed = process.argv[2] ?? '1';
const cases = Number(process.argv[3] ?? 100);

let counter = 0;
function random(bits) {
    // SHA-256 in counter mode, so that a seed means the same everywhere
    let v = 0n;
    for (let have = 0; have < bits; have += 256) {
        const h = createHash('sha256').update(`${seed}/${counter++}`).digest('hex');
        v = (v << 256n) | BigInt('0x' + h);
    }
    return v;
}

function scalar(p, words) {
    const r = 1n << BigInt(64 * words);
    const k = random(64);
    const bit = 1n << (k / 16n) % BigInt(64 * words);
    const edges = [
        0n, 1n, 2n, 3n, p - 1n, p - 2n, (p - 1n) / 2n, (p + 1n) / 2n,
        r % p, (r * r) % p, (r - 1n) % p, bit % p, (bit - 1n) % p, (p - bit % p) % p,
        ((1n << 64n) - 1n) << BigInt(64 * (words - 1)), // top word full
    ];
    return k % 3n === 0n ? edges[Number((k / 3n) % BigInt(edges.length))] % p : random(512) % p;
}

const hex = (v) => (typeof v === 'bigint' ? v.toString(16) : `${hex(v.c0)},${hex(v.c1)}`);

function root(F, a) {
    try {
        return hex(F.sqrt(a));
    } catch {
        return 'none';
    }
}

const lines = [
    `# @noble/curves ${pkg.default.version}, tests/field/noble_vectors.mjs ${seed} ${cases}`,
];
for (const [curve, fields, words] of [
    ['bn254', bn254.fields, 4],
    ['bls12_381', bls12_381.fields, 6],
]) {
    const specs = [
        ['fr', fields.Fr, () => scalar(fields.Fr.ORDER, 4)],
        ['fp', fields.Fp, () => scalar(fields.Fp.ORDER, words)],
        ['fp2', fields.Fp2, () => ({
            c0: scalar(fields.Fp.ORDER, words),
            c1: scalar(fields.Fp.ORDER, words),
        })],
    ];
    for (const [name, F, draw] of specs) {
        for (let i = 0; i < cases; i++) {
            const a = draw();
            const b = draw();
            const out = {
                a, b, add: F.add(a, b), sub: F.sub(a, b), neg: F.neg(a), mul: F.mul(a, b),
                sqr: F.sqr(a), inv: F.is0(a) ? a : F.inv(a),
            };
            if (name === 'fp2') {
                out.xi = F.mulByNonresidue(a);
                out.conj = F.frobeniusMap(a, 1);
            }
            const values = Object.entries(out).map(([k, v]) => `${k}=${hex(v)}`);
            if (name !== 'fr') {
                values.push(`sqrt=${root(F, a)}`);
            }
            lines.push(`${curve} ${name} ${values.join(' ')}`);
        }
    }
}
console.log(lines.join('\n'));
