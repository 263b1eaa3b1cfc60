/* SPDX-License-Identifier: MIT */
/* Takes registrations of agents. Most are written into the trace as they are. The recorder itself also uses images, code, unloads and tags.
 * It writes other records for control records that are meant for it. */
#include "agent/recorder/recording/internal.h"

#include "agent/recorder/images/images.h"
#include "agent/recorder/jit_files/gdb_jit_poll.h"
#include "agent/recorder/jit_files/jit_files.h"
#include "jitreg/base/registers.h"
#include "jitreg/hosts/python_notes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define INSTRUCTION_POINTER (1ull << REGISTER_PERF_IP) /* kept, too, as it is the user's instruction if the kernel was sampled */
#define TAG_REGISTERS (0xfull << 20 | 1ull << 1) /* r12 to r15 and rbx, the registers that may hold tags */

static void add_image_mappings(struct recording *r, uint32_t pid, uint64_t time_ns, const struct schema_value *v)
{
	const struct schema_value *segments = &v[F(image, segments)], *path = &v[F(image, path)], *id = &v[F(image, build_id)];
	bool vdso = v[F(image, flags)].u & JITREG_IMAGE_VDSO;
	void *images = recording_source(r, &images_source);

	if (v[F(image, flags)].u & JITREG_IMAGE_MEMORY_ELF)
		return;
	for (uint64_t i = 0; i < segments->u; i++) {
		struct jitreg_segment g;

		memcpy(&g, (const char *)segments->p + i * sizeof(g), sizeof(g));
		if (g.prot & PROT_EXEC)
			images_source.note_mapping(images,
						   &(struct mapping){ .pid = pid,
								      .tid = pid,
								      .prot = (uint32_t)g.prot,
								      .address = g.address,
								      .bytes = g.bytes,
								      .offset = g.file_offset,
								      .path = vdso ? "[vdso]" : path->p,
								      .path_bytes = vdso ? 6 : path->bytes,
								      .build_id = id->p,
								      .build_id_bytes = vdso ? 0 : id->bytes,
								      .by_guest = true },
						   time_ns);
	}
}

void recording_keep_registers(struct recording *r)
{
	uint64_t mask = INSTRUCTION_POINTER | 1ull << SAMPLE_TAG_WORD | (r->tag_registers ? r->tag_registers : TAG_REGISTERS);

	if (!r->options.registers) /* registers that the user has requested are all kept */
		for (uint32_t i = 0; i < r->nr_columns; i++)
			samples_keep_registers(r->samples[i], mask);
}

static void note_tag_location(struct recording *r, const struct schema_value *v)
{
	uint64_t where = v[F(tag, where)].u;

	if (where == JITREG_TAG_MEMORY && !r->options.has_tag_words && !r->tag_words_noticed) {
		r->tag_words_noticed = true;
		recording_notice(r, NOTICE_TAG, "not in these samples: a thread-local word needs --sampler signal or timer");
	}
	if (where < REGISTERS_NR) {
		r->tag_registers |= 1ull << registers_perf[where];
		recording_keep_registers(r);
	}
}

bool recording_python_has_answered(const struct recording *r, pid_t pid)
{
	return hash_map_find(&r->python_answers, (uint64_t)pid, 0);
}

static void write_python_note(struct recording *r, uint32_t pid, const struct schema_value *key)
{
	const struct python_note_meaning *note = python_note_parse(key->p, key->bytes);

	if (!note)
		return;
	if (note->is == PYTHON_NOTE_IS_ANSWER)
		hash_map_set(&r->python_answers, pid, 0, 1);
	recording_write_notice(r, note->is == PYTHON_NOTE_IS_MISSING ? NOTICE_NAMES : NOTICE_HOST, note->sentence, strlen(note->sentence));
}

/* Notes something that the agent cannot get because of its host's version.  If the host is CPython, this is also the answer that
 * recording_python_has_answered() is about. */
