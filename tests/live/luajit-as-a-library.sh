#!/bin/bash
# SPDX-License-Identifier: MIT
# LuaJIT's traces have names in programs that use it as a library: linked, loaded with lazy and with immediate binding, in several states;
# and in nginx's workers under ab.
. tests/live/begin.bash
judge /usr/bin/python3 tests/hosts/jits.py "$B" --check "luajit embedded:adapter" "nginx lua:adapter"
finish
