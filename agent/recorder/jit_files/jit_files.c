/* SPDX-License-Identifier: MIT */
#include "agent/recorder/jit_files/jit_files.h"

#include "agent/recorder/jit_files/code_reader.h"
#include "agent/recorder/jit_files/host_options.h"
#include "agent/recorder/jit_files/jitdump.h"
#include "agent/recorder/jit_files/page_reader.h"
#include "agent/recorder/jit_files/perf_map.h"
#include "agent/recorder/process/proc_mem.h"
#include "agent/recorder/process/time_namespace.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/deleted_path.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/mapping_kind.h"
#include "jitreg/base/regular_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PIECE_BYTES (256u << 10)
#define DRAIN_BYTES (4u << 20) /* maximum number of bytes read of one file at a drain, because rings fill meanwhile */
#define DRAIN_BYTES_ALL ((uint64_t)64 << 20) /* the same for all files together, also at the last drain, so that TERM ends it soon */
#define DRAIN_NS_ALL 1000000000u	/* longest processor time of a drain, because short lines take longer than their bytes suggest */
#define PAST_BYTES_ALL ((uint64_t)4 << 30)   /* maximum number of bytes read of all files in an import, where no ring fills meanwhile */
#define WATCHED_MAX 4096u
#define DUMPS_MAX 16u	   /* maximum number of files of one process */
#define LOOKS_AT_FIRST 100
#define LOOK_EVERY 10
#define ENDED_DRAINS 20u   /* after a process's end, its files are read at so many drains, and at one more */
#define PATH_BYTES 4200u
#define LATE_NS 200000000u /* time without a new line in a perf map, after which lines are taken to have been buffered by the JIT */

struct dump {
	int fd;
	struct stat st;
	uint64_t at;
	struct jitdump *reader;
};

struct watched {
	uint32_t pid;
	struct proc_mem_identity identity;
	unsigned ended; /* 1 + number of drains since its end; 0: it lives */
	bool options_read;
	int root;	/* descriptor of the process's root directory, with which its files can be opened after its end */
	uint64_t mapped_ns; /* time of its first memory for code, or of its fork, which code of an unknown earlier time gets, too */
	int map_fd;	/* descriptor of the perf map; -1: there is none yet */
	struct stat map_st;
	/* bytes of the perf map that were read; its size as of until_ns; times of the last two looks at that size */
	uint64_t map_at, map_end, looked_ns, until_ns;
	uint64_t grown_ns; /* time of the last look whose new lines were read */
	struct unloads unloads;
	uint32_t looks; /* number of looks for a perf map without finding one */
	bool map_of_others; /* there was a perf map of another user, which was counted */
	struct perf_map *map;
	uint32_t nr_dumps;
	struct dump dump[DUMPS_MAX];
};

struct jit_files {
	const struct name_source_recording *recording;
	ARRAY(struct watched *) watched;
	uint32_t last; /* index of the process that find_watched_process() found last */
	uint64_t missed; /* 1 + PID that find_watched_process() did not find the last time; 0: none */
	bool past; /* an import */
	uint32_t left_out;
	struct {
		uint32_t nr, pid;
		uid_t owner, user; /* owner of the first file, and user of its process */
		char path[128];
	} of_others;
	uint64_t nr_ambiguous; /* sum of perf_map_ambiguous() of forgotten processes */
	struct code_reader *reader; /* NULL: an import, or memory ran out */
	struct page_reader *pages;  /* NULL: an import, or memory ran out */
	uint32_t turn;		    /* number of drains, by which the process whose files are read first changes */
	uint64_t left;		    /* bytes that this drain may still read */
	uint64_t until_ns;	    /* the thread's processor time (clock_thread_ns()) at which this drain stops reading */
	char piece[PIECE_BYTES];
};

struct losses {
	uint64_t bad;	 /* invalid lines and files */
	uint64_t unread; /* files that were not read to their end */
};

struct report {
	struct trace_writer *w;
	struct code_reader *reader;
	struct page_reader *pages;
	uint32_t pid;
	uint64_t mapped_ns;
};

static int create(const struct name_source_recording *r, void **source)
{
	struct jit_files *f = calloc(1, sizeof(*f));

	*source = f;
	if (!f)
		return -ENOMEM;
	f->recording = r;
	f->past = r->options->past_end_ns;
	f->reader = f->past ? NULL : code_reader_create();
	f->pages = f->past ? NULL : page_reader_create();
	return 0;
}

