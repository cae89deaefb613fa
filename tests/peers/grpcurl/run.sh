#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# run.sh GRPCURL SOCKET: grpcurl without a proto file against the daemon at the Unix socket SOCKET, as
# the operator's guide shows it (BC-121). Debian has no grpcurl: 1.8.0 builds with Debian's
# golang-google-grpc-dev and protoreflect 1.8.1, without its import of grpc/xds.
set -euo pipefail
grpcurl=$1 socket=$2

expect() { # TEXT ARGUMENT...
    local text=$1 found
    shift
    found=$("$grpcurl" -plaintext -unix "$@" 2>&1) || true
    grep -qF -- "$text" <<<"$found" || { printf 'FAILED: %s\n%s\n' "$*" "$found"; exit 1; }
}

expect cuzk.v1.ProvingEngine "$socket" list
expect grpc.health.v1.Health "$socket" list
for call in SubmitProof AwaitProof Prove CancelProof GetStatus GetMetrics PreloadSRS EvictSRS; do
    expect "cuzk.v1.ProvingEngine.$call" "$socket" list cuzk.v1.ProvingEngine
done
expect 'repeated bytes vanilla_proofs = 11;' "$socket" describe cuzk.v1.SubmitProofRequest
expect uptimeSeconds "$socket" cuzk.v1.ProvingEngine/GetStatus
expect 'Code: NotFound' -d '{"job_id":"nobody"}' "$socket" cuzk.v1.ProvingEngine/AwaitProof
expect 'Code: InvalidArgument' -d '{"submit":{"proof_kind":"WINNING_POST"}}' "$socket" cuzk.v1.ProvingEngine/Prove
expect SERVING "$socket" grpc.health.v1.Health/Check
echo 'all is well'