static void note_agent_lack(struct recording *r, uint32_t pid, const struct schema_value *text)
{
	struct host_lack l;

	if (!host_lack_parse(&l, text->p, text->bytes))
		return;
	if (l.host == HOST_CPYTHON)
		hash_map_set(&r->python_answers, pid, 0, 1);
	recording_note_lack(r, (pid_t)pid, &l);
}

/* Polls a list of the GDB JIT interface that an agent cannot hook. digits: its address, as 16 hexadecimal digits. Other text is ignored. */
static void add_jit_list(struct recording *r, uint32_t pid, const struct schema_value *digits)
{
	struct gdb_jit_poll *lists = recording_source(r, &gdb_jit_poll_source);
	char text[17] = "", sentence[128], *end;
	unsigned long long address;

	if (!lists || digits->bytes != sizeof(text) - 1)
		return;
	memcpy(text, digits->p, sizeof(text) - 1);
	address = strtoull(text, &end, 16);
	if (*end)
		return;
	gdb_jit_poll_add_list(lists, (pid_t)pid, address);
	/* The notice is not passed to options.notice(), as nothing is lost. */
	recording_write_notice(r, NOTICE_HOST, sentence, (size_t)snprintf(sentence, sizeof(sentence), "GDB JIT interface of process %u "
			       "cannot be hooked; its list at 0x%llx is read from outside", pid, address));
}

void recording_add_registration(struct recording *r, uint32_t pid, uint32_t tid, uint32_t id, uint64_t time_ns,
				const struct schema_value *values, int nr)
{
	if (id == JITREG_IMAGE)
		add_image_mappings(r, pid, time_ns, values);
	else if (id == JITREG_LOAD)
		TELL_SOURCES(r, note_code, pid, values[F(load, code_addr)].u, values[F(load, code_size)].u);
	else if (id == JITREG_CODE_UNLOAD)
		jit_files_note_unload(recording_source(r, &jit_files_source), pid, values[F(code_unload, address)].u,
				      values[F(code_unload, bytes)].u, time_ns);
	else if (id == JITREG_TAG)
		note_tag_location(r, values);
	if (id == JITREG_CONTROL && values[F(control, action)].u == JIT_CONTROL_LIST)
		add_jit_list(r, pid, &values[F(control, name)]);
	else if (id == JITREG_CONTROL && values[F(control, action)].u == JIT_CONTROL_THREAD_NAME)
		TRACE_PUT(r->writer, thread_name, time_ns, pid, tid,
			  .name = { values[F(control, name)].p, values[F(control, name)].bytes });
	else if (id == JITREG_CONTROL && values[F(control, action)].u == JIT_CONTROL_LACK)
		note_agent_lack(r, pid, &values[F(control, name)]);
	else if (id == JITREG_CONTROL && values[F(control, action)].u == JITREG_CONTROL_NOTE)
		recording_write_notice(r, NOTICE_HOST, values[F(control, name)].p, values[F(control, name)].bytes);
	else if (id == JITREG_CONTROL && values[F(control, action)].u == JIT_CONTROL_PYTHON)
		write_python_note(r, pid, &values[F(control, name)]);
	else if (trace_record_values(r->writer, id, time_ns, pid, tid, values, nr) == -E2BIG)
		recording_count_loss(r, LOSS_LOG_BAD, 0, 0, 1);
}

void recording_write_counter_values(struct recording *r, uint32_t pid, uint32_t flags, uint64_t block, const uint64_t *values, uint32_t nr)
{
	TRACE_PUT(r->writer, counter_values, recording_now_ns(r), pid, 0, .block = block, .flags = flags,
		  .values = { (const struct jitreg_count *)values, nr });
}

void recording_add_guest(struct recording *r, uint32_t pid, uint32_t tid, const char *version, uint64_t log_bytes)
{
	TRACE_PUT(r->writer, guest, recording_now_ns(r), pid, tid, .version = trace_string(version), .log_bytes = log_bytes);
	TELL_SOURCES(r, note_agent, pid);
}
