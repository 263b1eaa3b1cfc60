#!/bin/bash
# SPDX-License-Identifier: MIT
# See truth.py: the witness "calibrate", in both scopes.
for scope in cpu thread; do
	/usr/bin/python3 tests/live/truth.py "$1" calibrate $scope || exit 1
done