static void forget_watched_process(struct jit_files *f, uint32_t i)
{
	struct watched *w = f->watched.at[i];

	for (uint32_t n = 0; n < w->nr_dumps; n++) {
		jitdump_destroy(w->dump[n].reader);
		close(w->dump[n].fd);
	}
	f->nr_ambiguous += perf_map_ambiguous(w->map);
	perf_map_destroy(w->map);
	unloads_fini(&w->unloads);
	if (w->map_fd >= 0)
		close(w->map_fd);
	if (w->root >= 0)
		close(w->root);
	free(w);
	f->watched.at[i] = f->watched.at[--f->watched.nr];
}

static void destroy(void *jit_files)
{
	struct jit_files *f = jit_files;

	while (f->watched.nr)
		forget_watched_process(f, 0);
	free(f->watched.at);
	code_reader_destroy(f->reader);
	page_reader_destroy(f->pages);
	free(f);
}

/* ---------------------------------------------------------------------------------------------------- processes */

static struct watched *find_watched_process(struct jit_files *f, uint32_t pid)
{
	if (f->last < f->watched.nr && f->watched.at[f->last]->pid == pid && !f->watched.at[f->last]->ended)
		return f->watched.at[f->last];
	if (f->missed == 1 + (uint64_t)pid)
		return NULL;
	for (uint32_t i = 0; i < f->watched.nr; i++)
		if (f->watched.at[i]->pid == pid && !f->watched.at[i]->ended) {
			f->last = i;
			return f->watched.at[i];
		}
	f->missed = 1 + (uint64_t)pid;
	return NULL;
}

/* Returns the process, which is watched from now on if it was not.  Returns NULL if memory runs out, or there are WATCHED_MAX others. */
static struct watched *get_watched_process(struct jit_files *f, uint32_t pid, uint64_t time_ns)
{
	struct watched *w = find_watched_process(f, pid);
	char path[64];

