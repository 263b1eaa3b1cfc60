#!/bin/bash
# SPDX-License-Identifier: MIT
# A store of epochs: what goes in comes out, by window, in hours and days as in epochs; its size stays below its cap; a planted change is
# found, and nothing else; whatever is done to it (kill -9, a full disk, planted damages, readers beside a writer), what was in it is there
# or said to be lost.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
/usr/bin/python3 tests/golden/store.py "$1/tailor" "$dir"
