/* SPDX-License-Identifier: MIT */
#include "analyzer/whatif/resources.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/regular_file.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_(NAME, key, heading) key,
#define HEADING_(NAME, key, heading) heading,
const char *const resource_keys[NR_RESOURCES] = { RESOURCES(KEY_) };
const char *const resource_headings[NR_RESOURCES] = { RESOURCES(HEADING_) };

#define FILE_BYTES_MAX (1u << 20)
#define RULES_MAX 10000u

/*
 * These names have been the same in libraries and the kernel for years. Patterns begin with * where symbols may have a prefix, such as
 * glibc's __GI_ or the kernel's __x64_.
 */
static const char built_in[] =
	"# waits that PostgreSQL names\n"
	"lock        wait:LWLock*\n"
	"lock        wait:Lock*\n"
	"lock        wait:Buffer*\n"
	"network     wait:*Client*\n"
	"disk-read   wait:*Read\n"
	"disk-read   wait:*Prefetch\n"
	"disk-read   wait:IO:Aio*\n"
	"disk-read   wait:IPC:BufferI[oO]\n"
	"disk-write  wait:*Write\n"
	"disk-write  wait:*Sync\n"
	"disk-write  wait:*Extend\n"
	"sleep       wait:*Sleep*\n"
	"sleep       wait:*Delay\n"
	"# libraries\n"
	"lock        *pthread_mutex_lock*\n"
	"lock        *pthread_mutex_unlock*\n"
	"lock        *pthread_mutex_clocklock*\n"
	"lock        *pthread_mutex_timedlock*\n"
	"lock        *lll_lock_wait*\n"
	"lock        *pthread_rwlock_*lock*\n"
	"lock        *pthread_spin_lock*\n"
	"lock        ObjectMonitor::enter*\n"
	"lock        *parking_lot*lock_slow*\n"
	"lock        runtime.lock2*\n"
	"lock        sync.runtime_SemacquireMutex\n"
	"sleep       *nanosleep*\n"
	"child       *pthread_*join*\n"
	"sibling     *pthread_cond_*wait*\n"
	"sibling     *pthread_barrier_wait*\n"
	"sibling     *sem_wait*\n"
	"sibling     *sem_timedwait*\n"
	"sibling     *sem_clockwait*\n"
	"sibling     uv_cond_wait\n"
	"sibling     runtime.notesleep\n"
	"sibling     runtime.futexsleep\n"
	"sibling     gomp_*_wait*\n"
	"# the kernel\n"
	"throttled   throttle_cfs_rq*\n"
	"child       do_wait\n"
	"child       kernel_wait4\n"
	"child       kernel_waitid\n"
	"child       *x64_sys_wait*\n"
	"sleep       *hrtimer_nanosleep\n"
	"sleep       do_nanosleep\n"
	"sleep       *sys_*nanosleep*\n"
	"sleep       sigsuspend\n"
	"sibling     pipe_read\n"
	"sibling     pipe_write\n"
	"sibling     anon_pipe_read\n"
	"sibling     anon_pipe_write\n"
	"sibling     eventfd_read\n"
	"sibling     unix_stream_*\n"
	"sibling     unix_dgram_*\n"
	"sibling     do_msgrcv\n"
	"sibling     do_semtimedop\n"
	"network     tcp_recvmsg*\n"
	"network     tcp_sendmsg*\n"
	"network     udp*_recvmsg\n"
	"network     udp*_sendmsg\n"
	"network     inet_csk_accept\n"
	"network     inet_*connect*\n"
	"network     sk_wait_data\n"
	"network     sk_stream_wait*\n"
	"disk-write  ext4_file_write_iter\n"
	"disk-write  xfs_file_write_iter\n"
	"disk-write  btrfs_file_write_iter\n"
	"disk-write  blkdev_write_iter\n"
	"disk-write  ext4_sync_file\n"
	"disk-write  xfs_file_fsync\n"
	"disk-write  vfs_fsync*\n"
	"disk-write  do_fsync\n"
	"disk-write  *sys_fsync\n"
	"disk-write  *sys_fdatasync\n"
	"disk-write  *sys_msync\n"
	"disk-write  *sys_sync*\n"
	"disk-write  jbd2_log_wait_commit\n"
	"disk-write  balance_dirty_pages*\n"
	"disk-write  file_write_and_wait_range\n"
	"disk-write  wb_wait_for_completion\n"
	"disk-read   *_file_read_iter\n"
	"disk-read   blkdev_read_iter\n"
	"disk-read   filemap_fault\n"
	"disk-read   filemap_read\n"
	"disk-read   swap_readpage\n"
	"disk-read   do_swap_page\n"
	"disk-write  *sys_*write*\n"
	"disk-read   folio_wait_bit_common\n"
	"disk-read   blkdev_direct_IO\n"
	"disk-read   io_schedule*\n"
	"lock        rwsem_down_*\n"
	"lock        __mutex_lock*\n"
	"lock        mutex_lock\n"
	"sibling     ep_poll\n"
	"sibling     do_epoll_wait\n"
	"sibling     do_sys_poll\n"
	"sibling     do_select\n"
	"sibling     *futex_wait*\n"
	"sibling     do_futex\n";