	if (w || f->watched.nr >= WATCHED_MAX)
		return w;
	if (!ARRAY_GROW(f->watched))
		return NULL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->pid = pid;
	w->map_fd = -1;
	snprintf(path, sizeof(path), "/proc/%u/root", f->past ? pid : proc_mem_number_in_proc(pid));
	w->root = open(f->past ? "/" : path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	w->identity = f->past ? (struct proc_mem_identity){ .own_pid = (pid_t)pid, .uid = (uid_t)-1 } :
		       proc_mem_identify((pid_t)pid);
	w->mapped_ns = w->until_ns = w->grown_ns = time_ns;
	f->watched.at[f->watched.nr++] = w;
	f->missed = 0;
	return w;
}

static void note_sample(void *jit_files, const struct sample_seen *seen)
{
	struct jit_files *f = jit_files;

	if (f->past)
		return;
	code_reader_note_sample(f->reader, seen->pid, seen->user_ip);
	if (find_watched_process(f, seen->pid))
		page_reader_note_sample(f->pages, seen->pid, seen->user_ip);
}

void jit_files_add_code(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns)
{
	code_reader_add_range(f->reader, pid, address, bytes, time_ns);
	page_reader_note_code(f->pages, pid, address, bytes);
}

/* The pages of code that an agent has registered need not be read. */
static void note_code(void *jit_files, uint32_t pid, uint64_t address, uint64_t bytes)
{
	const struct jit_files *f = jit_files;

	page_reader_note_code(f->pages, pid, address, bytes);
}

void jit_files_note_unload(struct jit_files *f, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns)
{
	struct watched *w = bytes && bytes <= UINT64_MAX - address ? find_watched_process(f, pid) : NULL;

	if (w)
		unloads_add(&w->unloads, address, address + bytes, time_ns);
}

/* Notes that the program of pid has ended at time_ns, so its files are read for some more drains.  If pid is watched only since then, that
 * is for its next program, and it is watched on. */
static void end_program(struct jit_files *f, uint32_t pid, uint64_t time_ns)
{
	struct watched *w = find_watched_process(f, pid);

	if (w && w->mapped_ns < time_ns) {
		w->ended = 1;
		page_reader_forget_process(f->pages, pid);
	}
	code_reader_forget_process(f->reader, pid);
}

static void note_exec(void *jit_files, const struct kernel_comm *c, uint64_t time_ns)
{
	end_program(jit_files, c->pid, time_ns);
}

static void note_exit(void *jit_files, uint32_t pid, uint64_t time_ns)
{
	(void)time_ns;
	end_program(jit_files, pid, UINT64_MAX); /* no memory of the process is newer */
}

/* ------------------------------------------------------------------------------------------------------ jitdump */

static bool ends_with(const char *text, size_t bytes, const char *end)
{
	size_t n = strlen(end);

	return bytes >= n && memcmp(text + bytes - n, end, n) == 0;
}

/* Is it the path of a jitdump file?  All known writers name it jit-….dump. */
static bool is_jitdump_path(const char *path, size_t bytes)
{
	const char *slash = memrchr(path, '/', bytes);

	if (!slash)
		return false;
	bytes = deleted_path_bytes(path, bytes);
	return (size_t)(path + bytes - slash) > 5 && strncmp(slash + 1, "jit-", 4) == 0 && ends_with(path, bytes, ".dump");
}

/* Is this a regular file of the process's user or of root?  The path of the mapping may name another file by now, which any user may have
 * put there.  If the process's user is unknown, as in an import, any regular file is taken. */
static bool is_file_of_process(const struct watched *w, const struct stat *st)
{
	return S_ISREG(st->st_mode) && (w->identity.uid == (uid_t)-1 || st->st_uid == w->identity.uid || st->st_uid == 0);
}

/* Counts a file of another user, of which nothing is read, and keeps the path of the first for notice_files_of_others(). */
static void note_file_of_others(struct jit_files *f, const struct watched *w, const char *path, uid_t owner)
{
	if (f->of_others.nr++)
		return;
	f->of_others.pid = w->pid;
	f->of_others.owner = owner;
	f->of_others.user = w->identity.uid;
	snprintf(f->of_others.path, sizeof(f->of_others.path), "%s%.120s", *path == '/' ? "" : "/", path);
}

/* Writes a notice if files of other users were not read. If they were, any user could name the code of others. */
static void notice_files_of_others(const struct jit_files *f)
{
	char more[48] = "";

	if (f->of_others.nr > 1)
		snprintf(more, sizeof(more), " (and %u more)", f->of_others.nr - 1);
	if (f->of_others.nr)
		f->recording->notice(f->recording->recording, NOTICE_NAMES_NOT_READ, TRACE_NAMES_NOT_READ
				     "%s%s belongs to user %u, and process %u, whose code it would name, to user %u",
				     f->of_others.path, more, f->of_others.owner, f->of_others.pid, f->of_others.user);
}

/* Opens a file by the process's descriptor for it, since a writer (V8) may have removed the file already, and has it open while it writes.
 * Returns -1 if there is none. */
static int open_file_by_descriptor(uint32_t pid, const char *path, size_t bytes)
{
	char folder[64], name[PATH_BYTES], target[PATH_BYTES];
	struct dirent *e;
	int fd = -1;
	DIR *d;

	snprintf(folder, sizeof(folder), "/proc/%u/fd", proc_mem_number_in_proc(pid));
	d = opendir(folder);
	while (d && fd < 0 && (e = readdir(d))) {
		ssize_t n;

		snprintf(name, sizeof(name), "%s/%.20s", folder, e->d_name);
		n = readlink(name, target, sizeof(target));
		if (n >= (ssize_t)bytes && memcmp(target, path, bytes) == 0)
			fd = regular_file_open(name);
	}
	if (d)
		closedir(d);
	return fd;
}

static void add_jitdump_file(struct jit_files *f, struct watched *w, const struct mapping *m, uint64_t time_ns)
{
	const char *path = m->path;
	size_t path_bytes = m->path_bytes;
	struct jitdump_writer writer = { .mapped_ns = time_ns, .has_just_mapped = !m->existed && !m->by_guest &&
					 time_ns > f->recording->options->past_begin_ns };
	struct dump new = { .fd = -1 };
	char name[PATH_BYTES];

	if (f->recording->options->past_other_clock) {
		f->left_out++;
		return;
	}
	if (w->nr_dumps == DUMPS_MAX || path_bytes + 32 > sizeof(name))
		return;
	path_bytes = deleted_path_bytes(path, path_bytes);
	snprintf(name, sizeof(name), "%.*s", (int)path_bytes, path);
	if (w->root >= 0)
		new.fd = regular_file_open_at(w->root, name + 1, false, &new.st);
	if (new.fd < 0 && !f->past) {
		char link[96];

		snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", proc_mem_number_in_proc(w->pid),
			 (unsigned long long)m->address, (unsigned long long)(m->address + m->bytes));
		new.fd = regular_file_open(link); /* this works if the path names another file by now, but needs privileges */
	}
	if (new.fd < 0 && !f->past)
		new.fd = open_file_by_descriptor(w->pid, name, path_bytes);
	if (new.fd < 0 || fstat(new.fd, &new.st) || !is_file_of_process(w, &new.st)) {
		if (new.fd >= 0 && S_ISREG(new.st.st_mode))
			note_file_of_others(f, w, name, new.st.st_uid);
		if (new.fd >= 0)
			close(new.fd);
		return;
	}
	for (uint32_t i = 0; i < w->nr_dumps; i++)
		if (w->dump[i].st.st_dev == new.st.st_dev && w->dump[i].st.st_ino == new.st.st_ino) {
			close(new.fd);
			return; /* the file is read already, as its writer has mapped it before */
		}
	writer.ahead_ns = f->past ? 0 : time_namespace_ahead_ns((pid_t)proc_mem_number_in_proc(w->pid));
	new.reader = jitdump_create(&writer);
	if (new.reader)
		w->dump[w->nr_dumps++] = new;
	else
		close(new.fd);
}

