#!/bin/bash
# SPDX-License-Identifier: MIT
# A range of time, then a pipeline, then an operator: all views show the samples that `tailor report` counts; chips, undo and the page's
# address have them, too.
. tests/page/begin.bash
need_page
recording "$dir/recording.tlr" || exit 1
timeout 3000 node tests/page/agree.mjs "$B" "$dir/recording.tlr" "$dir"
