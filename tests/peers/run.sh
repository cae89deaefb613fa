#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# run.sh BUILD_DIR: compare with snarkjs and @noble/curves, which share no code with this project.
# They are installed from npm into build/peers, by the versions of package-lock.json. Without npm or
# a registry the comparison is skipped, by name, with exit code 77.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(cd "$1" && pwd)
folder=build/peers

skip() {
    echo "skipped: comparison with snarkjs and noble: $1"
    exit 77
}

command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
mkdir -p "$folder"
if ! cmp -s tests/peers/package-lock.json "$folder/installed-lock.json"; then
    cp tests/peers/package.json tests/peers/package-lock.json "$folder/"
    (cd "$folder" && npm ci --no-audit --no-fund --loglevel=error) ||
        skip "npm cannot install snarkjs and @noble/curves"
    cp tests/peers/package-lock.json "$folder/installed-lock.json"
fi

# the vectors of tests/curve come out of noble again, bit for bit
rm -rf "$folder/vectors"
mkdir -p "$folder/vectors/curve" "$folder/vectors/fixtures/curve"
cp tests/curve/make_vectors.mjs "$folder/vectors/curve/"
node "$folder/vectors/curve/make_vectors.mjs" "$folder"
for curve in bn254 bls12_381; do
    cmp <(gzip -dc "$folder/vectors/fixtures/curve/$curve.txt.gz") \
        <(gzip -dc "tests/fixtures/curve/$curve.txt.gz")
    echo "noble gives the checked-in vectors of $curve"
done

node tests/peers/snarkjs.mjs "$folder" "$build/cuzk"