static bool resource_of_key(const char *key, size_t length, enum resource *out)
{
	for (int i = 0; i < NR_RESOURCES; i++)
		if (strlen(resource_keys[i]) == length && strncmp(resource_keys[i], key, length) == 0) {
			*out = (enum resource)i;
			return true;
		}
	return false;
}

static int add_rule(struct resource_table *t, enum resource resource, const char *pattern, size_t bytes)
{
	const bool is_wait = bytes > 5 && strncmp(pattern, "wait:", 5) == 0;
	struct resource_rule rule = { resource, is_wait, strndup(pattern + (is_wait ? 5 : 0), bytes - (is_wait ? 5 : 0)) };

	if (!rule.pattern || t->nr >= RULES_MAX || !ARRAY_GROW(*t)) {
		free(rule.pattern);
		return -ENOMEM;
	}
	t->at[t->nr++] = rule;
	return 0;
}

int resource_table_read(struct resource_table *t, const char *text, const char *name, struct diag *d)
{
	static const char blanks[] = " \t\r";
	enum resource resource;

	for (int line = 1; *text; line++) {
		const size_t length = strcspn(text, "\n");
		const char *end = text + length, *key = text + strspn(text, blanks), *pattern;
		const size_t key_length = strcspn(key, " \t\r\n");

		text = *end ? end + 1 : end;
		if (key >= end || *key == '#')
			continue;
		pattern = key + key_length + strspn(key + key_length, blanks);
		while (end > pattern && strchr(blanks, end[-1]))
			end--;
		if (pattern >= end)
			return diag_fail(d, EINVAL, "%s, line %d: a resource and a function are required", name, line);
		if (!resource_of_key(key, key_length, &resource))
			return diag_fail(d, EINVAL, "%s, line %d: no resource is called '%.*s'", name, line, (int)key_length, key);
		if (add_rule(t, resource, pattern, (size_t)(end - pattern)))
			return diag_fail(d, ENOMEM, "%s: more than %u rules, or out of memory", name, RULES_MAX);
	}
	return 0;
}

static int read_file(struct resource_table *t, const char *path, struct diag *d)
{
	int fd = regular_file_open(path), ret = 0;
	char *text;
	ssize_t n;

	if (fd < 0)
		return diag_fail(d, errno, "cannot open '%s': %s", path, strerror(errno));
	text = malloc(FILE_BYTES_MAX + 1);
	n = text ? read(fd, text, FILE_BYTES_MAX + 1) : 0;
	if (!text || n < 0)
		ret = diag_fail(d, text ? errno : ENOMEM, "cannot read '%s': %s", path, strerror(text ? errno : ENOMEM));
	else if (n > (ssize_t)FILE_BYTES_MAX || memchr(text, '\0', (size_t)n))
		ret = diag_fail(d, EINVAL, "'%s' is no table of resources: it is larger than 1 MiB, or no text", path);
	if (ret == 0) {
		text[n] = '\0';
		ret = resource_table_read(t, text, path, d);
	}
	close(fd);
	free(text);
	return ret;
}