static void note_mapping(void *jit_files, const struct mapping *m, uint64_t time_ns)
{
	struct jit_files *f = jit_files;
	bool dump = is_jitdump_path(m->path, m->path_bytes);
	struct watched *w;

	if (!dump && !mapping_may_hold_generated_code(m->path, m->path_bytes, m->prot, m->shared))
		return;
	w = get_watched_process(f, m->pid, time_ns);
	if (w)
		unloads_mapped(&w->unloads, m->address, m->address + m->bytes, time_ns);
	if (w && dump)
		add_jitdump_file(f, w, m, time_ns);
}

/* The child may have generated code and write a perf map if its parent may. */
static void note_fork(void *jit_files, uint32_t ppid, uint32_t pid, uint64_t time_ns)
{
	if (find_watched_process(jit_files, ppid))
		get_watched_process(jit_files, pid, time_ns);
}

static void write_jitdump_record(void *context, uint32_t id, uint64_t time_ns, uint32_t tid, const struct schema_value *values, int nr)
{
	const struct report *r = context;

	if (id == JITREG_LOAD)
		page_reader_note_code(r->pages, r->pid, values[F(load, code_addr)].u, values[F(load, code_size)].u);
	trace_record_values(r->w, id, time_ns, r->pid, tid, values, nr);
}

/* Reads fd from *at on, piece by piece, until its end, or until limit bytes, the bytes that this drain may still read, or its processor
 * time are used up. Each piece goes to take(), which returns false to end the reading. Advances *at. */
static void read_file_pieces(struct jit_files *f, int fd, uint64_t *at, uint64_t limit,
			     bool (*take)(void *context, const char *piece, size_t n), void *context)
{
	limit = limit < f->left ? limit : f->left;
	while (limit && clock_thread_ns() < f->until_ns) {
		ssize_t n = pread(fd, f->piece, limit < sizeof(f->piece) ? limit : sizeof(f->piece), (off_t)*at);

		if (n <= 0)
			return;
		*at += (uint64_t)n;
		limit -= (uint64_t)n;
		f->left -= (uint64_t)n;
		if (!take(context, f->piece, (size_t)n))
			return;
	}
}

struct dump_context {
	struct report report;
	const struct jit_files *files;
	struct dump *dump;
	bool bad;
};

static bool feed_jitdump_piece(void *context, const char *piece, size_t n)
{
	struct dump_context *c = context;
	struct jitdump_clock now = jitdump_clock_now();

	if (c->files->past)
		now = (struct jitdump_clock){ 0, c->files->recording->options->past_end_ns };
	c->bad = jitdump_feed(c->dump->reader, piece, n, &now, write_jitdump_record, &c->report) != 0;
	return !c->bad;
}

static void drain_jitdump_files(struct jit_files *f, struct watched *w, struct trace_writer *writer, uint64_t limit, uint64_t *bad)
{
	for (uint32_t i = 0; i < w->nr_dumps; i++) {
		struct dump_context c = { { writer, NULL, f->pages, w->pid, w->mapped_ns }, f, &w->dump[i], false };

		if (!w->dump[i].reader)
			continue;
		read_file_pieces(f, w->dump[i].fd, &w->dump[i].at, limit, feed_jitdump_piece, &c);
		if (c.bad) { /* the element stays without a reader, so that the file is not read again when it is mapped again */
			jitdump_destroy(w->dump[i].reader);
			w->dump[i].reader = NULL;
			(*bad)++;
		}
	}
}

/* ----------------------------------------------------------------------------------------------------- perf map */

