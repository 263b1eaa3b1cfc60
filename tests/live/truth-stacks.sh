#!/bin/bash
# SPDX-License-Identifier: MIT
# See truth.py: the witness "stacks", in both scopes.
for scope in cpu thread; do
	/usr/bin/python3 tests/live/truth.py "$1" stacks $scope || exit 1
done
