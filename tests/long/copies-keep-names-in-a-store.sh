#!/bin/bash
# SPDX-License-Identifier: MIT
# Two services that run copies of one file, in 50 epochs, and 20 pairs of windows in which nothing changed.
EPOCHS=50 PAIRS=20 exec tests/live/copies-keep-names-in-a-store.sh "$1"
