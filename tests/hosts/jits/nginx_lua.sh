#!/bin/bash
# SPDX-License-Identifier: MIT
# nginx with its Lua module under ab, without installing the module (its LuaJIT conflicts with Debian's other one):
# nginx_lua.sh --get MODULE               fetches it, once
# nginx_lua.sh MODULE FOLDER SECONDS      serves, and ends; FOLDER: for nginx's files
# (MODULE is not in FOLDER: libraries that are loaded from a temporary folder count as generated code.)
set -u
if [ "$1" = --get ]; then
	command -v nginx >/dev/null && command -v ab >/dev/null && command -v curl >/dev/null ||
		{ echo "nginx, ab or curl is not installed (nginx-light apache2-utils curl)" >&2; exit 1; }
	[ ! -e "$2/complete" ] || exit 0
	mkdir -p "$2" && cd "$2" || exit 1
	timeout 60 apt-get download -q libnginx-mod-http-lua libnginx-mod-http-ndk libluajit2-5.1-2 lua-resty-core lua-resty-lrucache >&2 ||
		exit 1
	for package in *.deb; do dpkg -x "$package" . || exit 1; done
	touch complete
	exit 0
fi
module=$1
chmod 755 "$2" # nginx's workers may have a user of their own
cd "$2" || exit 1
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
temporary=
for kind in client_body proxy fastcgi uwsgi scgi; do temporary+="${kind}_temp_path $PWD/nginx-$kind; "; done
cat >nginx.conf <<END
load_module $module/usr/lib/nginx/modules/ndk_http_module.so;
load_module $module/usr/lib/nginx/modules/ngx_http_lua_module.so;
worker_processes 2;
daemon off;
pid $PWD/pid;
error_log $PWD/errors;
events { worker_connections 256; }
http {
	access_log off;
	$temporary
	lua_package_path "$module/usr/share/lua/5.1/?.lua;;";
	server {
		listen 127.0.0.1:$port;
		location / { content_by_lua_block {
			local sum = 0
			for i = 1, 200000 do
				sum = (sum * 31 + i) % 1000003
			end
			ngx.say(sum)
		} }
	}
}
END
# what goes wrong is in there
: >errors
rm -f pid
LD_LIBRARY_PATH=$(echo "$module"/usr/lib/*-linux-gnu) nginx -p "$PWD/" -c "$PWD/nginx.conf" &
for ((i = 0; i < 1000; i++)); do
	curl -s "http://127.0.0.1:$port/" && break
	kill -0 $! || exit 1
	sleep 0.05
done
timeout "$3" ab -q -n 10000000 -c 4 "http://127.0.0.1:$port/" >/dev/null 2>&1
curl -s "http://127.0.0.1:$port/"
kill -QUIT $!
wait $!
status=$?
grep -v "signal\|exiting\|\[notice\]" errors
exit $status
