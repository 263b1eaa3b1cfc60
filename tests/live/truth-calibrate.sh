#!/bin/bash
# SPDX-License-Identifier: MIT
# See truth.py: the witness "calibrate", in both scopes.
# Long: the other witnesses of truth.py are in each check.
. tests/evidence.bash
for scope in cpu thread; do
	judge /usr/bin/python3 tests/live/truth.py "$1" calibrate $scope
done
finish
