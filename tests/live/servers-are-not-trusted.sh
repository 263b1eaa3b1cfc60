#!/bin/bash
# SPDX-License-Identifier: MIT
# Servers that answer what they should not get one sentence each: a receiver of OTLP's profiles that takes a part of them, or is none; a
# ClickHouse that is none, fails amid an answer, or never ends one.  What is not there is not "pushed", and memory is bounded.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
TZ=UTC /usr/bin/python3 tests/live/servers.py "$(cd "$1" && pwd)" "$dir"
