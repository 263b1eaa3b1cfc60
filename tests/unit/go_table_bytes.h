/* SPDX-License-Identifier: MIT */
/*
 * A table of functions as Go 1.20 and later write it (jitreg/base/go_table.h), of three functions:
 *
 *	main.main	0x00-0x40	main.go		frame of 24 bytes from 4 on, main.inner inlined at 0x10-0x20, called from line 12
 *	runtime.goexit	0x40-0x60	asm.s		no frame, no caller
 *	main.last	0x60-0x70	main.go		frame of 8 bytes
 */
#ifndef TAILOR_GO_TABLE_BYTES_H
#define TAILOR_GO_TABLE_BYTES_H

#include "jitreg/base/go_table.h"

#include <string.h>

struct go_table_bytes {
	unsigned char bytes[1024];
	uint64_t nr, calls;
};

static inline uint64_t go_put(struct go_table_bytes *t, const void *bytes, uint64_t nr)
{
	uint64_t at = t->nr;

	memcpy(t->bytes + at, bytes, nr);
	t->nr += nr;
	return at;
}

static inline uint32_t go_put_text(struct go_table_bytes *t, uint64_t from, const char *text)
{
	return (uint32_t)(go_put(t, text, strlen(text) + 1) - from);
}

static inline void go_set(struct go_table_bytes *t, uint64_t at, uint64_t value)
{
	memcpy(t->bytes + at, &value, 8);
}

struct go_record {
	uint32_t start, name, args, deferreturn, values[3], nr_values, unit, line;
	unsigned char id, flags, pad, nr_data;
	uint32_t value[3], data[4];
};

static inline struct go_table_bytes go_table_bytes(uint64_t text)
{
	struct go_table_bytes t = { .nr = GO_HEAD_BYTES };
	uint64_t names = t.nr, units, files, values, functions, calls;
	uint32_t name[4], file[2], place[7], record[3];
	struct go_record f[3] = { { .start = 0, .line = 10 }, { .start = 0x40, .line = 1, .flags = GO_OUTERMOST }, { .start = 0x60 } };

	memcpy(t.bytes, "\xf1\xff\xff\xff\0\0\1\10", 8);
	go_put(&t, "", 1);
	name[0] = go_put_text(&t, names, "main.main");
	name[1] = go_put_text(&t, names, "runtime.goexit");
	name[2] = go_put_text(&t, names, "main.last");
	name[3] = go_put_text(&t, names, "main.inner");
	files = t.nr;
	file[0] = go_put_text(&t, files, "/go/main.go");
	file[1] = go_put_text(&t, files, "/go/asm.s");
	t.nr = (t.nr + 3) & ~3ull;
	units = go_put(&t, file, sizeof(file));
	values = t.nr;
	go_put(&t, "", 1);
	/* a change of the value from -1 on, zigzag, and bytes of code: 0 ends it */
	f[0].values[0] = (uint32_t)(go_put(&t, "\x02\x04\x30\x3c\0", 5) - values); /* 0 for 4, 24 for 60 */
	f[0].values[1] = (uint32_t)(go_put(&t, "\x02\x40\0", 3) - values);
	f[0].values[2] = (uint32_t)(go_put(&t, "\x18\x10\x50\x10\x4f\x20\0", 7) - values); /* 11, 51, 11 */
	f[0].value[2] = (uint32_t)(go_put(&t, "\0\x10\x02\x10\x01\x20\0", 7) - values);	  /* none, 0, none */
	f[1].values[0] = (uint32_t)(go_put(&t, "\x02\x20\0", 3) - values);
	f[1].values[1] = (uint32_t)(go_put(&t, "\x04\x20\0", 3) - values); /* the second file */
	f[1].values[2] = (uint32_t)(go_put(&t, "\x04\x20\0", 3) - values);
	f[2].values[0] = (uint32_t)(go_put(&t, "\x12\x10\0", 3) - values);
	f[2].values[1] = (uint32_t)(go_put(&t, "\x02\x10\0", 3) - values);
	f[2].values[2] = (uint32_t)(go_put(&t, "\x28\x10\0", 3) - values);
	t.nr = (t.nr + 3) & ~3ull;
	functions = t.nr;
	t.nr += sizeof(place);
	for (int i = 0; i < 3; i++) {
		f[i].name = name[i];
		f[i].nr_values = 3;
		f[i].nr_data = 4;
		memset(f[i].data, 0xff, sizeof(f[i].data));
		if (i == 0)
			f[i].data[3] = 0;
		record[i] = (uint32_t)(go_put(&t, &f[i], sizeof(f[i])) - functions);
		place[2 * i] = f[i].start;
		place[2 * i + 1] = record[i];
	}
	place[6] = 0x70;
	memcpy(t.bytes + functions, place, sizeof(place));
	calls = go_put(&t, (const uint32_t[4]){ 0, name[3], 0xc, 50 }, 16);
	t.calls = calls;
	go_set(&t, 8, 3);
	go_set(&t, 16, 2);
	go_set(&t, 24, text);
	go_set(&t, 32, names);
	go_set(&t, 40, units);
	go_set(&t, 48, files);
	go_set(&t, 56, values);
	go_set(&t, 64, functions);
	return t;
}

#endif