struct map_context {
	struct report report;
	struct perf_map *map;
	struct perf_map_look look;
	uint64_t bad;
};

static void write_perf_map_entry(void *context, const struct perf_map_entry *e, uint64_t time_ns)
{
	const struct report *r = context;

	time_ns = time_ns == JITREG_TIME_BEFORE ? r->mapped_ns : time_ns;
	code_reader_add_range(r->reader, r->pid, e->address, e->bytes, time_ns);
	page_reader_note_code(r->pages, r->pid, e->address, e->bytes);
	TRACE_PUT(r->w, load, time_ns, r->pid, 0, .pid = r->pid, .vma = e->address, .code_addr = e->address, .code_size = e->bytes,
		  .name = { e->name, e->name_bytes });
}

static bool feed_perf_map_piece(void *context, const char *piece, size_t n)
{
	struct map_context *c = context;

	c->bad += perf_map_feed(c->map, piece, n, &c->look, write_perf_map_entry, &c->report);
	return true;
}

/* Counts a perf map that was written since this process began and would be its own if it did not belong to another user.  It is counted
 * once for the process. */
static void note_map_of_others(struct jit_files *f, struct watched *w, const char *path, const struct stat *st)
{
	if (f->past || w->map_of_others || st->st_mtime + 1 < w->identity.born_s || w->identity.uid == (uid_t)-1 ||
	    st->st_uid == w->identity.uid)
		return;
	note_file_of_others(f, w, path, st->st_uid);
	w->map_of_others = true;
}

