/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/kernel_names.h"

#include "agent/recorder/images/kallsyms.h"
#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 1024u /* number of slots at first, a power of two */
#define SLOTS_MAX (1u << 20)
#define FUNCTIONS_MAX (1u << 18) /* maximum number of functions in the record */

#define NAMES_BYTES_MAX 512u
#define NOTED_MAX 4096u /* maximum number of symbols that the kernel reported */

struct noted_symbol {
	uint64_t address;
	uint32_t bytes;
	char *name; /* if several programs had the address, the names of all of them */
};

struct kernel_names {
	const struct name_source_recording *recording;
	uint64_t *slot; /* addresses, open addressing; 0: free */
	uint32_t nr_slots, nr;
	ARRAY(struct noted_symbol) noted;
};

static int create(const struct name_source_recording *r, void **source)
{
	struct kernel_names *k = calloc(1, sizeof(*k));

	*source = NULL;
	if (!k)
		return -ENOMEM;
	k->recording = r;
	k->nr_slots = SLOTS;
	k->slot = calloc(k->nr_slots, sizeof(*k->slot));
	if (!k->slot) {
		free(k);
		return -ENOMEM;
	}
	*source = k;
	return 0;
}

static void destroy(void *kernel_names)
{
	struct kernel_names *k = kernel_names;

	for (uint32_t i = 0; i < k->noted.nr; i++)
		free(k->noted.at[i].name);
	free(k->noted.at);
	free(k->slot);
	free(k);
}

/* A sample has no time here, so where one program has taken the place of another, the row has the names of both. */
static void add_name_of_symbol(struct noted_symbol *n, const struct kernel_symbol *s)
{
	char *both;

	if (memmem(n->name, strlen(n->name), s->name, s->name_bytes) || strlen(n->name) + s->name_bytes > NAMES_BYTES_MAX ||
	    asprintf(&both, "%s or %.*s", n->name, (int)s->name_bytes, s->name) < 0)
		return;
	free(n->name);
	n->name = both;
	n->bytes = n->bytes > s->bytes ? n->bytes : s->bytes;
}

void kernel_names_note_symbol(struct kernel_names *k, const struct kernel_symbol *s)
{
	if (!k || s->kind != PERF_RECORD_KSYMBOL_TYPE_BPF || !s->bytes || !s->name_bytes || !(s->address >> 63))
		return;
	for (uint32_t i = 0; i < k->noted.nr; i++)
		if (k->noted.at[i].address == s->address) {
			add_name_of_symbol(&k->noted.at[i], s);
			return;
		}
	if (k->noted.nr == NOTED_MAX || !ARRAY_GROW(k->noted))
		return;
	k->noted.at[k->noted.nr] = (struct noted_symbol){ s->address, s->bytes, strndup(s->name, s->name_bytes) };
	k->noted.nr += k->noted.at[k->noted.nr].name != NULL;
}

static uint64_t *slot_of_kernel_address(uint64_t *slot, uint32_t nr_slots, uint64_t address)
{
	uint32_t i = (uint32_t)(address * 0x9e3779b97f4a7c15ull >> 32) & (nr_slots - 1);

	while (slot[i] && slot[i] != address)
		i = (i + 1) & (nr_slots - 1);
	return &slot[i];
}

/* Doubles the slots. Returns false at SLOTS_MAX, or if memory runs out. Then new addresses are dropped, but most functions were seen by
 * then. */
static bool grow_address_slots(struct kernel_names *k)
{
	uint64_t *bigger = k->nr_slots < SLOTS_MAX ? calloc(2 * (size_t)k->nr_slots, sizeof(*bigger)) : NULL;

	if (!bigger)
		return false;
	for (uint32_t i = 0; i < k->nr_slots; i++)
		if (k->slot[i])
			*slot_of_kernel_address(bigger, 2 * k->nr_slots, k->slot[i]) = k->slot[i];
	free(k->slot);
	k->slot = bigger;
	k->nr_slots *= 2;
	return true;
}

static void add_kernel_address(struct kernel_names *k, uint64_t address)
{
	uint64_t *slot = slot_of_kernel_address(k->slot, k->nr_slots, address);

	if (*slot || !address)
		return;
	if (k->nr >= k->nr_slots / 4 * 3) {
		if (!grow_address_slots(k))
			return;
		slot = slot_of_kernel_address(k->slot, k->nr_slots, address);
	}
	*slot = address;
	k->nr++;
}

