#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Line coverage of the whole test suite: coverage.sh JOBS. HTML in build/coverage/html.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset coverage >/dev/null
cmake --build --preset coverage -j "$1"
find build/coverage -name '*.gcda' -delete
ctest --preset coverage -j "$1"
mkdir -p build/coverage/html
gcovr --root . --filter 'src/' --object-directory build/coverage --merge-mode-functions=separate \
    --html-details build/coverage/html/index.html --print-summary
