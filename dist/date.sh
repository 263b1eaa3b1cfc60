#!/bin/sh
# SPDX-License-Identifier: MIT
# When this source was committed, in seconds since 1970: what archives and packages have instead of the time at which they were built.
# An unpacked archive's files have it.
if [ "${SOURCE_DATE_EPOCH:-}" ]; then
	echo "$SOURCE_DATE_EPOCH"
elif [ -e .git ]; then
	git log -1 --format=%ct
else
	stat -c %Y Makefile
fi