static void note_sample(void *k, const struct sample_seen *seen)
{
	if (!seen->kernel)
		return;
	add_kernel_address(k, seen->ip);
	/* Kernel entries but the first, which is the sampled instruction, are return addresses. A call is before its return address. */
	for (uint64_t i = 0; i < seen->nr_chain; i++)
		if (seen->chain[i] >> 63 && seen->chain[i] < PERF_CONTEXT_MAX)
			add_kernel_address(k, seen->chain[i] - 1);
}

static int compare_functions_by_address(const void *x, const void *y)
{
	const struct kallsyms_function *a = x, *b = y;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Returns the functions that have samples and, in an import, were there then. Each is there once. Returns NULL if memory runs out. */
static struct kallsyms_function *find_sampled_kernel_functions(const struct kernel_names *k, struct kallsyms *symbols,
							       const struct kernel_names_origin *origin, uint32_t *nr)
{
	struct kallsyms_function *f = calloc((size_t)k->nr + 1, sizeof(*f));
	uint32_t found = 0, kept = 0;

	for (uint32_t i = 0; f && i < k->nr_slots; i++)
		if (k->slot[i] && kallsyms_find_function(symbols, k->slot[i], &f[found]) &&
		    (!origin || origin->was_there(origin->context, &f[found])))
			found++;
	if (f && found)
		qsort(f, found, sizeof(*f), compare_functions_by_address);
	for (uint32_t i = 0; i < found; i++)
		if (i == 0 || f[i].address != f[kept - 1].address)
			f[kept++] = f[i];
	*nr = kept < FUNCTIONS_MAX ? kept : FUNCTIONS_MAX;
	return f;
}

/* Writes the record of functions.  Returns false if memory runs out. */
static bool write_kernel_functions(const struct kallsyms_function *f, uint32_t nr, struct trace_writer *w, uint64_t time_ns)
{
	struct trace_kernel_function *functions = calloc((size_t)nr + 1, sizeof(*functions));

	if (!functions)
		return false;
	for (uint32_t i = 0; i < nr; i++)
		functions[i] = (struct trace_kernel_function){ f[i].address, f[i].bytes, trace_string(f[i].name),
							       trace_string(f[i].module) };
	if (nr)
		TRACE_PUT(w, kernel_functions, time_ns, 0, 0, .functions = { functions, nr });
	free(functions);
	return true;
}

size_t kernel_names_find_build_id(const unsigned char *notes, size_t bytes, unsigned char id[KERNEL_BUILD_ID_BYTES])
{
	Elf64_Nhdr h;

	while (bytes >= sizeof(h)) {
		size_t name, desc;

		memcpy(&h, notes, sizeof(h));
		notes += sizeof(h);
		bytes -= sizeof(h);
		name = ((size_t)h.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)h.n_descsz + 3) & ~(size_t)3;
		if (name > bytes || desc > bytes - name)
			return 0;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && memcmp(notes, "GNU", 4) == 0 && h.n_descsz &&
		    h.n_descsz <= KERNEL_BUILD_ID_BYTES) {
			memcpy(id, notes + name, h.n_descsz);
			return h.n_descsz;
		}
		notes += name + desc;
		bytes -= name + desc;
	}
	return 0;
}

size_t kernel_names_read_build_id(unsigned char id[KERNEL_BUILD_ID_BYTES])
{
	unsigned char notes[4096];
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t nr = fd < 0 ? 0 : read(fd, notes, sizeof(notes));

	if (fd >= 0)
		close(fd);
	return nr > 0 ? kernel_names_find_build_id(notes, (size_t)nr, id) : 0;
}

/* Returns why this user sees no addresses, by the rules of kallsyms_show_value() in the kernel's kernel/ksyms_common.c. */
static const char *why_kernel_addresses_hidden(const char **remedy)
{
	long long restricted = 0;

	if (proc_read_number("/proc/sys/kernel/kptr_restrict", &restricted) && restricted >= 2) {
		*remedy = "sudo sysctl kernel.kptr_restrict=1";
		return "kernel.kptr_restrict hides kernel addresses from all users";
	}
	*remedy = "run as root, or with CAP_SYSLOG, or sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1";
	return "kernel addresses hidden from this user: kernel.kptr_restrict, kernel.perf_event_paranoid";
}

