#!/bin/bash
# SPDX-License-Identifier: MIT
# Another user of the machine holds 300 half requests to `tailor serve`: who has the token is answered all the same.
. tests/live/begin.bash
[ "$(id -u)" = 0 ] || { echo "skipped, because only root can be another user, too"; exit 77; }
trap 'kill $server; rm -rf "$dir"' EXIT
"$B/tailor" serve tests/golden/v2.tlr >"$dir/out" 2>"$dir/said" &
server=$!
wait_for eval "[ -s '$dir/out' ] || [ -s '$dir/said' ]"
if grep -q libmicrohttpd "$dir/said"; then
	echo "skipped, because $(sed 's/^tailor serve: //' "$dir/said")"
	exit 77
fi
/usr/bin/python3 - "$(head -n 1 "$dir/out")" <<'END'
import os, socket, sys, urllib.request

url = sys.argv[1]
address = ("127.0.0.1", int(url.split("/")[2].split(":")[1]))
ready, go = os.pipe()
over, end = os.pipe()
if os.fork() == 0:
    os.setgid(65534)
    os.setuid(65534)
    held = []
    for _ in range(300):
        held.append(socket.create_connection(address))
        held[-1].sendall(b"GET /x HTTP/1.1\r\nHost: x\r\nX: ")
    os.write(go, b"1")
    os.close(end)
    os.read(over, 1)
    os._exit(0)
os.read(ready, 1)
status = urllib.request.urlopen(url, timeout=60).status
if status != 200:
    print(f"{url}: expected 200, got {status}")
    sys.exit(1)
END
