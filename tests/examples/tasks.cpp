/* SPDX-License-Identifier: MIT */
/*
 * A task engine: tasks BATCHES [LOG].  Tasks are C++20 coroutines, on threads that steal from each other.  A task of an operator takes a
 * batch from a channel, works on it and puts it into the next channel.  It gives way to others, and is suspended while its channel is
 * empty; any thread may go on with it.  The tag in a thread-local word names the task and the part of it that runs.  Built with
 * -std=c++20 -pthread.
 *
 * LOG gets a line for each switch of a thread to a task or away from it (0), and to another part of it: the thread, the clock before and
 * behind, the operator, the task, the part, and how many times the task has come to another thread.
 */
#include "jitreg.hpp" // jitreg

#include "work.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <coroutine>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#define NR_THREADS 3
#define NR_TASKS 2u /* of an operator */
#define UNIT 20000u /* turns for a batch and a unit of work */
#define NR_VALUES 8u /* batches that differ */

enum : uint32_t { OPERATOR = 1, TASK = 2, PART = 3 };                     // jitreg
static const uint64_t TAG = 0x7a11ull << 48, TAG_CHECK = 0xffffull << 48; // jitreg
enum : uint32_t { MERGE = 1 }; /* the part of an aggregation under another tag */
static thread_local uint64_t tag JITREG_STATIC_TLS; // jitreg

/* ------------------------------------------------------------------------------------------------------------------- the log */

struct Switch {
	uint64_t before_ns, after_ns, operator_id, task, part, nr_moves;
};
static std::vector<Switch> switches[NR_THREADS];
static pid_t thread_id[NR_THREADS];
static thread_local unsigned this_thread;

static uint64_t clock_ns()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

/* ------------------------------------------------------------------------------------------------------------------ the tasks */

struct Channel;
struct Coroutine {
	struct promise_type {
		Channel *waits_for = nullptr;
		uint64_t id = 0, operator_id = 0, part = 0;
		unsigned last_thread = 0, nr_moves = 0;
		uint64_t mark = 0;         // jitreg
		jitreg::task carried{ 0 }; // jitreg

		Coroutine get_return_object() { return { std::coroutine_handle<promise_type>::from_promise(*this) }; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
	std::coroutine_handle<promise_type> handle;
};
using Task = std::coroutine_handle<Coroutine::promise_type>;

static struct Queue {
	std::mutex mutex;
	std::deque<Task> tasks;
} queues[NR_THREADS];
static std::atomic<uint64_t> nr_pushed, nr_alive;

static void push(Task t)
{
	{
		std::lock_guard<std::mutex> lock(queues[this_thread].mutex);
		queues[this_thread].tasks.push_back(t);
	}
	nr_pushed++;
	nr_pushed.notify_one();
}

/* Of its own queue the oldest, of another thread's the newest. */
static Task take()
{
	for (unsigned i = 0; i < NR_THREADS; i++) {
		Queue &q = queues[(this_thread + i) % NR_THREADS];
		std::lock_guard<std::mutex> lock(q.mutex);
		Task t;

		if (q.tasks.empty())
			continue;
		t = i ? q.tasks.back() : q.tasks.front();
		i ? q.tasks.pop_back() : q.tasks.pop_front();
		return t;
	}
	return nullptr;
}

struct Channel {
	std::mutex mutex;
	std::deque<uint64_t> batches;
	std::deque<Task> waiting;
	unsigned nr_writers = NR_TASKS;

