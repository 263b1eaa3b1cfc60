/* SPDX-License-Identifier: MIT */
#include "agent/recorder/hotspot/jvms.h"

#include "agent/recorder/hotspot/internal.h"
#include "agent/recorder/process/attach_target.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/trace/put.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define JVMS_MAX 256u
#define BLOBS_MAX (1u << 20) /* maximum number of blobs of one JVM; further ones are not written */
#define METHODS_MAX (1u << 18)
#define WAITING_MAX 4096u /* methods that were seen on stacks and that are not read yet */
#define CODE_BYTES_MAX (1u << 18) /* larger code is not read, so its prologue and epilogues are not searched */
#define SETTLE_NS 5000000u
#define LAST_SETTLE_NS 1000000000u
#define LOOK_NS 100000000u
#define LOOK_SHARE 50u /* a look at all blobs takes at most 1/LOOK_SHARE of the time */
#define UNTOLD_NS 500000000u /* how long blobs are not written, while the first code that an agent registers may still come */
#define TRIES_MAX 100u

/* These are offsets from rbp of words in an interpreted method's frame (frame_x86.hpp). */
#define METHOD_AT (-24)
#define BYTECODE_AT (-64)

enum blob_kind { BLOB_OTHER = 1, BLOB_METHOD, BLOB_LEAF };

struct jvm {
	uint32_t pid;
	uint64_t born_ns, library;
	bool is_attached, has_agent, has_layout, has_interpreter, is_told, is_over, was_looked_at;
	unsigned tries;
	struct hotspot_layout layout;
	uint64_t interpreter, interpreter_bytes;
	uint64_t interpreter_ns; /* when the interpreter was found */
	/* looked_ns: time of the last look at all blobs; next_ns: time from which the next one, or search for the interpreter, is due */
	uint64_t looked_ns, next_ns;
	struct hash_map blobs;	     /* (address, 0) -> number_of_blob() */
	struct hash_map kinds;	     /* (address of a name, 0) -> enum blob_kind */
	struct hash_map methods;     /* (address of a Method, 0) -> 1 if it was seen on a stack */
	ARRAY(struct hotspot_blob) new_blobs; /* they are to be written */
	uint32_t next_blob;
	uint64_t since_ns; /* time since which the new blobs may have existed: that of the look before, or the JVM's beginning */
	uint64_t waiting[WAITING_MAX]; /* addresses of methods to be read */
	uint32_t nr_waiting;
	struct hotspot_lines *lines; /* lines of methods in its compiled code; NULL before the first blob is written, or without memory */
	struct hotspot_compilations *compilations;
	struct hotspot_thread_names *names; /* names and compilations are NULL without memory, and for a JVM in another PID namespace */
};

struct jvms {
	const struct name_source_recording *recording;
	struct trace_writer *writer;
	struct jvm *jvm[JVMS_MAX];
	uint32_t nr;
	struct hotspot_method method; /* buffers, which are too large for the stack */
	struct hotspot_frames frames;
	struct trace_line line[HOTSPOT_LINES_MAX];
	unsigned char code[CODE_BYTES_MAX];
};

static int create(const struct name_source_recording *r, void **source)
{
	struct jvms *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->recording = r;
	j->writer = r->writer;
	*source = j;
	return 0;
}

static void free_jvm(struct jvm *m)
{
	hash_map_fini(&m->blobs);
	hash_map_fini(&m->kinds);
	hash_map_fini(&m->methods);
	free(m->new_blobs.at);
	hotspot_lines_destroy(m->lines);
	hotspot_thread_names_destroy(m->names);
	hotspot_compilations_destroy(m->compilations);
	free(m);
}

static void destroy(void *jvms)
{
	struct jvms *j = jvms;

	for (uint32_t i = 0; i < j->nr; i++)
		free_jvm(j->jvm[i]);
	free(j);
}

static struct jvm *find_jvm(const struct jvms *j, uint32_t pid)
{
	for (uint32_t i = 0; j && i < j->nr; i++)
		if (j->jvm[i]->pid == pid)
			return j->jvm[i];
	return NULL;
}

/* A process that maps libjvm.so is a JVM. */
static void note_mapping(void *jvms, const struct mapping *of, uint64_t time_ns)
{
	static const char name[] = "/libjvm.so";
	const size_t bytes = sizeof(name) - 1;
	const uint32_t pid = of->pid;
	struct jvms *j = jvms;
	struct jvm *m;

	if (of->path_bytes < bytes || memcmp(of->path + of->path_bytes - bytes, name, bytes) != 0 || find_jvm(j, pid))
		return;
	m = j->nr < JVMS_MAX ? calloc(1, sizeof(*m)) : NULL;
	if (!m)
		return;
	m->pid = pid;
	m->born_ns = time_ns;
	if (proc_mem_identify((pid_t)pid).own_pid == (pid_t)pid) { /* otherwise the JVM has other numbers for its threads */
		m->names = hotspot_thread_names_create();
		m->compilations = hotspot_compilations_create();
	}
	j->jvm[j->nr++] = m;
}

