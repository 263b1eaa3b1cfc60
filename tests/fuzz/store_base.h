/* SPDX-License-Identifier: MIT */
/* A small store, as traces with generated code and a plan fill it: what tests of stores change and ask. */
#ifndef TAILOR_STORE_BASE_H
#define TAILOR_STORE_BASE_H

#include "analyzer/reading/reading_command.h"
#include "analyzer/store/fold.h"
#include "jitreg/base/command.h"
#include "jitreg/jitreg.h"
#include "jitreg/trace/reader.h"
#include "jitreg/trace/record_stream.h"
#include "jitreg/trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE_PID 100u
#define BASE_FUNCTIONS 6u
#define BASE_CODE 0x10000000ull
#define BASE_FUNCTION_BYTES 64u
#define BASE_BEGIN_NS 1700000000000000000ull /* long ago, so that epochs become hours and days */

static inline int base_write_trace(const char *path, uint32_t epoch)
{
	uint64_t time_ns[BASE_FUNCTIONS], ip[BASE_FUNCTIONS];
	unsigned char code[BASE_FUNCTION_BYTES];
	struct trace_writer *w;
	struct diag d;

	if (trace_writer_open(path, TRACE_SMALL, &w, &d))
		return -1;
	memset(code, 0x90, sizeof(code));
	TRACE_PUT(w, header, 1, BASE_PID, BASE_PID, .version = TRACE_FORMAT_VERSION, .real_ns = BASE_BEGIN_NS + epoch * 600000000000ull,
		  .host_name = trace_string("host"), .epoch = epoch, .cut_recording = 7);
	TRACE_PUT(w, event, 1, BASE_PID, BASE_PID, .name = trace_string("task-clock"), .unit = trace_string("ns"));
	TRACE_PUT(w, process, 2, BASE_PID, BASE_PID, .executable = trace_string("/bin/host"), .comm = trace_string("host"));
	TRACE_PUT(w, level, 2, BASE_PID, BASE_PID, .level = 1, .name = trace_string("operator"));
	for (uint32_t n = 0; n < BASE_FUNCTIONS; n++) {
		const struct jitreg_code_map_entry entry = { 0, 1, 1 + n % 2 };
		uint64_t address = BASE_CODE + n * BASE_FUNCTION_BYTES;
		char name[32];

		if (n < 2)
			TRACE_PUT(w, component, 2, BASE_PID, BASE_PID, .level = 1, .component = 1 + n,
				  .name = trace_string(n ? "join" : "scan"));
		snprintf(name, sizeof(name), "function_of_%c", 'a' + (char)n);
		TRACE_PUT(w, load, 1000 + n, BASE_PID, BASE_PID, .pid = BASE_PID, .tid = BASE_PID, .vma = address, .code_addr = address,
			  .code_size = BASE_FUNCTION_BYTES, .code_index = n, .name = trace_string(name), .code = { code, sizeof(code) });
		TRACE_PUT(w, code_map, 1000 + n, BASE_PID, BASE_PID, .code_addr = address, .entries = { &entry, 1 });
		time_ns[n] = 10000 + n;
		ip[n] = address + 8;
	}
	trace_writer_flush(w, TRACE_CHUNK_RECORDS);
	trace_samples_begin(w, 10000, 0, BASE_FUNCTIONS, 5);
	trace_samples_column(w, SAMPLE_COLUMN_TIME, SAMPLE_ENCODING_U64, time_ns, sizeof(time_ns));
	trace_samples_column(w, SAMPLE_COLUMN_IP, SAMPLE_ENCODING_U64, ip, sizeof(ip));
	trace_samples_column(w, SAMPLE_COLUMN_PID, SAMPLE_ENCODING_CONSTANT, "\x64", 1);
	trace_samples_column(w, SAMPLE_COLUMN_TID, SAMPLE_ENCODING_CONSTANT, "\x64", 1);
	trace_samples_column(w, SAMPLE_COLUMN_WEIGHT, SAMPLE_ENCODING_CONSTANT, "\x0a", 1);
	trace_record_end(w);
	trace_writer_flush(w, TRACE_CHUNK_SAMPLES);
	trace_writer_flush_all(w);
	TRACE_PUT(w, end, 20000000000ull, 0, 0);
	return trace_writer_close(w);
}

static inline void base_ask(void *context, struct report *r)
{
	fold_ask(context, r);
}

/* 0, 1: it has it already, or -errno with a sentence; -1: the trace cannot be read. */
static inline int base_add_trace(struct store *s, const char *path, struct diag *d)
{
	const struct reading_arguments all = { .threads = 1 };
	struct reading session = { 0 };
	struct fold fold = { 0 };
	int ret;

	if (reading_command_open(&session, path, &all, base_ask, &fold))
		return -1;
	ret = fold_add(&fold, &session.report, s, d);
	reading_command_close(&session, CMD_DONE);
	return ret;
}

/* A store of so many epochs; the last trace stays at `trace`. */
static inline int base_make_store(const char *path, const char *trace, uint32_t epochs)
{
	struct store *s;
	struct diag d;
	int ret = store_open(path, STORE_ADD, &s, &d);

	if (ret)
		return ret;
	for (uint32_t epoch = 1; epoch <= epochs && ret == 0; epoch++) {
		ret = base_write_trace(trace, epoch);
		if (ret == 0)
			ret = base_add_trace(s, trace, &d);
	}
	store_close(s);
	return ret;
}

#endif
