#!/bin/bash
# SPDX-License-Identifier: MIT
# make release twice, in two folders, gives the same bytes, and lintian finds nothing in the packages.  The source archive builds without
# git and passes check-quick there; so do the installed package's and the portable folder's command in place of its own.  The documents
# become pages whose links all lead to files, as a reader of HTML sees them.
set -u
B=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "$@"; bad=1; }
unset MAKEFLAGS MAKELEVEL MAKEOVERRIDES
export -n B
[ -e .git ] || { echo "skipped, because this is not git's checkout"; exit 77; }
for tool in lintian dpkg-buildpackage fakeroot cmark-gfm; do
	command -v $tool >/dev/null && continue
	echo "skipped, because $tool is missing (apt-get install lintian debhelper dpkg-dev fakeroot cmark-gfm)"
	exit 77
done

for n in one another/below; do
	git -c safe.directory='*' clone -q . "$dir/$n" && (cd "$dir/$n" && make -s release) >"$dir/log" 2>&1 && continue
	tail -n 40 "$dir/log"
	exit 1
done
diff "$dir/one/build/release/SHA256SUMS" "$dir/another/below/build/release/SHA256SUMS" || fail "two builds of one commit differ"
rm -rf "$dir/another"
released=$dir/one/build/release version=$(sed -n "s/^VERSION := //p" Makefile)
(cd "$released" && sha256sum --quiet -c SHA256SUMS) || fail "SHA256SUMS are of other files"
lintian --fail-on error,warning,info,pedantic "$released"/*.deb "$released"/*.dsc >"$dir/log" 2>&1 || fail "lintian: $(cat "$dir/log")"

# a build folder in which `tailor`, and what is found beside it, is another one's
in_place_of_built() { # NAME FOLDER-OF-PROGRAM FOLDER-OF-LIBRARY
	mkdir "$dir/other"
	ln -s "$dir/source/build"/* "$dir/other/"
	rm "$dir/other/"{tailor,tailor-record,libtailor.so,libtailor-intel.so}
	ln -s "$2/tailor" "$3"/{tailor-record,libtailor.so,libtailor-intel.so} "$dir/other/"
	(cd "$dir/source" && QUICK=1 tests/run.sh "$dir/other" golden) >"$dir/log" 2>&1 || fail "$1: $(grep -A 20 ^FAILED "$dir/log")"
	rm -rf "$dir/other"
}
mkdir "$dir/source" "$dir/package" "$dir/portable"
tar -C "$dir/source" --strip-components=1 -xzf "$released/tailor-$version.tar.gz"
(cd "$dir/source" && make -s check-quick) >"$dir/log" 2>&1 || fail "check-quick of the source archive: $(grep -A 20 ^FAILED "$dir/log")"
for deb in "$released"/tailor_*.deb; do dpkg-deb -x "$deb" "$dir/package"; done
in_place_of_built "the package" "$dir/package/usr/bin" "$dir/package/usr/lib/tailor"
tar -C "$dir/portable" --strip-components=1 -xzf "$released"/tailor-*-x86_64.tar.gz
in_place_of_built "the portable folder" "$dir/portable" "$dir/portable"

make -s B="$B" site >"$dir/log" 2>&1 || fail "make site: $(cat "$dir/log")"
/usr/bin/python3 - "$B/site" <<'PYTHON' || bad=1
import os, sys
from html.parser import HTMLParser

class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(open(path, encoding="utf-8").read())

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.ids.add(a.get("id"))
        self.links += [a[k] for k in ("href", "src") if k in a]

pages = {os.path.join(d, f): Page(os.path.join(d, f)) for d, _, files in os.walk(sys.argv[1]) for f in files if f.endswith(".html")}
dead, links = [], 0
for path, page in pages.items():
    for link in page.links:
        if "://" in link or link.startswith("mailto:"):
            continue
        links += 1
        to, _, anchor = link.partition("#")
        at = os.path.normpath(os.path.join(os.path.dirname(path), to)) if to else path
        if not os.path.isfile(at) or anchor and anchor not in pages[at].ids:
            dead.append(f"{path}: {link}")
print(f"FIGURE {len(pages)} pages, {links} links")
sys.exit("\n".join(dead) if dead or links < 500 else 0)
PYTHON
exit $bad
