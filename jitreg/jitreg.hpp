/* SPDX-License-Identifier: MIT */
/*
 * This header is jitreg for C++11 and later. Tags, marks, scopes and the lowering of a component are objects here, which end with their
 * block also when an exception leaves it. All other functions are those of jitreg.h. A mark or scope that was moved from does not end
 * anything.
 *
 *	jitreg::mark query(jitreg::covers::process, "run", {}, number);
 *	...
 *	jitreg::mark morsel(query, jitreg::covers::thread, "morsel", {PIPELINE, 3}, begin);     on whichever thread
 *	jitreg::tag_guard tag(tag_word, TAG | task);
 *	hash_table_insert(...);
 */
#ifndef JITREG_HPP
#define JITREG_HPP

#include "jitreg.h"

namespace jitreg {

enum class covers : uint32_t { thread = JITREG_COVERS_THREAD, task = JITREG_COVERS_TASK, process = JITREG_COVERS_PROCESS };

/* A component, or none. */
struct ref {
	uint32_t level;
	uint64_t component;
	ref() : level(0), component(0) {}
	ref(uint32_t its_level, uint64_t its_component) : level(its_level), component(its_component) {}
	operator jitreg_ref() const { return jitreg_at(level, component); }
};

inline int link(ref lower, ref upper, uint32_t weight = 1) { return jitreg_link_to(lower, upper, weight); }

/* Makes upper the component that is being lowered, which is the tracker's top, until the block ends. */
class lowering {
public:
	lowering(jitreg_tracker &tracker, uint64_t upper) : tracker_(tracker) { jitreg_tracker_push(&tracker, upper); }
	~lowering() { jitreg_tracker_pop(&tracker_); }
	lowering(const lowering &) = delete;
	lowering &operator=(const lowering &) = delete;

private:
	jitreg_tracker &tracker_;
};

/*
 * Sets the tag in this thread's word until the block ends, and then restores the old one. In a coroutine the block may end on another
 * thread than it began. If the word is static TLS, which lies below the thread pointer, the word of that other thread is then restored.
 */
class tag_guard {
public:
	tag_guard(uint64_t &word, uint64_t tag)
		: word_(&word), below_(thread() - reinterpret_cast<uintptr_t>(&word)), old_(jitreg_task_switch(&word, tag)) {}
	~tag_guard()
	{
		const bool is_static_tls = below_ - 1 < static_tls_max;

		jitreg_task_switch(is_static_tls ? reinterpret_cast<uint64_t *>(thread() - below_) : word_, old_);
	}
	tag_guard(const tag_guard &) = delete;
	tag_guard &operator=(const tag_guard &) = delete;

private:
	/* The assembly is volatile, because a compiler assumes that a function stays on one thread, and would reuse the first thread's
	 * address. */
	static uintptr_t thread()
	{
		uintptr_t at = 0;
#ifdef __x86_64__
		__asm__ volatile("movq %%fs:0, %0" : "=r"(at));
#endif
		return at;
	}
	static constexpr uintptr_t static_tls_max = 1 << 20;
	uint64_t *word_;
	uintptr_t below_;
	uint64_t old_;
};

/* A mark covers a phase or one execution of a component until the block ends. See jitreg_mark_begin(). */
class mark {
public:
	mark(covers what, const char *name, ref of = ref(), uint64_t instance = 0, const char *text = nullptr)
		: handle_(jitreg_mark_begin(static_cast<uint32_t>(what), name, of, instance, 0, text)) {}
	mark(const mark &parent, covers what, const char *name, ref of = ref(), uint64_t instance = 0, const char *text = nullptr)
		: handle_(jitreg_mark_begin(static_cast<uint32_t>(what), name, of, instance, parent.handle_, text)) {}
	~mark() { end(0); }
	mark(mark &&other) noexcept : handle_(other.handle_) { other.handle_ = 0; }
	mark(const mark &) = delete;
	mark &operator=(const mark &) = delete;
	/* Ends the mark before its block ends. units: the amount of work that was done, or 0 if unknown. Later calls do nothing. */
	void end(uint64_t units)
	{
		if (handle_)
			jitreg_mark_end(handle_, units);
		handle_ = 0;
	}
	uint64_t handle() const { return handle_; }

private:
	uint64_t handle_;
};

/* Reserves numbers for the components of a query. The numbers, and the components that have them, end with the block. */
class scope {
public:
	scope(uint64_t nr, const char *name, const char *text = nullptr) : first_(jitreg_new_ids(nr)), nr_(nr)
	{
		jitreg_scope(first_, nr_, name, text);
	}
	~scope()
	{
		if (nr_)
			jitreg_scope_end(first_, nr_);
	}
	scope(scope &&other) noexcept : first_(other.first_), nr_(other.nr_) { other.nr_ = 0; }
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;
	uint64_t first() const { return first_; }
	uint64_t size() const { return nr_; }

private:
	uint64_t first_, nr_;
};

/*
 * Moves the tag of a fiber, a coroutine or a task, and its mark (covers::task) if it has one, with it from thread to thread. Call leave()
 * before another thread can continue the task. If a suspended task that has tag_guards is destroyed, do so between enter() and leave(),
 * since they set the word.
 */
class task {
public:
	explicit task(uint64_t tag, uint64_t mark_handle = 0) : tag_(tag), outer_(0), mark_(mark_handle) {}
	/* Continues the task on this thread. word: the tag word of this thread. */
	void enter(uint64_t &word)
	{
		outer_ = jitreg_task_switch(&word, tag_);
		if (mark_)
			jitreg_mark_enter(mark_);
	}
	/* Suspends the task. The tag that it set last is kept, and is set again by the next enter(). */
	void leave(uint64_t &word)
	{
		if (mark_)
			jitreg_mark_leave(mark_);
		tag_ = jitreg_task_switch(&word, outer_);
	}

private:
	uint64_t tag_, outer_, mark_;
};

}

#endif
