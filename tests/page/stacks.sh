#!/bin/bash
# SPDX-License-Identifier: MIT
# Flame graphs have the calls of `tailor export --format folded`, in both directions, also of a range of time.
. tests/page/begin.bash
need_page
timeout 3000 node tests/page/stacks.mjs "$B" "$dir" tests/golden/v2.tlr tests/golden/compare/q3.tlr tests/golden/views/queries.tlr
