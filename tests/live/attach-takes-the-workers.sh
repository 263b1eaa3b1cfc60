#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor attach` of the first process of a server takes the workers that do its work: all of them have samples, which stand for the
# processor time that the kernel says they used; so they do beside 25 busy processes.  --tree takes all below a process, --name those of a
# name.  Servers that are not installed are left out.
# Rights: a user's samples have no time in the kernel, and the recorder no priority
. tests/live/begin.bash
chmod 755 "$dir" # servers of root have workers of another user
judge /usr/bin/python3 tests/live/attach_takes_the_workers.py "$B" "$dir"
finish