int resource_table_init(struct resource_table *t, const char *path, struct diag *d)
{
	int ret;

	memset(t, 0, sizeof(*t));
	ret = path ? read_file(t, path, d) : 0;
	return ret ? ret : resource_table_read(t, built_in, "the built-in table", d);
}

void resource_table_fini(struct resource_table *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		free(t->at[i].pattern);
	free(t->at);
	free(t->of_function);
	memset(t, 0, sizeof(*t));
}

static uint32_t find_rule(const struct resource_table *t, const char *name, bool is_wait)
{
	for (uint32_t i = 0; i < t->nr; i++)
		if (t->at[i].is_wait == is_wait && fnmatch(t->at[i].pattern, name, 0) == 0)
			return i;
	return UINT32_MAX;
}

static uint32_t rule_of_function(struct resource_table *t, const struct attribution *a, uint32_t function)
{
	if (!t->of_function) {
		t->of_function = calloc(a->nr_functions + 1, sizeof(*t->of_function));
		t->nr_functions = t->of_function ? a->nr_functions : 0;
	}
	if (function >= t->nr_functions)
		return UINT32_MAX;
	if (!t->of_function[function]) {
		uint32_t rule = find_rule(t, a->function[function].name, false);

		t->of_function[function] = rule == UINT32_MAX ? rule : rule + 1;
	}
	return t->of_function[function] == UINT32_MAX ? UINT32_MAX : t->of_function[function] - 1;
}

static bool begins_with_any(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strncmp(text, *list, strlen(*list)) == 0)
			return true;
	return false;
}

/*
 * Standard libraries and runtimes have functions of their own for locks, conditions and semaphores, which only call those of the C library.
 * Their callers are those who wait. Templates and inline functions of them are compiled into each program.
 */
static bool is_wrapper(const struct attribution *a, uint32_t function)
{
	static const char *const libraries[] = { "libstdc++.so", "libc++.so", NULL };
	static const char *const names[] = { "std::", "__gthread", "__gnu_cxx::", "core::", "<core::", "alloc::", "<alloc::", "<std::",
					     "absl::", "parking_lot", "uv_cond_", "uv_mutex_", "uv_sem_", "uv_rwlock_", "v8::base::",
					     "PosixSemaphore::", "Semaphore::", "os::", "PlatformMonitor::", "Monitor::", "Mutex::",
					     "g_cond_", "g_mutex_", "CRYPTO_THREAD_", "PyThread_acquire_lock", "PyMutex_Lock",
					     "_PyMutex_Lock", NULL };

	return begins_with_any(basename(a->image[a->function[function].image].path), libraries) ||
	       begins_with_any(a->function[function].name, names);
}

/*
 * Returns the function that asked for the lock or another wait, which is the first caller in another file than the library that waits,
 * without wrappers (is_wrapper()), or else the first wrapper. For a frame of the kernel, that library is the one from which the thread
 * entered the kernel. If all frames are of one file, returns the caller of the outermost frame that has a rule. Returns 0 if it is not
 * known.
 */
static uint32_t caller_outside(struct resource_table *t, const struct attribution *a, uint32_t frame)
{
	uint32_t behind = 0, in_rules = frame, wrapper = 0;
	const struct stacks *s = &a->stacks;
	uint32_t image = a->function[s->node[frame].function].image;

	for (uint32_t n = frame; n; n = s->node[n].caller) {
		const uint32_t function = s->node[n].function;

		if (s->node[n].flags & (STACK_KERNEL | STACK_CUT))
			image = a->function[s->node[s->node[n].caller].function].image;
		else if (a->function[function].image != image && !is_wrapper(a, function))
			return function;
		else if (a->function[function].image != image && !wrapper)
			wrapper = function;
		if (rule_of_function(t, a, s->node[n].function) != UINT32_MAX)
			in_rules = n;
	}
	if (wrapper)
		return wrapper;
	behind = s->node[in_rules].caller;
	return behind && !(s->node[behind].flags & (STACK_KERNEL | STACK_CUT)) ? s->node[behind].function : 0;
}

