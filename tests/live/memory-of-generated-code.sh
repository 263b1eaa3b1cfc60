#!/bin/bash
# SPDX-License-Identifier: MIT
# Code that is generated into the mapping of a file is generated code, not an image: whether the file is a heap that is mapped writable and
# executable, was removed, or is mapped twice.  Its region goes by the file and by the function that mapped it, or by what a perf map says,
# wherever the file is.
. tests/live/begin.bash
command -v g++ >/dev/null || skip "g++ is not installed"
cat >"$dir/host.cc" <<'END'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

/* push rbp; mov rbp, rsp; 1: dec rdi; jnz 1b; pop rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3 };

namespace jit {
static inline __attribute__((always_inline)) void *map(int protection, int flags, int fd)
{
	return mmap(nullptr, 4096, protection, flags, fd, 0);
}

static void name(void *at)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	fprintf(map, "%lx %zx named_in_a_file\n", (unsigned long)at, sizeof(code));
	fclose(map);
}
struct memory {
	__attribute__((noinline)) static void *allocate(char how, const char *path)
	{
		int fd = how == 'a' ? -1 : open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		void *at, *other = nullptr;

		if (fd >= 0 && ftruncate(fd, 4096))
			exit(1);
		if (how == 'd' || how == 'n') /* twice */
			other = map(PROT_READ | PROT_WRITE, MAP_SHARED, fd);
		if (how == 'd' || how == 'r')
			unlink(path);
		at = map(PROT_READ | PROT_EXEC | (other ? 0 : PROT_WRITE), how == 'a' ? MAP_PRIVATE | MAP_ANONYMOUS :
			 how == 'h' ? MAP_PRIVATE : MAP_SHARED, fd);
		memcpy(other ? other : at, code, sizeof(code));
		if (how == 'n')
			name(at);
		return at;
	}
};
}

/* A child compiles, in memory that both have ("shared"), or that each has at another address ("beside"). */
static void *compiled_by_a_child(bool beside)
{
	int fd = memfd_create("jit", 0), ready[2], ended[2];
	void *at = beside || ftruncate(fd, 4096) ? nullptr : jit::map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd);
	char c;

	if (pipe(ready) || pipe(ended))
		exit(1);
	if (fork() == 0) {
		if (beside && ftruncate(fd, 4096) == 0)
			at = jit::map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd);
		memcpy(at, code, sizeof(code));
		jit::name(at);
		close(ended[1]);
		exit(write(ready[1], "", 1) != 1 || read(ended[0], &c, 1) != 0); /* lives as long as its parent */
	}
	if (read(ready[0], &c, 1) != 1)
		exit(1);
	jit::map(PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1); /* so that the next one is elsewhere */
	if (beside)
		at = jit::map(PROT_READ | PROT_EXEC, MAP_SHARED, fd);
	return at;
}

static void work(char **argv)
{
	auto f = (void (*)(long))(*argv[1] == 's' || *argv[1] == 'b' ? compiled_by_a_child(*argv[1] == 'b') :
								   jit::memory::allocate(*argv[1], argv[2]));

	do
		f(100000);
	while (clock() < atof(argv[3]) * CLOCKS_PER_SEC);
}

/* Compiles when the first thread has ended. */
static void *late(void *argv)
{
	char line[256] = "";

	while (!strstr(line, ") Z ")) {
		FILE *f = fopen(("/proc/self/task/" + std::to_string(getpid()) + "/stat").c_str(), "r");

		if (!f || !fgets(line, sizeof(line), f))
			exit(1);
		fclose(f);
	}
	work(static_cast<char **>(argv));
	exit(0);
}

