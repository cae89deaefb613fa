#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# host_side.sh BUILD_DIR [CARDS [PARTITION_MS]]: how many processors and how much of the memory's rate
# the host of CARDS (8) cards needs, each of which takes PARTITION_MS (800) for a partition of a 32GiB
# PoRep. Needs no card: bench_host_side with a made-up sector's request. CSV and comments on stdout.
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/cuzk" gen-vanilla porep "$work/porep.van" --request "$work/porep.req" --sector-size "${SECTOR:-32GiB}" >/dev/null
echo "# $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $(getconf _NPROCESSORS_ONLN) processors, $("$build/cuzk" devices | head -n 1)"
"$build/bench/bench_host_side" "$work/porep.van" "$work/porep.req" "${@:2}"
