#!/bin/bash
# SPDX-License-Identifier: MIT
# The source archive: dist/source.sh BUILD VERSION leaves BUILD/tailor-VERSION.tar.gz, of what is committed, or of the files of an unpacked
# archive.  The same files give the same bytes.
set -euo pipefail
out=$1/tailor-$2.tar.gz name=tailor-$2
if [ -e .git ]; then
	git diff --quiet HEAD || echo "make: changes that are not committed are not in $out" >&2
	git archive --format=tar --prefix="$name/" HEAD
else
	find . -path ./build -prune -o -type f -print0 | sed -z 's|^\./||' | LC_ALL=C sort -z |
		tar --null --files-from=- --transform "s|^|$name/|" --mtime="@$(dist/date.sh)" --owner=0 --group=0 --numeric-owner \
			--mode=u+w,go-w -cf -
fi | gzip -9n >"$out.new"
mv "$out.new" "$out"
echo "$out: $(du -h "$out" | cut -f1)"
