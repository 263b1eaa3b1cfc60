/* SPDX-License-Identifier: MIT */
/* Finds dlopen and other addresses in a process, and its code that may hold locks which dlopen takes. This file supports x86-64 only. */
#include "agent/recorder/inject/internal.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define V8_INTERRUPT "_ZN2v87Isolate16RequestInterruptEPFvPS0_PvES2_"
#define DLOPEN_MODE_INTERNAL 0x80000000ull /* flag of __libc_dlopen_mode */
#define TEXT_BYTES_MAX (64u << 20)
#define LOADER_DATA_BYTES 4096 /* bytes of struct rtld_global that are read, of 4,300 in glibc 2.36, whose middle has the locks */
#define LOCK_BYTES 40u
#define LOCKS_MAX 3 /* the loader's locks of its list, of changes to that, and (since glibc 2.37) of thread-local storage */
#define KIND_RECURSIVE 1

/* These are the first members of glibc's pthread_mutex_t. */
struct lock {
	uint32_t lock, count, owner, users;
	int32_t kind;
};

struct learning {
	struct inject_process *p;
	char path[PATH_MAX]; /* path of the current object */
	bool is_unsafe, is_loader;
};

static bool text_starts_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Reads the offset of errno from the code of __errno_location, which is [endbr64;] mov offset(%rip), %rax; add %fs:0, %rax; ret.  Returns 0
 * for other code. */
static uint64_t find_errno_offset(pid_t pid, uint64_t function)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa }, load[] = { 0x48, 0x8b, 0x05 };
	static const unsigned char add[] = { 0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3 };
	unsigned char code[32];
	uint64_t offset, at = 0;
	int32_t relative;

	if (!function || proc_mem_read(pid, function, code, sizeof(code)))
		return 0;
	if (memcmp(code, endbr64, sizeof(endbr64)) == 0)
		at = sizeof(endbr64);
	if (memcmp(code + at, load, sizeof(load)) != 0 || memcmp(code + at + 7, add, sizeof(add)) != 0)
		return 0;
	memcpy(&relative, code + at + 3, sizeof(relative));
	return proc_mem_read(pid, function + at + 7 + (uint64_t)(int64_t)relative, &offset, sizeof(offset)) ? 0 : offset;
}

/* Do these LOCK_BYTES look like a recursive pthread_mutex_t, as the loader's locks are? */
static bool is_loader_lock(const unsigned char *at)
{
	static const unsigned char zeros[LOCK_BYTES];
	struct lock l;

	memcpy(&l, at, sizeof(l));
	return l.kind == KIND_RECURSIVE && l.lock <= 2 && l.users <= 2 && (l.lock || (!l.owner && !l.count)) &&
	       memcmp(at + sizeof(l), zeros, LOCK_BYTES - sizeof(l)) == 0;
}

/* The locks are not exported.  They are side by side in the loader's data (struct rtld_global), and nothing else there looks like them. */
static void find_loader_locks(struct inject_process *p, uint64_t data)
{
	unsigned char bytes[LOADER_DATA_BYTES];

	if (!data || proc_mem_read(p->pid, data, bytes, sizeof(bytes)))
		return;
	for (size_t i = 0; i + 2 * LOCK_BYTES <= sizeof(bytes); i += 8) {
		int nr = 0;

		while (nr < LOCKS_MAX && i + ((size_t)nr + 1) * LOCK_BYTES <= sizeof(bytes) &&
		       is_loader_lock(bytes + i + (size_t)nr * LOCK_BYTES))
			nr++;
		if (nr < 2)
			continue;
		p->nr_locks = nr;
		p->locks = data + i;
		return;
	}
}

bool inject_loader_is_free(const struct inject_process *p)
{
	struct lock l;

	for (int i = 0; i < p->nr_locks; i++)
		if (proc_mem_read(p->pid, p->locks + (uint64_t)i * LOCK_BYTES, &l, sizeof(l)) || l.lock || l.count || l.owner)
			return false;
	return true;
}