static void note_code(void *jvms, uint32_t pid, uint64_t address, uint64_t bytes)
{
	struct jvm *m = find_jvm(jvms, pid);

	(void)address;
	(void)bytes;
	if (m)
		m->is_told = true;
}

void jvms_note_comm(struct jvms *j, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct jvm *m = j && j->nr ? find_jvm(j, pid) : NULL;

	if (!m)
		return;
	hotspot_thread_names_note_comm(m->names, tid, time_ns);
	hotspot_compilations_forget_thread(m->compilations, tid);
}

static void note_exit(void *jvms, uint32_t pid, uint64_t time_ns)
{
	struct jvms *j = jvms;

	(void)time_ns;
	for (uint32_t i = 0; i < j->nr; i++)
		if (j->jvm[i]->pid == pid) {
			free_jvm(j->jvm[i]);
			j->jvm[i] = j->jvm[--j->nr];
			return;
		}
}

static void note_exec(void *jvms, const struct kernel_comm *c, uint64_t time_ns)
{
	note_exit(jvms, c->pid, time_ns);
}

/* --------------------------------------------------------------------------------------------------------- samples */

static void note_method(struct jvm *m, const struct sample_seen *s, uint64_t frame_pointer)
{
	uint64_t at = frame_pointer + (uint64_t)(int64_t)METHOD_AT - s->stack_pointer, method;

	if (at >= s->stack_bytes || s->stack_bytes - at < 8 || m->nr_waiting == WAITING_MAX)
		return;
	memcpy(&method, s->stack + at, 8);
	if (method % 8 || method < 4096 || m->methods.nr >= METHODS_MAX || hash_map_find(&m->methods, method, 0) ||
	    !hash_map_set(&m->methods, method, 0, 1))
		return;
	m->waiting[m->nr_waiting++] = method;
}

/* Notes interpreted methods on a sampled stack, to be read later, and a compilation.  A return address in the interpreter belongs to the
 * caller's frame, whose frame pointer was saved in the word below it. */
static void note_sample(void *jvms, const struct sample_seen *s)
{
	const struct jvms *j = jvms;
	struct jvm *m = j->nr && s->stack_bytes && s->stack_pointer ? find_jvm(j, s->pid) : NULL;
	uint64_t below = 0, word;

	if (!m || !m->has_interpreter)
		return;
	hotspot_compilations_note_sample(m->compilations, &m->layout, s);
	if (s->user_ip - m->interpreter < m->interpreter_bytes)
		note_method(m, s, s->frame_pointer);
	for (uint32_t at = 0; s->stack_bytes - at >= 8; at += 8, below = word) {
		memcpy(&word, s->stack + at, 8);
		if (word - m->interpreter < m->interpreter_bytes)
			note_method(m, s, below);
	}
}

/* --------------------------------------------------------------------------------------------------------- methods */

static void write_lines(struct jvms *j, const struct jvm *m)
{
	const struct hotspot_method *of = &j->method;

	for (uint32_t i = 0; i < of->nr_lines; i++)
		j->line[i] = (struct trace_line){ .address = of->line[i].address, .line = of->line[i].number,
						  .file = trace_string(of->file) };
	TRACE_PUT(j->writer, debug_info, m->born_ns, m->pid, 0, .code_addr = of->code, .nr_entry = of->nr_lines,
		  .entries = { j->line, of->nr_lines });
}

/* Writes an interpreted method as code, whose bytes are its bytecodes.  A native method has none, and its code is the Method itself. */
static void write_interpreted_method(struct jvms *j, struct jvm *m, uint64_t method)
{
	uint64_t start, bytes;
	size_t name_bytes;

	if (!hotspot_is_method(&m->layout, method) || !hotspot_read_method(&m->layout, method, true, &j->method))
		return;
	if (j->method.nr_lines)
		write_lines(j, m);
	start = j->method.code ? j->method.code : method;
	bytes = j->method.code ? j->method.code_bytes : m->layout.method_bytes;
	name_bytes = strlen(j->method.name);
	TRACE_PUT(j->writer, load, m->born_ns, m->pid, 0, .pid = m->pid, .vma = start, .code_addr = start, .code_size = bytes,
		  .name = { j->method.name, name_bytes });
}

/* ------------------------------------------------------------------------------------------------------------ code */

static enum blob_kind kind_of_name(struct jvm *m, uint64_t name)
{
	enum blob_kind kind = (enum blob_kind)hash_map_find(&m->kinds, name, 0);

