#!/bin/bash
# SPDX-License-Identifier: MIT
# Who does not know the token of `tailor serve` holds 500 half requests to it, and one more whose head goes on and never ends: who has the
# token is answered all the same, and that head is given up.
. tests/live/begin.bash
trap 'kill $server; rm -rf "$dir"' EXIT
"$B/tailor" serve tests/golden/v2.tlr >"$dir/out" 2>"$dir/said" &
server=$!
wait_for eval "[ -s '$dir/out' ] || [ -s '$dir/said' ]"
if grep -q libmicrohttpd "$dir/said"; then
	echo "skipped, because $(sed 's/^tailor serve: //' "$dir/said")"
	exit 77
fi
/usr/bin/python3 - "$(head -n 1 "$dir/out")" "$PATIENCE_S" <<'END'
import socket, sys, time, urllib.request

url, patience_s = sys.argv[1], float(sys.argv[2])
address = ("127.0.0.1", int(url.split("/")[2].split(":")[1]))

def begin():
    s = socket.create_connection(address)
    s.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\nX: ")
    return s

endless = begin()
held = [begin() for _ in range(500)]
status = urllib.request.urlopen(url, timeout=patience_s).status
if status != 200:
    sys.exit(f"{url}: expected 200, got {status}")
for s in held:
    s.close()
endless = begin()
end = time.monotonic() + patience_s
try:
    while time.monotonic() < end:
        endless.sendall(b"x")
        time.sleep(0.5)
    sys.exit(f"expected a head that never ends to be given up, and it goes on after {patience_s} s")
except (BrokenPipeError, ConnectionResetError):
    pass
status = urllib.request.urlopen(url, timeout=patience_s).status
if status != 200:
    sys.exit(f"{url}: expected 200 at the end, got {status}")
END