static const char *why_kallsyms_unreadable(int error)
{
	return error == ENOENT ? "no " KALLSYMS_PATH ": kernel without CONFIG_KALLSYMS" : KALLSYMS_PATH " cannot be read";
}

const char *kernel_names_why_unavailable(const char **remedy)
{
	/* The first lines are enough, because either all addresses are hidden or none.  (Some are 0 anyway: a processor's variables.) */
	char line[1024];
	bool shown = false;
	FILE *f = fopen(KALLSYMS_PATH, "re");

	*remedy = "";
	if (!f)
		return why_kallsyms_unreadable(errno);
	for (int i = 0; !shown && i < 4096 && fgets(line, sizeof(line), f); i++)
		shown = strtoull(line, NULL, 16) >> 63;
	fclose(f);
	return shown ? NULL : why_kernel_addresses_hidden(remedy);
}

/* Returns the collected addresses, or NULL if memory runs out. */
static uint64_t *list_kernel_addresses(const struct kernel_names *k)
{
	uint64_t *list = malloc(k->nr * sizeof(*list));
	size_t nr = 0;

	for (uint32_t i = 0; list && i < k->nr_slots; i++)
		if (k->slot[i])
			list[nr++] = k->slot[i];
	return list;
}

/* Looks up and writes the names.  Returns NULL, or why there are none. */
static const char *write_kernel_names(struct kernel_names *k, const struct kernel_names_origin *origin, struct trace_writer *w,
				      uint64_t time_ns)
{
	struct kallsyms symbols = { 0 };
	const char *why = NULL, *remedy;
	struct kallsyms_function *f;
	uint64_t *wanted;
	uint32_t nr;
	int ret;

	wanted = origin ? NULL : list_kernel_addresses(k); /* an origin may ask for any symbol by name, so all lines are read then */
	ret = kallsyms_read_near(&symbols, KALLSYMS_PATH, wanted, k->nr);
	free(wanted);
	if (ret) {
		why = ret == -ENOMEM ? strerror(ENOMEM) : why_kallsyms_unreadable(-ret);
	} else if (!symbols.symbols.nr) {
		why = why_kernel_addresses_hidden(&remedy);
	} else if (!origin || origin->is_there(origin->context, &symbols, &why)) {
		f = find_sampled_kernel_functions(k, &symbols, origin, &nr);
		why = f && write_kernel_functions(f, nr, w, time_ns) ? NULL : strerror(ENOMEM);
		free(f);
	}
	kallsyms_fini(&symbols);
	return why;
}

static int compare_addresses(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

/* Writes the noted symbols that have samples. */
static void write_noted_symbols(const struct kernel_names *k, struct trace_writer *w, uint64_t time_ns)
{
	struct kallsyms_function *f = calloc((size_t)k->noted.nr + 1, sizeof(*f));
	uint64_t *sampled = list_kernel_addresses(k);
	uint32_t nr = 0;

	if (sampled)
		qsort(sampled, k->nr, sizeof(*sampled), compare_addresses);
	for (uint32_t i = 0; f && sampled && i < k->noted.nr; i++) {
		const struct noted_symbol *n = &k->noted.at[i];
		uint32_t at = SORTED_COUNT(k->nr, j, sampled[j] < n->address);

		if (at < k->nr && sampled[at] - n->address < n->bytes)
			f[nr++] = (struct kallsyms_function){ n->address, n->bytes, n->name, "bpf" };
	}
	if (nr)
		write_kernel_functions(f, nr, w, time_ns);
	free(sampled);
	free(f);
}

static void end(void *kernel_names, uint64_t now_ns)
{
	struct kernel_names *k = kernel_names;
	const struct name_source_recording *r = k->recording;
	const struct kernel_names_origin *origin = r->options->past_names;
	const char *why = NULL;

	if (!k->nr)
		return;
	write_noted_symbols(k, r->writer, now_ns);
	if (!origin || origin->is_it(origin->context, &why))
		why = write_kernel_names(k, origin, r->writer, now_ns);
	if (why)
		r->notice(r->recording, NOTICE_LADDER, "names of kernel functions unavailable (%s); using [kernel]", why);
}

const struct name_source kernel_names_source = { .create = create, .destroy = destroy, .note_sample = note_sample, .end = end };