	if (kind)
		return kind;
	kind = hotspot_holds_text((pid_t)m->pid, name, "nmethod") || hotspot_holds_text((pid_t)m->pid, name, "native nmethod") ?
		       BLOB_METHOD :
	       hotspot_holds_text((pid_t)m->pid, name, "I2C/C2I adapters") || hotspot_holds_text((pid_t)m->pid, name, "vtable chunks") ?
		       BLOB_LEAF :
		       BLOB_OTHER;
	hash_map_set(&m->kinds, name, 0, kind);
	return kind;
}

/* Sets j->method.name to package.Class.method, or to the blob's own name.  Returns false if it cannot be read. */
static bool name_blob(struct jvms *j, struct jvm *m, const struct hotspot_blob *b)
{
	const struct iovec piece = { (void *)(uintptr_t)b->name, 63 };
	ssize_t n;

	if (kind_of_name(m, b->name) == BLOB_METHOD)
		return hotspot_read_method(&m->layout, b->method, false, &j->method);
	n = proc_mem_read_many((pid_t)m->pid, &piece, 1, j->method.name);
	j->method.name[n > 0 ? n : 0] = 0;
	return j->method.name[0];
}

/* Makes unwind information of a blob.  Returns false if the shape of its frame is unknown. */
static bool describe_frames(struct jvms *j, struct jvm *m, const struct hotspot_blob *b)
{
	enum blob_kind kind = kind_of_name(m, b->name);
	bool has_code;

	if (m->interpreter - b->start < b->bytes) {
		hotspot_frames_of_interpreter(&j->frames, b->start, b->bytes);
		return true;
	}
	if (kind == BLOB_LEAF || (kind == BLOB_METHOD && b->frame_words < 2)) {
		hotspot_frames_of_leaf(&j->frames, b->start, b->bytes);
		return true;
	}
	if (b->frame_words < 2)
		return false;
	has_code = b->bytes <= sizeof(j->code) && proc_mem_read((pid_t)m->pid, b->start, j->code, b->bytes) == 0;
	hotspot_frames_of_code(&j->frames, b->start, b->bytes, (uint32_t)b->frame_words,
			       b->frame_complete > 0 ? (uint32_t)b->frame_complete : 0, has_code ? j->code : NULL);
	return true;
}

static void write_blob(struct jvms *j, struct jvm *m, const struct hotspot_blob *b, bool with_lines)
{
	if (!name_blob(j, m, b))
		return;
	if (describe_frames(j, m, b))
		TRACE_PUT(j->writer, eh_frame, m->since_ns, m->pid, 0, .address = b->start,
			  .frames = { j->frames.bytes, j->frames.writer.nr });
	if (m->is_told) /* the agent registers names and lines, but no frames */
		return;
	if (with_lines && m->lines && kind_of_name(m, b->name) == BLOB_METHOD)
		hotspot_lines_write(m->lines, &m->layout, b, j->writer, m->pid, m->since_ns);
	TRACE_PUT(j->writer, load, m->since_ns, m->pid, 0, .pid = m->pid, .vma = b->start, .code_addr = b->start, .code_size = b->bytes,
		  .name = trace_string(j->method.name));
	j->recording->code_written(j->recording->recording, m->pid, b->start, b->bytes, m->since_ns);
}

/* Returns a number that identifies a blob.  A later blob at its address hardly ever has the same. */
static uint32_t number_of_blob(const struct hotspot_blob *b)
{
	const uint64_t facts[] = { b->start, b->bytes, b->name, b->method, b->compile_id };
	uint32_t number = (uint32_t)(hash_bytes(facts, sizeof(facts)) >> 32);

	return number ? number : 1;
}

static bool note_blob(void *context, const struct hotspot_blob *found)
{
	struct jvm *m = context;
	struct hotspot_blob b = *found;
	uint32_t number;

	if (kind_of_name(m, b.name) != BLOB_METHOD)
		b.method = b.compile_id = 0;
	number = number_of_blob(&b);
	if (hash_map_find(&m->blobs, b.address, 0) == number)
		return true;
	if (m->blobs.nr >= BLOBS_MAX || !ARRAY_GROW(m->new_blobs) || !hash_map_set(&m->blobs, b.address, 0, number))
		return false;
	m->new_blobs.at[m->new_blobs.nr++] = b;
	return true;
}

static void look_at_code(struct jvm *m, uint64_t now_ns)
{
	uint64_t begin_ns = clock_now_ns(), took_ns;
	int ret;

	m->new_blobs.nr = m->next_blob = 0;
	m->since_ns = m->was_looked_at ? m->looked_ns : m->born_ns;
	ret = hotspot_each_blob(&m->layout, note_blob, m);
	if (ret == 0) {
		m->looked_ns = now_ns;
		m->was_looked_at = true;
	}
	took_ns = clock_now_ns() - begin_ns;
	m->next_ns = now_ns + (took_ns * LOOK_SHARE > LOOK_NS ? took_ns * LOOK_SHARE : LOOK_NS);
}

