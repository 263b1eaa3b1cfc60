#!/bin/bash
# SPDX-License-Identifier: MIT
# jitreg.h and jitreg_place.h, and jitreg.hpp where there is C++, compile alone and without a warning, as C99 to C23 and C++11 to C++23,
# with every gcc and clang that is installed; they need no library, and the register macros compile only where the build says that the
# register is fixed.
# Not quick: compiles each header by itself.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
WARNINGS="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror"
fail() { echo "$*"; exit 1; }
cat >"$dir/use.c" <<'END'
#include "jitreg.h"
#include "jitreg_place.h"
static __thread uint64_t tag JITREG_STATIC_TLS;
static void replay(void *host)
{
	(void)host;
}
int main(void)
{
	const struct jitreg_code_map_entry entry = { 0, 2, 42 };
	const struct jitreg_tag_field field = { 2, 0, 32 };
	const struct jitreg_range range = { 0, 1 };
	const struct jitreg_segment segment = { 0, 1, 0, 5 };
	const struct jitreg_counter_entry counts = { JITREG_COUNTS_ENTRY, 1, 7, 0 };
	const struct jitreg_count value = { 1 };
	const struct jitreg_flow_parts flow = { NULL, NULL, NULL, NULL, 0, 0, 0, 0 };
	struct jitreg_place_arc arcs[2] = { { JITREG_PLACE_OUTSIDE, 0, 1 }, { 0, JITREG_PLACE_OUTSIDE, 1 } };
	uint32_t scratch[JITREG_PLACE_SCRATCH(1, 2)];
	unsigned char counted[2];
	struct jitreg_tracker t;
	uint64_t *counters, block;
	uint64_t ids = jitreg_new_ids(10), mark;
	int other = 0;

	memset(&t, 0, sizeof(t));
	t.lower_level = 2;
	t.upper_level = 1;
	jitreg_set_replay(replay, NULL);
	jitreg_set_replay_anywhere(replay, NULL);
	other += jitreg_replay_wanted() + jitreg_replay() + jitreg_enabled();
	other += jitreg_level(1, "operator", 0, JITREG_LEVEL_PLAN) != -ENOSYS;
	other += jitreg_component(1, ids, "join", NULL, JITREG_COMPONENT_SHARED | JITREG_COMPONENT_RUNTIME) != -ENOSYS;
	other += jitreg_link_to(jitreg_at(2, 42), jitreg_at(1, 7), 1) != -ENOSYS;
	other += jitreg_unlink_from(jitreg_at(2, 42), jitreg_at(1, 0)) != -ENOSYS;
	other += jitreg_link(2, 42, 1, 7, 1) != -ENOSYS;
	other += jitreg_unlink(2, 42, 1, 7) != -ENOSYS;
	other += jitreg_edge(1, 7, 8, 0, NULL) != -ENOSYS;
	jitreg_tracker_push(&t, 7);
	other += jitreg_tracker_top(&t) != 7;
	other += jitreg_tracker_link(&t, 1) != -ENOSYS;
	jitreg_tracker_pop(&t);
	other += jitreg_code_move(1, 2, 3, 4) != -ENOSYS;
	other += jitreg_code_unload(1, 0) != -ENOSYS;
	other += jitreg_code_map(0x1000, &entry, 1) != -ENOSYS;
	other += jitreg_debug_info(1, 0, NULL, 0) != -ENOSYS;
	other += jitreg_inlines(1, 0, NULL, 0) != -ENOSYS;
	other += jitreg_unwinding_info(NULL, 0, 0, 0) != -ENOSYS;
	other += jitreg_eh_frame(0, NULL, 0) != -ENOSYS;
	other += jitreg_tag(13, 0, 0, 0, &field, 1, &range, 1) != -ENOSYS;
	other += jitreg_tag_in_register(13, 0, 0, &field, 1, &range, 1) != -ENOSYS;
	other += jitreg_tag_in_word(&tag, 0, 0, &field, 1) != -ENOSYS;
	other += jitreg_task_switch(&tag, 5) != 0 || jitreg_task_switch(&tag, 0) != 5;
	JITREG_WITH_TAG_WORD(tag, 1)
	{
		JITREG_WITH_TAG_WORD(tag, 2)
			other += tag != 2;
		other += tag != 1;
	}
	other += tag != 0;
	mark = jitreg_mark_begin(JITREG_COVERS_PROCESS, "run", jitreg_at(0, 0), 1, 0, NULL);
	other += mark != 0;
	other += jitreg_mark_leave(mark) != -ENOSYS || jitreg_mark_enter(mark) != -ENOSYS || jitreg_mark_end(mark, 1) != -ENOSYS;
	other += jitreg_mark(JITREG_MARK_BEGIN, "run", 0, 0, 1, 0, 0, NULL) != -ENOSYS;
	other += jitreg_scope(ids, 10, "query 1", "select 1") != -ENOSYS || jitreg_scope_end(ids, 10) != -ENOSYS;
	other += jitreg_object(0x5000, 0, 0, NULL, 0, NULL, 0) != -ENOSYS || jitreg_object_end(0x5000) != -ENOSYS;
	other += jitreg_object_steps(0x5000, 0x6000, 24, 1, 1, 1) != -ENOSYS || jitreg_step_word(0x1000, 8) != -ENOSYS;
	counters = jitreg_counter_block(&counts, 1, 2, &block);
	other += !counters || block != 0 || jitreg_counter_block_end(block) != 0 || jitreg_counter_block_end(5) != -ENOSYS;
	other += jitreg_counter_block(&counts, 1, JITREG_COUNTERS_WITHOUT_AGENT, &block) != NULL;
	other += jitreg_counter_entries(ids, &counts, 1) != -ENOSYS || jitreg_counter_values(ids, &value, 1) != -ENOSYS;
	other += jitreg_flow(1, 7, JITREG_FLOW_ESCAPES, &flow) != -ENOSYS;
	if (counters)
		counters[JITREG_COUNTER_STRIDE(1)]++;
	jitreg_place_estimate(arcs, 2, 1, scratch);
	other += jitreg_place(arcs, 2, 1, counted, scratch) != 1;
	other += jitreg_counter(1, 7, "rows", 1) != -ENOSYS;
	other += jitreg_control(JITREG_CONTROL_NOTE, "note") != -ENOSYS;
	other += jitreg_source("q.sql", "text", 4, 99, JITREG_SOURCE_QUERY) != -ENOSYS;
	other += jitreg_source_text("q.sql", "text", 4, 4, 100, 0) != -ENOSYS;
	other += jitreg_memory(&t, sizeof(t), "tracker", 0, 0) != -ENOSYS;
	other += jitreg_image(0, JITREG_IMAGE_MAIN, "/bin/x", &segment, 1, "id", 2, NULL, 0) != -ENOSYS;
	other += jitreg_image_unload(0, "/bin/x") != -ENOSYS;
	other += jitreg_region(0, 0, 0, NULL, 0) != -ENOSYS;
	other += jitreg_code_load(0x1000, 16, 1, "f", NULL) != -ENOSYS;
	return other;
}
END
cp "$dir/use.c" "$dir/use.cc"
cp "$dir/use.c" "$dir/second.c"
sed -i 's/int main/int second(void);\nint second/' "$dir/second.c"
[ -e jitreg/jitreg.hpp ] && cat >"$dir/use.hpp.cc" <<'END'
#include "jitreg.hpp"
#include <memory>
#include <stdexcept>
#include <thread>
static thread_local uint64_t tag JITREG_STATIC_TLS;
int main()
{
	int other = 0;
	jitreg_tracker tracker = { 2, 1, 0, 0, {} };

	{
		jitreg::lowering outer(tracker, 7), inner(tracker, 8);
		other += jitreg_tracker_top(&tracker) != 8;
	}
	other += jitreg_tracker_top(&tracker) != 0;
	/* a block of a coroutine that ends on another thread than it began */
	tag = 3;
	std::unique_ptr<jitreg::tag_guard> guard(new jitreg::tag_guard(tag, 4));
	std::thread([&] {
		tag = 5;
		guard.reset();
		other += tag != 3;
	}).join();
	other += tag != 4;
	tag = 0;
	/* a word that all threads share */
	static uint64_t shared = 3;
	guard.reset(new jitreg::tag_guard(shared, 4));
	std::thread([&] { guard.reset(); }).join();
	other += shared != 3;
	try {
		jitreg::tag_guard one(tag, 1);
		jitreg::mark query(jitreg::covers::process, "run", {}, 1);
		jitreg::mark morsel(query, jitreg::covers::thread, "morsel", {2, 42}, 7);
		jitreg::scope ids(100, "query 1", "select 1");
		jitreg::tag_guard two(tag, ids.first());
		other += tag != ids.first();
		throw std::runtime_error("unwinds them");
	} catch (const std::exception &) {
		other += tag != 0;
	}
	jitreg::task a(1), b(2);
	a.enter(tag);
	other += tag != 1;
	a.leave(tag);
	b.enter(tag);
	other += tag != 2;
	b.leave(tag);
	return other + (tag != 0);
}
END
# every compiler of the kind, and those of its standards that it knows
compilers() { # once each, whatever its names
	local c version seen=
	for c in "$@"; do
		version=$("$c" -v 2>&1 | grep ' version ') && [[ $seen != *"$version;"* ]] || continue
		seen+="$version;"
		echo "$c"
	done
}
works() { echo 'int main(void) { return 0; }' | "$@" -x "$LANGUAGE" -fsyntax-only - 2>/dev/null; }
nr=0
for cc in $(compilers gcc gcc-{10..16} clang clang-{12..21}); do
	for std in c99 gnu99 c11 gnu11 c17 c2x c23; do
		LANGUAGE=c works "$cc" -std=$std || continue
		"$cc" -std=$std $WARNINGS -Ijitreg "$dir/use.c" -o "$dir/use" -ldl || fail "$cc -std=$std"
		"$dir/use" || fail "$cc -std=$std: expected -ENOSYS of $? more calls without an agent"
		"$cc" -std=$std $WARNINGS -fPIC -shared -Ijitreg "$dir/use.c" "$dir/second.c" -o "$dir/use.so" -ldl ||
			fail "$cc -std=$std -shared"
		nr=$((nr + 1))
	done
