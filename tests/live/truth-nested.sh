#!/bin/bash
# SPDX-License-Identifier: MIT
# See truth.py: the witness "nested", in both scopes.
for scope in cpu thread; do
	/usr/bin/python3 tests/live/truth.py "$1" nested $scope || exit 1
done
