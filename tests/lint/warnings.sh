#!/bin/bash
# SPDX-License-Identifier: MIT
# Both compilers, warnings as errors.  The compiler that made BUILD has been through already where WERROR was set.
set -u
for cc in clang gcc; do
	if ! make -s -j"$(nproc)" B="$1/lint-$cc" CC=$cc WERROR=1 CFLAGS="-O1" all; then
		echo "make CC=$cc WERROR=1 all: failed"
		exit 1
	fi
done
echo "gcc and clang build everything without a warning"
