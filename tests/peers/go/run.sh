#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# run.sh ADDRESS OUT [FLOOD]: build the grpc-go client (Debian: golang-go golang-google-grpc-dev
# golang-google-protobuf-dev golang-goprotobuf-dev
# protoc-gen-go-1-5 protoc-gen-go-grpc protobuf-compiler) and drive the daemon at ADDRESS with it.
# The daemon must have the 2KiB parameters and allow test keys. Proofs go to OUT.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
address=$1
out=$2
flood=${3:-100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/cuzk/v1" "$work/src/client" "$out"
protoc -I"$root/proto" --go_out="$work/src" --go-grpc_out="$work/src" cuzk/v1/proving.proto
cp "$root/tests/peers/go/main.go" "$work/src/client/"
(cd "$work/src/client" && GO111MODULE=off GOPATH=$work:/usr/share/gocode GOFLAGS=-buildvcs=false \
    GOCACHE=${GOCACHE:-$work/cache} go build -o "$work/go-client" .)
"$work/go-client" "$address" "$root/tests/fixtures/cases" "$out" "$flood"
