#!/bin/bash
# SPDX-License-Identifier: MIT
# jitreg.h compiles alone, without a warning, as C99, C11 and C++17, with gcc and clang, and needs no library.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/use.c" <<'END'
#include "jitreg.h"
int main(void)
{
	struct jitreg_tracker t = { 2, 1, 0, 0, { 0 } };

	jitreg_level(1, "operator", 0, JITREG_LEVEL_PLAN);
	jitreg_tracker_push(&t, 7);
	jitreg_tracker_link(&t, 1);
	jitreg_tracker_pop(&t);
	return jitreg_code_load(0x1000, 16, 1, "f", 0) == -ENOSYS ? 0 : 1;
}
END
cp "$dir/use.c" "$dir/use.cc"
sed -i 's/{ 2, 1, 0, 0, { 0 } }/{ 2, 1, 0, 0, {} }/' "$dir/use.cc"
for cc in gcc clang; do
	for std in c99 c11 gnu11; do
		$cc -std=$std -Wall -Wextra -Werror -pedantic -Ijitreg "$dir/use.c" -o "$dir/use" -ldl || exit 1
		"$dir/use" || { echo "$cc -std=$std: expected -ENOSYS without an agent"; exit 1; }
	done
done
for cxx in g++ clang++; do
	$cxx -std=c++17 -Wall -Wextra -Werror -pedantic -Ijitreg "$dir/use.cc" -o "$dir/use" -ldl || exit 1
	"$dir/use" || { echo "$cxx: expected -ENOSYS without an agent"; exit 1; }
done
echo "jitreg.h compiles alone as C99, C11 and C++17"
