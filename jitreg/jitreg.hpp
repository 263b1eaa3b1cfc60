/* SPDX-License-Identifier: MIT */
/*
 * jitreg for C++11 and later: tags, marks and scopes as objects, which end with their block also when an exception leaves it.
 * What is not here is called as jitreg.h has it.  A mark or scope that is moved from ends nothing.
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

/* This component is being lowered, until the block ends: the tracker's top. */
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
 * The tag of this thread's word, until the block ends.  In a coroutine the block may end on another thread than it began: the word is then
 * that thread's, if it is static TLS, which lies below the thread pointer.
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
	/* volatile: a compiler takes the thread to be the same in all of a function */
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

/* A phase or an execution. */
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
	/* Before the block ends, and with what was done. */
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

/* Numbers for the components of a query, which are over when the block ends. */
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
 * What goes with a fiber, a coroutine or a task from thread to thread: its tag, and its mark (covers::task) if it has one.  leave() before
 * another thread can have the task; a suspended one is destroyed between enter() and leave() if tag_guards live in it.
 */
class task {
public:
	explicit task(uint64_t tag, uint64_t mark_handle = 0) : tag_(tag), outer_(0), mark_(mark_handle) {}
	/* This thread goes on with the task; word is this thread's. */
	void enter(uint64_t &word)
	{
		outer_ = jitreg_task_switch(&word, tag_);
		if (mark_)
			jitreg_mark_enter(mark_);
	}
	/* The task suspends: what it had set last is set again when it goes on. */
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