/* ----------------------------------------------------------------------------------------------------- one of them */

static int find_library(void *context, const struct proc_mapping *p)
{
	const char *name = strrchr(p->path, '/');

	if (!name || strcmp(name, "/libjvm.so") != 0 || p->offset)
		return 0;
	*(uint64_t *)context = p->start;
	return 1;
}

/* Finds the layout and the interpreter. libjvm.so is mapped before it is relocated, and the interpreter is made a while later, so this is
 * called up to TRIES_MAX times, and then the JVM is given up. */
static void find_interpreter(struct jvms *j, struct jvm *m, uint64_t now_ns)
{
	uint64_t stubs, start;
	int32_t bytes;

	m->tries++;
	m->next_ns = now_ns + LOOK_NS;
	if (!m->has_layout) {
		if (!m->library && proc_each_mapping((pid_t)m->pid, find_library, &m->library) != 1)
			return;
		m->has_layout = hotspot_layout_read(&m->layout, (pid_t)m->pid, m->library) == 0;
	}
	if (!m->has_layout || proc_mem_read((pid_t)m->pid, m->layout.interpreter, &stubs, 8) || !stubs ||
	    proc_mem_read((pid_t)m->pid, stubs + m->layout.stubs_start, &start, 8) ||
	    proc_mem_read((pid_t)m->pid, stubs + m->layout.stubs_bytes, &bytes, 4) || !start || bytes <= 0) {
		m->is_over = m->tries == TRIES_MAX;
		return;
	}
	m->interpreter = start;
	m->interpreter_bytes = (uint64_t)bytes;
	m->interpreter_ns = now_ns;
	m->has_interpreter = true;
	m->has_agent = !m->is_attached && attach_target_has_agent((pid_t)m->pid);
	m->next_ns = now_ns;
	TRACE_PUT(j->writer, interpreter, m->born_ns, m->pid, 0, .address = start, .bytes = (uint64_t)bytes, .place = BYTECODE_AT,
		  .function = METHOD_AT);
}

/* Writes new blobs.  At the end of a recording, lines are written in the first half of the time only, because names matter more. */
static void write_new_blobs(struct jvms *j, struct jvm *m, bool last, uint64_t until_ns)
{
	uint64_t now_ns = clock_now_ns();

	if (!m->lines)
		m->lines = hotspot_lines_create();
	for (; m->next_blob < m->new_blobs.nr && now_ns < until_ns; now_ns = clock_now_ns())
		write_blob(j, m, &m->new_blobs.at[m->next_blob++], !last || until_ns - now_ns > LAST_SETTLE_NS / 2);
}

static void settle_jvm(struct jvms *j, struct jvm *m, uint64_t now_ns, bool last, uint64_t until_ns)
{
	if (m->is_over)
		return;
	if (!m->has_interpreter && now_ns >= m->next_ns)
		find_interpreter(j, m, now_ns);
	if (!m->has_interpreter)
		return;
	while (m->nr_waiting && clock_now_ns() < until_ns)
		write_interpreted_method(j, m, m->waiting[--m->nr_waiting]);
	if (!m->is_told)
		hotspot_thread_names_settle(m->names, &m->layout, m->library, j->writer, m->born_ns, now_ns);
	hotspot_compilations_settle(m->compilations, &m->layout, j->writer, now_ns, last);
	if (!m->is_told && m->has_agent && now_ns - m->interpreter_ns < UNTOLD_NS)
		return;
	write_new_blobs(j, m, last, until_ns);
	if (m->next_blob < m->new_blobs.nr || (now_ns < m->next_ns && !last))
		return;
	look_at_code(m, now_ns);
	write_new_blobs(j, m, last, until_ns);
}

static void settle(void *jvms, uint64_t now_ns, bool last)
{
	struct jvms *j = jvms;
	uint64_t until_ns = clock_now_ns() + (last ? LAST_SETTLE_NS : SETTLE_NS);

	for (uint32_t i = 0; i < j->nr; i++)
		settle_jvm(j, j->jvm[i], now_ns, last, until_ns);
}

bool jvms_can_read(struct jvms *j, uint32_t pid, uint64_t now_ns)
{
	struct jvm *m = find_jvm(j, pid);

	if (!m)
		return false;
	m->is_attached = true;
	m->has_agent = false;
	if (!m->was_looked_at)
		settle_jvm(j, m, now_ns, false, clock_now_ns());
	return m->was_looked_at && m->blobs.nr > 0;
}

const struct name_source jvms_source = { .is_live_only = true, .create = create, .destroy = destroy,
	.note_exec = note_exec, .note_exit = note_exit, .note_mapping = note_mapping, .note_sample = note_sample, .note_code = note_code,
	.settle = settle };