/* Returns the first rule that a function of the stack matches, and sets *frame to its node, or returns UINT32_MAX. */
static uint32_t find_rule_of_stack(struct resource_table *t, const struct attribution *a, uint32_t stack, uint32_t *frame)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t n = stack < a->stacks.nr ? stack : 0; n; n = a->stacks.node[n].caller) {
		uint32_t rule = rule_of_function(t, a, a->stacks.node[n].function);

		if (rule < best) {
			best = rule;
			*frame = n;
		}
	}
	return best;
}

/* Returns the innermost function of generated code that is not of Java's own library, or else the innermost of these, or 0. Code of the
 * runtime itself (stubs, builtins, interpreters) is no function of the program. */
static uint32_t generated_caller(const struct attribution *a, uint32_t stack)
{
	static const char *const packages[] = { "java.", "javax.", "jdk.", "sun.", NULL };
	static const char *const runtime[] = { "Builtin:", "BytecodeHandler:", "Interpreter", "StubRoutines", "~", NULL };
	uint32_t library = 0;

	for (uint32_t n = stack; n; n = a->stacks.node[n].caller) {
		const uint32_t function = a->stacks.node[n].function;
		const char *name = a->function[function].name;

		if (!a->function[function].jit || a->stacks.node[n].flags & (STACK_KERNEL | STACK_CUT) || begins_with_any(name, runtime) ||
		    strstr(name, " stub"))
			continue;
		if (!begins_with_any(name, packages))
			return function;
		library = library ? library : function;
	}
	return library;
}

enum resource resource_and_waiter_of_stack(struct resource_table *t, const struct attribution *a, uint32_t stack, uint32_t *function)
{
	uint32_t frame = 0, rule = find_rule_of_stack(t, a, stack, &frame);
	uint32_t waiter = stack < a->stacks.nr ? generated_caller(a, stack) : 0;

	if (!waiter && rule != UINT32_MAX)
		waiter = caller_outside(t, a, frame);
	if (rule == UINT32_MAX)
		rule = rule_of_function(t, a, *function);
	*function = waiter ? waiter : *function;
	return rule == UINT32_MAX ? RESOURCE_UNKNOWN : t->at[rule].resource;
}

struct resource_wait resource_of_stack(struct resource_table *t, const struct attribution *a, uint32_t stack, const char *wait)
{
	uint32_t best = wait && *wait ? find_rule(t, wait, true) : UINT32_MAX, frame = 0;
	struct resource_wait w = { RESOURCE_UNKNOWN, 0 };

	best = best == UINT32_MAX ? find_rule_of_stack(t, a, stack, &frame) : best;
	if (best == UINT32_MAX)
		return w;
	w.resource = t->at[best].resource;
	w.caller = frame && w.resource == RESOURCE_LOCK ? caller_outside(t, a, frame) : 0;
	return w;
}

static bool has_kernel_function(const struct attribution *a, uint32_t stack, const char *part)
{
	for (uint32_t n = stack < a->stacks.nr ? stack : 0; n && a->stacks.node[n].flags & STACK_KERNEL; n = a->stacks.node[n].caller)
		if (strstr(a->function[a->stacks.node[n].function].name, part))
			return true;
	return false;
}

bool resource_is_fault(const struct attribution *a, uint32_t stack)
{
	return has_kernel_function(a, stack, "exc_page_fault");
}

bool resource_is_between(const struct attribution *a, uint32_t stack)
{
	return has_kernel_function(a, stack, "smp_call_function") || has_kernel_function(a, stack, "sysvec_call_function");
}

bool resource_is_copy(const struct attribution *a, uint32_t stack)
{
	return has_kernel_function(a, stack, "do_wp_page") || has_kernel_function(a, stack, "wp_page_copy");
}