	void put(uint64_t batch)
	{
		std::lock_guard<std::mutex> lock(mutex);

		batches.push_back(batch);
		wake(1);
	}
	void close()
	{
		std::lock_guard<std::mutex> lock(mutex);

		if (--nr_writers == 0)
			wake(waiting.size());
	}
	/* 1: got one; 0: it is empty; -1: ... for ever. */
	int get(uint64_t &batch)
	{
		std::lock_guard<std::mutex> lock(mutex);

		if (batches.empty())
			return nr_writers ? 0 : -1;
		batch = batches.front();
		batches.pop_front();
		return 1;
	}
	bool park(Task t)
	{
		std::lock_guard<std::mutex> lock(mutex);

		if (!batches.empty() || !nr_writers)
			return false;
		waiting.push_back(t);
		return true;
	}

private:
	void wake(size_t nr)
	{
		for (; nr && !waiting.empty(); nr--) {
			push(waiting.front());
			waiting.pop_front();
		}
	}
};

struct Yield : std::suspend_always {};
struct Wait : std::suspend_always {
	Channel *channel;
	explicit Wait(Channel &c) : channel(&c) {}
	void await_suspend(Task t) { t.promise().waits_for = channel; }
};

/* -------------------------------------------------------------------------------------------------------------- the operators */

static uint64_t work(uint64_t x, uint64_t turns)
{
	while (turns--)
		x = turn(x);
	return x;
}

static void note_part(uint64_t before_ns, Task t, uint64_t part)
{
	t.promise().part = part;
	switches[this_thread].push_back({ before_ns, clock_ns(), t.promise().operator_id, t.promise().id, part, t.promise().nr_moves });
}

/* The handle of the coroutine that asks. */
struct Self {
	Task t;
	bool await_ready() { return false; }
	bool await_suspend(Task it)
	{
		t = it;
		return false;
	}
	Task await_resume() { return t; }
};

static Coroutine scan(uint64_t first, uint64_t end, Channel *out)
{
	for (uint64_t i = first; i < end; i++) {
		out->put(work(i % NR_VALUES, UNIT * operator_work[SCAN]));
		co_await Yield();
	}
	out->close();
}

static Coroutine filter(Channel *in, Channel *out)
{
	uint64_t x;

	for (int got; (got = in->get(x)) >= 0;) {
		if (got)
			out->put(work(x, UNIT * operator_work[SELECT]));
		else
			co_await Wait(*in);
	}
	out->close();
}

static std::atomic<uint64_t> result;

static Coroutine aggregate(Channel *in)
{
	Task self = co_await Self();
	uint64_t x, before_ns;

	for (int got; (got = in->get(x)) >= 0;) {
		if (!got) {
			co_await Wait(*in);
			continue;
		}
		x = work(x, UNIT * operator_work[AGGREGATE] / 2);
		before_ns = clock_ns();
		{
			jitreg::tag_guard part(tag, tag | uint64_t(MERGE) << 16); // jitreg
			note_part(before_ns, self, MERGE);
			x = work(x, UNIT * operator_work[AGGREGATE] / 4);
			co_await Yield(); /* the block may end on another thread */
			x = work(x, UNIT * operator_work[AGGREGATE] / 4);
			before_ns = clock_ns();
		}
		note_part(before_ns, self, 0);
		result += x;
	}
}

/* ------------------------------------------------------------------------------------------------------------- the scheduler */

static void run(Task t)
{
	Coroutine::promise_type &p = t.promise();
	uint64_t before_ns = clock_ns();

	p.nr_moves += p.last_thread != this_thread;
	p.last_thread = this_thread;
	p.carried.enter(tag); // jitreg
	switches[this_thread].push_back({ before_ns, clock_ns(), p.operator_id, p.id, p.part, p.nr_moves });
	t.resume();
	before_ns = clock_ns();
	p.carried.leave(tag); // jitreg
	switches[this_thread].push_back({ before_ns, clock_ns(), 0, 0, 0, 0 });
	/* only now may other threads have it */
	if (t.done()) {
		jitreg_mark_end(p.mark, 0); // jitreg
		t.destroy();
		if (--nr_alive == 0) {
			nr_pushed++;
			nr_pushed.notify_all();
		}
	} else if (Channel *c = std::exchange(p.waits_for, nullptr); !c || !c->park(t)) {
		push(t);
	}
}

static void run_thread(unsigned number)
{
	this_thread = number;
	thread_id[number] = pid_t(syscall(SYS_gettid));
	while (nr_alive) {
		uint64_t seen = nr_pushed;
		Task t = take();

		if (t)
			run(t);
		else if (nr_alive)
			nr_pushed.wait(seen);
	}
}

static uint64_t run_mark; // jitreg

static void start(Coroutine c, uint64_t o)
{
	Coroutine::promise_type &p = c.handle.promise();

	p.id = ++nr_alive;
	p.operator_id = o;
	jitreg_component(TASK, p.id, (operator_name[o] + (" " + std::to_string(p.id))).c_str(), "", 0);         // jitreg
	jitreg_link_to(jitreg_at(TASK, p.id), jitreg_at(OPERATOR, o), 1);                                       // jitreg
	p.mark = jitreg_mark_begin(JITREG_COVERS_TASK, "task", jitreg_at(TASK, p.id), p.id, run_mark, nullptr); // jitreg
	jitreg_mark_leave(p.mark); /* no thread runs it yet */                                                  // jitreg
	p.carried = jitreg::task(TAG | p.id, p.mark);                                                           // jitreg
	push(c.handle);
}

static void announce()                                                           // jitreg
{                                                                                // jitreg
	const jitreg_tag_field fields[] = { { TASK, 0, 16 }, { PART, 16, 16 } }; // jitreg

	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);                  // jitreg
	jitreg_level(TASK, "task", OPERATOR, 0);                                   // jitreg
	jitreg_level(PART, "part", OPERATOR, 0);                                   // jitreg
	for (uint64_t o = SCAN; o < NR_OPERATORS; o++) {                           // jitreg
		jitreg_component(OPERATOR, o, operator_name[o], "", 0);            // jitreg
		if (o > SCAN)                                                      // jitreg
			jitreg_edge(OPERATOR, o - 1, o, 0, "batches");             // jitreg
	}                                                                          // jitreg
	jitreg_component(PART, MERGE, "merge", "", 0);                             // jitreg
	jitreg_link_to(jitreg_at(PART, MERGE), jitreg_at(OPERATOR, AGGREGATE), 1); // jitreg
	jitreg_tag_in_word(&tag, TAG_CHECK, TAG, fields, 2);                       // jitreg
}                                                                                  // jitreg

static uint64_t expected(uint64_t nr_batches)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < NR_VALUES && i < nr_batches; i++) {
		uint64_t x = i;

		for (int o = SCAN; o < NR_OPERATORS; o++)
			x = work(x, UNIT * operator_work[o]);
		sum += x * (nr_batches / NR_VALUES + (i < nr_batches % NR_VALUES));
	}
	return sum;
}