static void open_perf_map(struct jit_files *f, struct watched *w)
{
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "tmp/perf-%d.map", (int)w->identity.own_pid);
	if (w->root < 0 || fstatat(w->root, path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return;
	if (w->map_fd >= 0 && st.st_dev == w->map_st.st_dev && st.st_ino == w->map_st.st_ino) {
		if ((uint64_t)st.st_size < w->map_at) { /* the file was truncated and written anew */
			w->map_at = 0;
			perf_map_restart(w->map);
		}
		return;
	}
	fd = regular_file_open_at(w->root, path, false, &st);
	if (fd < 0)
		return;
	if (!w->map)
		w->map = perf_map_create();
	if (f->past ? st.st_mtime > f->recording->options->past_end_s : !proc_mem_may_have_written(&w->identity, &st)) {
		note_map_of_others(f, w, path, &st);
		close(fd);
		return;
	}
	if (!w->map) {
		close(fd);
		return;
	}
	if (w->map_fd >= 0)
		close(w->map_fd);
	perf_map_restart(w->map);
	w->map_fd = fd;
	w->map_st = st;
	w->map_at = 0;
}

static struct map_context read_map_context(const struct jit_files *f, struct watched *w, struct trace_writer *writer)
{
	return (struct map_context){ { writer, w->ended ? NULL : f->reader, f->pages, w->pid, w->mapped_ns }, w->map,
				     { w->looked_ns, w->until_ns, &w->unloads, w->until_ns - w->grown_ns > LATE_NS }, 0 };
}

static void drain_perf_map(struct jit_files *f, struct watched *w, struct trace_writer *writer, uint64_t limit, uint64_t *bad)
{
	struct map_context c = read_map_context(f, w, writer);

	if (w->map_fd < 0 || w->map_at >= w->map_end)
		return;
	read_file_pieces(f, w->map_fd, &w->map_at, limit < w->map_end - w->map_at ? limit : w->map_end - w->map_at, feed_perf_map_piece,
			 &c);
	if (w->map_at >= w->map_end)
		w->grown_ns = w->until_ns;
	*bad += c.bad;
}

/* Reads the last line of a perf map, which may lack its newline, when the file is read for the last time. */
static void end_perf_map(const struct jit_files *f, struct watched *w, struct trace_writer *writer)
{
	struct map_context c = read_map_context(f, w, writer);

	if (w->map && w->map_fd >= 0 && w->map_at >= w->map_end)
		perf_map_end(w->map, &c.look, write_perf_map_entry, &c.report);
}

static void look_at_map(struct jit_files *f, struct watched *w, bool last)
{
	struct stat st;

	/* most processes never write a perf map, so after LOOKS_AT_FIRST looks, only one in LOOK_EVERY opens the path */
	if (w->map_fd < 0 && !last && !w->ended && w->looks++ > LOOKS_AT_FIRST && w->looks % LOOK_EVERY != 0)
		return;
	w->looked_ns = w->until_ns;
	w->until_ns = jitdump_clock_now().ns;
	open_perf_map(f, w);
	if (w->map_fd >= 0 && fstat(w->map_fd, &st) == 0)
		w->map_end = (uint64_t)st.st_size;
}

/* Returns the sum of perf_map_ambiguous() of all processes that were watched. */
static uint64_t count_ambiguous_names(const struct jit_files *f)
{
	uint64_t nr = f->nr_ambiguous;

	for (uint32_t i = 0; i < f->watched.nr; i++)
		nr += perf_map_ambiguous(f->watched.at[i]->map);
	return nr;
}

static void begin_drain(void *jit_files)
{
	struct jit_files *f = jit_files;

	for (uint32_t i = 0; i < f->watched.nr; i++)
		look_at_map(f, f->watched.at[i], false);
}

static uint64_t count_unread_files(const struct watched *w)
{
	uint64_t nr = w->map_fd >= 0 && w->map_at < w->map_end;
	struct stat st;

	for (uint32_t i = 0; i < w->nr_dumps; i++)
		nr += w->dump[i].reader && fstat(w->dump[i].fd, &st) == 0 && (uint64_t)st.st_size > w->dump[i].at;
	return nr;
}

static void drain_process(struct jit_files *f, struct watched *p, struct trace_writer *w, bool last, struct losses *losses)
{
	uint64_t limit = last ? UINT64_MAX : DRAIN_BYTES;

	if (!f->past && !p->ended && !p->options_read)
		host_options_write(w, p->pid, p->mapped_ns);
	p->options_read = true;
	if (last || p->until_ns == p->mapped_ns) /* no begin_drain() has seen the process yet, and its file may be gone by the next */
		look_at_map(f, p, last);
	drain_perf_map(f, p, w, limit, &losses->bad);
	drain_jitdump_files(f, p, w, limit, &losses->bad);
}

static void drain_files(struct jit_files *f, struct trace_writer *w, bool last, struct losses *losses)
{
	f->left = f->past ? PAST_BYTES_ALL : DRAIN_BYTES_ALL;
	f->until_ns = f->past ? UINT64_MAX : clock_thread_ns() + DRAIN_NS_ALL;
	f->turn++;
	for (uint32_t i = 0; i < f->watched.nr; i++)
		drain_process(f, f->watched.at[(i + f->turn) % f->watched.nr], w, last, losses);
	for (uint32_t i = f->watched.nr; i > 0; i--) {
		struct watched *p = f->watched.at[i - 1];
		bool forgotten = p->ended && p->ended++ > ENDED_DRAINS;

		if (last || forgotten) {
			end_perf_map(f, p, w);
			losses->unread += count_unread_files(p);
		}
		if (forgotten)
			forget_watched_process(f, i - 1);
	}
	code_reader_drain(f->reader, w);
	page_reader_drain(f->pages, w, last);
}

static void settle(void *jit_files, uint64_t now_ns, bool last)
{
	struct jit_files *f = jit_files;
	const struct name_source_recording *r = f->recording;
	struct losses losses = { 0 };

	(void)now_ns;
	if (f->past && !last) /* in an import the files do not grow, so they are read once */
		return;
	drain_files(f, r->writer, last, &losses);
	r->lost(r->recording, LOSS_FILES_BAD, losses.bad);
	r->lost(r->recording, LOSS_FILES_UNREAD, losses.unread);
}

static void end(void *jit_files, uint64_t now_ns)
{
	const struct jit_files *f = jit_files;
	const struct name_source_recording *r = f->recording;
	uint64_t nr_ambiguous = count_ambiguous_names(f);

	(void)now_ns;
	if (nr_ambiguous)
		r->notice(r->recording, NOTICE_LOSS, "%llu names of perf maps came long after their code, for addresses that have another "
			  "name: a perf map has no times, so their samples have the other name; a jitdump file has times",
			  (unsigned long long)nr_ambiguous);
	notice_files_of_others(f);
	if (f->left_out)
		r->notice(r->recording, NOTICE_REFUSED, "%u jitdump file%s left out: %s; record with `perf record -k mono`", f->left_out,
			  f->left_out == 1 ? "" : "s", r->options->past_other_clock);
}

const struct name_source jit_files_source = { .create = create, .destroy = destroy, .note_fork = note_fork, .note_exec = note_exec,
	.note_exit = note_exit, .note_mapping = note_mapping, .note_sample = note_sample, .note_code = note_code,
	.begin_drain = begin_drain, .settle = settle, .end = end };
