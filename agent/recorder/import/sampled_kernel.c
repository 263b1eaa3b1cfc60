/* SPDX-License-Identifier: MIT */
#include "agent/recorder/import/sampled_kernel.h"

#include "agent/recorder/images/kallsyms.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

static void add_kernel_mapping(struct sampled_kernel *k, uint64_t address, uint64_t bytes, const char *name, size_t name_bytes)
{
	struct kernel_mapping *g = &k->mapping[k->nr_mappings];

	if (k->nr_mappings == KERNEL_MAPPINGS_MAX || name_bytes >= sizeof(g->name))
		return;
	*g = (struct kernel_mapping){ .address = address, .bytes = bytes };
	for (size_t i = 0; i < name_bytes; i++)
		g->name[i] = name[i] == '-' ? '_' : name[i];
	k->nr_mappings++;
}

void sampled_kernel_note_mapping(struct sampled_kernel *k, const struct mapping *m)
{
	static const char own[] = "[kernel.kallsyms]";
	const size_t own_bytes = sizeof(own) - 1;
	const char *slash, *dot, *name = m->path;
	size_t name_bytes = m->path_bytes;

	if (name_bytes > own_bytes && memcmp(name, own, own_bytes) == 0) {
		if (name_bytes - own_bytes >= sizeof(k->text_name))
			return;
		snprintf(k->text_name, sizeof(k->text_name), "%.*s", (int)(name_bytes - own_bytes), name + own_bytes);
		k->text = m->offset;
		k->build_id_bytes = m->build_id_bytes <= sizeof(k->build_id) ? (uint32_t)m->build_id_bytes : 0;
		if (k->build_id_bytes)
			memcpy(k->build_id, m->build_id, k->build_id_bytes);
		return;
	}
	slash = memrchr(name, '/', name_bytes);
	if (slash) {
		name_bytes -= (size_t)(slash + 1 - name);
		name = slash + 1;
		dot = memchr(name, '.', name_bytes);
		name_bytes = dot ? (size_t)(dot - name) : name_bytes;
	} else if (name_bytes > 2 && name[0] == '[' && name[name_bytes - 1] == ']') {
		name++;
		name_bytes -= 2;
	}
	add_kernel_mapping(k, m->address, m->bytes, name, name_bytes);
}

void sampled_kernel_note_symbol(struct sampled_kernel *k, const struct kernel_symbol *s)
{
	if (s->kind == PERF_RECORD_KSYMBOL_TYPE_BPF)
		add_kernel_mapping(k, s->address, s->bytes, "bpf", 3);
}

static bool is_on_this_host(const struct perf_data *p)
{
	struct utsname u = { .release = "" };

	uname(&u);
	return perf_data_text_is(p->host_name, u.nodename) && perf_data_text_is(p->release, u.release);
}

bool sampled_kernel_is_running(void *context, const char **why)
{
	struct sampled_kernel *k = context;
	const struct perf_data_build_id *known = perf_data_find_build_id(k->data, "[kernel.kallsyms]", 17);
	unsigned char id[KERNEL_BUILD_ID_BYTES];
	size_t id_bytes = kernel_names_read_build_id(id);

	if (known && !k->build_id_bytes) {
		k->build_id_bytes = known->bytes <= sizeof(k->build_id) ? known->bytes : 0;
		memcpy(k->build_id, known->id, k->build_id_bytes);
	}
	if (k->data->foreign) {
		*why = "the kernel that was sampled is of another architecture";
		return false;
	}
	if (!k->build_id_bytes && k->text && is_on_this_host(k->data))
		/*
		 * sampled_kernel_text_is_there() finds out whether the machine was rebooted, because the kernel's text has another address
		 * then
		 */
		return true;
	/* perf pads build ids to 20 bytes, so that of the file may be longer than the kernel's. */
	if (!k->build_id_bytes || !id_bytes || !k->text)
		*why = "the file has no build id of the kernel (perf record -B, -z, or through a pipe), and its host or kernel release is "
		       "another";
	else if (k->build_id_bytes < id_bytes || memcmp(k->build_id, id, id_bytes) != 0)
		*why = "the running kernel is not the one that was sampled: import on the machine where it was recorded";
	else
		return true;
	return false;
}

bool sampled_kernel_text_is_there(void *context, const struct kallsyms *symbols, const char **why)
{
	const struct sampled_kernel *k = context;

	if (kallsyms_find_address(symbols, k->text_name) == k->text)
		return true;
	*why = "the machine was rebooted, and the kernel has other addresses now: import before a reboot";
	return false;
}

/* Was the function's module at its place?  Modules come and go, so another one may have been sampled at this address. */
bool sampled_kernel_had_function(void *context, const struct kallsyms_function *f)
{
	const struct sampled_kernel *k = context;

	if (!*f->module || strncmp(f->module, "__builtin__", 11) == 0)
		return true;
	for (uint32_t i = 0; i < k->nr_mappings; i++)
		if (f->address - k->mapping[i].address < k->mapping[i].bytes && strcmp(f->module, k->mapping[i].name) == 0)
			return true;
	return false;
}