int main(int, char **argv)
{
	pthread_t thread;

	if (*argv[1] != 'l') {
		work(argv);
		return 0;
	}
	argv[1][0] = 'n';
	if (pthread_create(&thread, nullptr, late, argv))
		return 1;
	pthread_exit(nullptr);
}
END
g++ -O1 -pthread -o "$dir/host" "$dir/host.cc" || exit 1
file=$dir/x.core
record() { # HOW SECONDS
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- "$dir/host" "$1" "$file" "$2" ||
		{ fail "tailor run: exit $?"; return 1; }
	"$B/tailor" report --view functions --json "$dir/t.tlr" >"$dir/json" || { fail "tailor report: exit $?"; return 1; }
	/usr/bin/python3 -c 'import json, sys
for f in sorted(json.load(sys.stdin)["tables"]["functions"], key=lambda f: -f["samples"]):
	print(f["samples"], f["image"], f["name"], sep="\t")' <"$dir/json" >"$dir/functions"
	n=$(awk -F '\t' '{ n += $1 } END { print n + 0 }' "$dir/functions")
}
for how in anonymous heap removed double; do
	gather 300 record $how || continue
	code="code in x.core"
	[ $how = anonymous ] && code="anonymous code"
	cut -f2,3 "$dir/functions" | head -n 1 | grep -qxF "(generated)	$code, mapped by jit::memory::allocate in host" ||
		fail "$how: expected '$code, mapped by jit::memory::allocate in host' of (generated) as the hottest," \
			"got: $(cat "$dir/functions")"
done
for file in "$dir/buffer" "/dev/shm/tailor-test-$$"; do
	gather 300 record named || continue
	cut -f2,3 "$dir/functions" | head -n 1 | grep -qxF "(generated)	named_in_a_file" ||
		fail "$file: expected named_in_a_file of (generated) as the hottest, got: $(cat "$dir/functions")"
	rm -f "$file"
done
# text that a program has moved into large pages is still its image's, also to who attaches
cat >"$dir/work.c" <<'END'
void work(long n) { while (n--) __asm__ volatile(""); }
END
cat >"$dir/large.c" <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

void work(long n);

int main(int argc, char **argv)
{
	unsigned long from = 0, to = 0;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096], *copy;

	while (argc == 2 && f && fgets(line, sizeof(line), f))
		if (strstr(line, "libwork.so") && strstr(line, "r-xp"))
			sscanf(line, "%lx-%lx", &from, &to);
	copy = malloc(to - from);
	memcpy(copy, (void *)from, to - from);
	if (mmap((void *)from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return 1;
	memcpy((void *)from, copy, to - from);
	puts("moved");
	fflush(stdout);
	do
		work(100000);
	while (clock() < atof(argv[1]) * CLOCKS_PER_SEC);
	return 0;
}
END
gcc -O1 -shared -fPIC -o "$dir/libwork.so" "$dir/work.c" && gcc -O1 -o "$dir/large" "$dir/large.c" "$dir/libwork.so" || exit 1
count() {
	n=$("$B/tailor" report --view functions --json "$dir/t.tlr" | /usr/bin/python3 -c 'import json, sys
print(*(f["samples"] for f in json.load(sys.stdin)["tables"]["functions"] if f["name"] == "work"))')
	n=${n:-0}
}
moved() { # SECONDS
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- "$dir/large" "$1" >"$dir/out" || { fail "tailor run: exit $?"; return 1; }
	count
}
moved_before() { # SECONDS
	"$dir/large" 300 >"$dir/out" &
	local host=$!

	wait_for grep -q moved "$dir/out"
	"$B/tailor" attach -q -d "$1" -e "$(plain_event)" -o "$dir/t.tlr" $host 2>"$dir/err" || fail "tailor attach: $(cat "$dir/err")"
	kill $host
	wait $host
	count
}
gather 300 moved
gather 300 moved_before
# one process's names serve all that share the memory; and a process whose first thread has ended is one that lives
for how in shared beside late; do
	gather 300 record $how || continue
	cut -f2,3 "$dir/functions" | head -n 1 | grep -qxF "(generated)	named_in_a_file" ||
		fail "$how: expected named_in_a_file of (generated) as the hottest, got: $(cat "$dir/functions")"
done
finish