static void learn_loaded_object(struct learning *l, const struct proc_mapping *m)
{
	const char *slash = strrchr(m->path, '/'), *name = slash ? slash + 1 : m->path;
	bool libc = text_starts_with(name, "libc.so") || text_starts_with(name, "libc-2.");
	bool libdl = text_starts_with(name, "libdl.so") || text_starts_with(name, "libdl-2.");
	struct inject_process *p = l->p;
	uint64_t evaluate;

	strncpy(l->path, m->path, sizeof(l->path) - 1);
	l->is_loader = text_starts_with(name, "ld-linux") || text_starts_with(name, "ld-2.");
	l->is_unsafe = l->is_loader || libc || libdl || text_starts_with(name, "libpthread") ||
		       proc_mem_find_symbol(p->pid, m->start, "malloc") != 0;
	if (l->is_loader) {
		p->r_debug = proc_mem_find_symbol(p->pid, m->start, "_r_debug");
		p->loader.start = m->start;
		find_loader_locks(p, proc_mem_find_symbol(p->pid, m->start, "_rtld_global"));
	}
	if (libc)
		p->errno_at = find_errno_offset(p->pid, proc_mem_find_symbol(p->pid, m->start, "__errno_location"));
	if ((libc || libdl) && !p->dlopen) { /* dlopen is in libc since glibc 2.34 */
		p->dlopen = proc_mem_find_symbol(p->pid, m->start, "dlopen");
		p->mode = RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE;
	}
	if (libc && !p->dlopen) {
		p->dlopen = proc_mem_find_symbol(p->pid, m->start, "__libc_dlopen_mode");
		p->mode = RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE | DLOPEN_MODE_INTERNAL;
	}
	evaluate = p->python.start ? 0 : proc_mem_find_symbol(p->pid, m->start, "_PyEval_EvalFrameDefault");
	if (evaluate)
		inject_learn_python(p, m->start, evaluate);
	p->has_v8 |= proc_mem_find_symbol(p->pid, m->start, V8_INTERRUPT) != 0;
	if (text_starts_with(name, INJECT_LIBRARY))
		p->agent = m->start;
}

/* Finds the code to which signal handlers return. */
static void find_sigreturn(struct inject_process *p, const struct proc_mapping *m)
{
	static const unsigned char code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	size_t bytes = m->end - m->start;
	unsigned char *text = bytes < TEXT_BYTES_MAX ? malloc(bytes) : NULL, *at;

	if (text && proc_mem_read(p->pid, m->start, text, bytes) == 0 && (at = memmem(text, bytes, code, sizeof(code))))
		p->sigreturn = m->start + (uint64_t)(at - text);
	free(text);
}

static int learn_unsafe_mapping(void *context, const struct proc_mapping *m)
{
	struct learning *l = context;
	struct inject_process *p = l->p;

	if (m->path[0] != '/') {
		l->path[0] = 0;
		return 0;
	}
	if (m->offset == 0 && strcmp(m->path, l->path) != 0)
		learn_loaded_object(l, m);
	if (!l->is_unsafe || strcmp(m->path, l->path) != 0)
		return 0;
	if (l->is_loader)
		p->loader.end = m->end;
	if (!(m->prot & PROT_EXEC))
		return 0;
	if (!p->sigreturn && (strstr(m->path, "/libc.so") || strstr(m->path, "/libc-2.") || strstr(m->path, "/libpthread")))
		find_sigreturn(p, m);
	if (p->nr_unsafe == INJECT_UNSAFE_MAX)
		return -E2BIG;
	p->unsafe[p->nr_unsafe++] = (struct inject_range){ m->start, m->end };
	return 0;
}

int inject_process_learn(struct inject_process *p, pid_t pid)
{
	struct learning l = { .p = p };
	int ret;

	*p = (struct inject_process){ .pid = pid };
	ret = proc_each_mapping(pid, learn_unsafe_mapping, &l);
	return ret > 0 ? -E2BIG : ret;
}

static int find_agent_mapping(void *context, const struct proc_mapping *m)
{
	const char *slash = strrchr(m->path, '/');

	if (m->offset || !slash || !text_starts_with(slash + 1, INJECT_LIBRARY))
		return 0;
	((struct inject_process *)context)->agent = m->start;
	return 1;
}

bool inject_process_find_agent(struct inject_process *p)
{
	return proc_each_mapping(p->pid, find_agent_mapping, p) == 1;
}

bool inject_process_is_known(const struct inject_process *p)
{
	return p->dlopen && p->sigreturn && p->r_debug && p->errno_at && p->nr_locks;
}
