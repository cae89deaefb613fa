#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Line coverage of the whole test suite: coverage.sh JOBS. A table by folder, and the lines that
# never ran in build/coverage/not_run.txt. Fails when arithmetic or decoders are below 95 %.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset coverage >/dev/null
cmake --build --preset coverage -j "$1"
find build/coverage -name '*.gcda' -delete
ctest --preset coverage -j $((4 * $1))
python3 tools/coverage_table.py build/coverage "$1"