static bool write_log(const char *path)
{
	FILE *f = fopen(path, "w");

	for (unsigned i = 0; f && i < NR_THREADS; i++)
		for (const Switch &s : switches[i])
			fprintf(f, "%d %lu %lu %lu %lu %lu %lu\n", thread_id[i], s.before_ns, s.after_ns, s.operator_id, s.task, s.part,
				s.nr_moves);
	return f && fclose(f) == 0;
}

int main(int argc, char **argv)
{
	const uint64_t nr_batches = argc > 1 ? strtoull(argv[1], nullptr, 10) : NR_VALUES;
	std::vector<std::thread> threads;
	Channel scanned, filtered;

	announce();                                                                                 // jitreg
	run_mark = jitreg_mark_begin(JITREG_COVERS_PROCESS, "run", jitreg_at(0, 0), 1, 0, nullptr); // jitreg
	for (uint64_t i = 0; i < NR_TASKS; i++) {
		start(scan(i * nr_batches / NR_TASKS, (i + 1) * nr_batches / NR_TASKS, &scanned), SCAN);
		start(filter(&scanned, &filtered), SELECT);
		start(aggregate(&filtered), AGGREGATE);
	}
	for (unsigned i = 1; i < NR_THREADS; i++)
		threads.emplace_back(run_thread, i);
	run_thread(0);
	for (std::thread &t : threads)
		t.join();
	jitreg_mark_end(run_mark, nr_batches); // jitreg
	if (argc > 2 && !write_log(argv[2]))
		return 1;
	return finish(result, expected(nr_batches));
}
