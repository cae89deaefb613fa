#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Line coverage of the whole test suite: coverage.sh JOBS. HTML in build/coverage/html; a table by
# folder at the end. Fails when arithmetic or decoders have less than 95 % of their lines run.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset coverage >/dev/null
cmake --build --preset coverage -j "$1"
find build/coverage -name '*.gcda' -delete
ctest --preset coverage -j "$1"
mkdir -p build/coverage/html
# lines of headers that several programs include are merged: a line counts when any of them ran it
gcovr --root . --filter 'src/' --object-directory build/coverage -j "$1" \
    --html-details build/coverage/html/index.html --json-summary build/coverage/summary.json
python3 tools/coverage_table.py build/coverage/summary.json
