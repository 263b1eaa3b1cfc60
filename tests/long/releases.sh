#!/bin/bash
# SPDX-License-Identifier: MIT
# make release twice, in two folders, gives the same bytes, and lintian finds nothing in the packages.  The source archive builds without
# git and passes check-quick there; so do the installed package's and the portable folder's command in place of its own.  Both have the
# licences of what they bring; removing the packages leaves nothing.  The documents become pages whose links all lead to files, as a
# reader of HTML sees them.
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

git -c safe.directory='*' clone -q . "$dir/one" && git clone -q "$dir/one" "$dir/another/below" || exit 1 # of one commit
for n in one another/below; do
	(cd "$dir/$n" && make -s release) >"$dir/log" 2>&1 && continue
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

for library in tailor $(cd "$dir/portable" && ls lib/*); do
	read -r _ package _ < <(grep "^$library " "$dir/portable/licences/SOURCES")
	[ -s "$dir/portable/licences/${package:-none}" ] || fail "the portable folder has no licence of $library"
done
linked=("$dir/package/usr/share/doc/tailor/linked"/*)
[ ${#linked[@]} -ge 5 ] || fail "of static libraries' licences the package has ${linked[*]}"
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$dir"/root/var/lib/dpkg/{info,updates}
	: >"$dir/root/var/lib/dpkg/status"
	on_root() {
		dpkg --root="$dir/root" --log="$dir/dpkg.log" --force-depends --force-script-chrootless "$@" >"$dir/log" 2>&1 ||
			fail "dpkg $*: $(cat "$dir/log")"
	}
	on_root --install "$released"/tailor_*.deb "$released"/libjitreg-dev_*.deb
	[ -x "$dir/root/usr/bin/tailor" ] || fail "dpkg installed no tailor"
	on_root --purge tailor libjitreg-dev
	left=$(find "$dir/root" -mindepth 1 -path "$dir/root/var/lib/dpkg" -prune -o ! -type d -print)
	[ -z "$left" ] || fail "removing the packages leaves $left"
fi

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