done
for cxx in $(compilers g++ g++-{10..16} clang++ clang++-{12..21}); do
	for std in c++11 c++14 c++17 c++20 c++2b; do
		LANGUAGE=c++ works "$cxx" -std=$std || continue
		for f in "$dir"/use.cc "$dir"/use.hpp.cc; do
			[ -e "$f" ] || continue
			"$cxx" -std=$std $WARNINGS -Wold-style-cast -pthread -Ijitreg "$f" -o "$dir/use" -ldl ||
				fail "$cxx -std=$std: ${f##*/}"
			"$dir/use" || fail "$cxx -std=$std: ${f##*/}: expected 0, got $?"
		done
		nr=$((nr + 1))
	done
done
# a register that the compiler uses as well
for reg in rbx r12 r13 r14 r15; do
	REG=${reg^^}
	cat >"$dir/tag.c" <<-END
		#include "jitreg.h"
		int f(int);
		int g(int x);
		int g(int x) { int s = 0; JITREG_WITH_TAG_$REG(1) { s = f(x); } return s; }
	END
	cp "$dir/tag.c" "$dir/tag.cc"
	for cc in "gcc -std=c99" "gcc -std=c11" "clang -DJITREG_FIXED_$REG" "g++ -std=c++11" clang++; do
		f=$dir/tag.c && [[ $cc = *++* ]] && f=$dir/tag.cc
		command -v "${cc%% *}" >/dev/null || continue
		$cc -Ijitreg -c "$f" -o "$dir/tag.o" 2>"$dir/error" && fail "$cc compiled a macro for $reg"
		grep -q "ffixed-$reg -DJITREG_FIXED_$REG" "$dir/error" || fail "$cc does not say what to do about $reg: $(cat "$dir/error")"
	done
	gcc -ffixed-$reg -DJITREG_FIXED_$REG $WARNINGS -Ijitreg -c "$dir/tag.c" -o "$dir/tag.o" || fail "gcc -ffixed-$reg"
done
echo "jitreg.h and jitreg_place.h compile alone, in $nr standards of the compilers that are here"
