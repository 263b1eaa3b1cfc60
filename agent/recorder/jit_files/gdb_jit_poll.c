/* SPDX-License-Identifier: MIT */
/*
 * A watched process has a few lists, one for each object that has a descriptor.  A list has entries, each of which points to a code object
 * (an ELF file in memory).  JITs use memory again, so an entry with a known address that points to another object is a new one.
 *
 * JITs put new entries at the head of the list (LLVM, V8, PHP and HotSpot's relatives all do), so a look reads from the head to the first
 * known entry.  Once a second it walks the whole list, or less often if that takes long.  A long list is walked in portions, one a look, so
 * that the rest of the recording goes on.  The process may have made a list that leads back into itself.  A walk ends where it comes to an
 * entry that it has marked as passed.  Entries that are not remembered, because a limit was reached, cannot be marked, so the walk also
 * compares with one passed entry that it replaces ever less often (Brent's algorithm).
 */
#include "agent/recorder/jit_files/gdb_jit_poll.h"

#include "agent/recorder/jit_files/gdb_jit_scan.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/base/mapping_kind.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DESCRIPTOR "__jit_debug_descriptor"
#define LISTS_MAX 8u	      /* maximum number of lists of one process */
#define ENTRIES_MAX 1000000u  /* maximum number of entries of one list */
#define LIST_BYTES_MAX (2ull << 30) /* bytes of all objects of a process after which no further one is read */
#define PORTION_ENTRIES 8192u /* maximum number of entries in a portion of a list; a look reads one at the head, and one of the walk */
#define PORTION_NS 5000000ull /* time after which a portion ends */
#define LOOK_NS 20000000ull   /* time after which a look begins no further process */
/* Interval of looks, in ms.  Code that is registered and freed between two looks is never seen. */
#define LOOK_MS 10
#define LOOK_AT_REST_MS 50 /* interval when no list has changed for AT_REST_NS */
#define AT_REST_NS 10000000000ull
/* The walks at the end of the recording stop after so much processor time, so beside busy programs they read as much as on an idle
 * machine. */
#define FINISH_NS 1000000000ull
#define FINISH_WALL_NS 5000000000ull /* time after which these walks stop in any case */
#define CLOCK_ENTRIES 32u     /* entries that are read between two looks at the clock */
#define DUTY 20u	      /* a walk over a whole list, or a search, is not repeated for so many times its duration */
#define ELF_BYTES_MAX (48u << 20) /* maximum number of bytes of one object, as a trace chunk holds 64 MiB */
#define PROCESSES_MAX 4096u
#define TRIES_MAX 3u /* maximum number of reads of an object that looks invalid, since the first may come while the process writes it */
#define WHOLE_NS 1000000000ull /* least interval of walks over a whole list */
#define MAPS_NS 20000000ull    /* least interval of looks at a process's mappings */
/* Time until the first search for lists without a symbol.  The interval doubles with each search, up to SEARCH_NS_MAX, and begins anew when
 * memory for code is mapped and no list is known yet.  A list is not empty once there is code, which may be long after the start (a Python
 * that imports for seconds before it compiles). */
#define SEARCH_NS 100000000ull
#define SEARCH_OF_FORK_NS 500000000ull /* the same for a forked child, which often lives for a moment only, and whose parent was searched */
#define SEARCH_NS_MAX 30000000000ull
/* If memory for code is mapped repeatedly, the next search comes after so many times the last one's duration.  So does the next search in
 * any found process. */
#define SEARCH_DUTY 100u

/* This is struct jit_code_entry of the GDB JIT interface, version 1, which fixes the layout. */
struct entry {
	uint64_t next, prev, symfile, symfile_bytes;
};

struct descriptor {
	uint32_t version, action_flag;
	uint64_t relevant, first;
};

struct known_entry {
	uint64_t entry; /* 0: free slot */
	uint64_t symfile, bytes;
	uint32_t tries; /* failed reads of the object; TRIES_MAX: it is in the trace, or was given up */
	uint32_t walk;	/* number of the last walk over the whole list that passed it */
};

/* This struct is the state of a walk over a whole list, in portions. */
struct walk {
	bool goes_on;
	uint32_t number, nr; /* number of the walk; number of its entries so far */
	uint64_t at, before; /* addresses of the next entry, and of the one before it */
	uint64_t mark; /* address of passed entry number next_mark / 2, with which further ones are compared; 0: none was passed yet */
	uint32_t next_mark;
	bool is_linked_back; /* all back pointers were right, so if a portion begins with a wrong one, that entry was freed */
	uint64_t time_ns;    /* time that new entries get */
	uint64_t took_ns, next_ns; /* duration so far; time at which the next walk may begin */
};

struct list {
	uint64_t address; /* address of the descriptor */
	struct descriptor seen;
	struct known_entry *known; /* open addressing; capacity is a power of two */
	size_t nr, capacity;
	struct walk walk;
};

struct watched {
	pid_t pid, living; /* living: a thread that has not ended, by which the memory is read */
	bool maps_changed;
	bool program_searched; /* the program's own symbol table, which may be large, needs no further search */
	uint64_t maps_ns;
	uint32_t nr_lists;
	struct list list[LISTS_MAX];
	uint64_t elf_bytes; /* bytes of objects that were copied so far, or that could not be */
	bool cut; /* a limit was reached in the process, which is counted for gdb_jit_poll_nr_processes_cut() */
	bool has_agent; /* the process has the agent, which hooks exported lists, so these are not polled */
	uint64_t exported[LISTS_MAX];
	uint32_t nr_exported;
	uint64_t search_ns, search_after_ns; /* time of the next search for lists without a symbol, and the interval after that */
	uint64_t searched_ns, search_took_ns; /* time and duration of the last search */
	bool code_mapped; /* memory for code was mapped since the last look */
	bool is_fork;	  /* forked from a watched process */
	bool is_found;	  /* added by add_found_process(), because it has memory for code, or forked from such a process */
	uint64_t since_ns; /* earliest time of registrations before the first look at a found process; 0: none is known, or it was polled */
};

struct object_symbols {
	uint64_t exported, own; /* offset of the descriptor from the object's first byte; 0: none */
	bool own_known;
};

struct gdb_jit_poll {
	const struct name_source_recording *recording;
	struct trace_writer *writer;
	ARRAY(struct watched *) processes;
	uint64_t found, bad, cut, read, looked_ns;
	bool changed; /* a descriptor has changed since the last look, or is new */
	uint64_t changed_ns; /* time of the last look that found a change */
	uint64_t rests_until_ns; /* looks before that time do nothing */
	size_t turn;		 /* index of the process that the next look begins with */
	uint64_t next_search_ns; /* earliest time of the next search for lists without a symbol in found processes */
	struct hash_map symbols; /* (inode, device) of an object -> 1 + its index in `objects` */
	ARRAY(struct object_symbols) objects;
	unsigned char *copy;
	size_t copy_capacity;
};

static int create(const struct name_source_recording *r, void **source)
{
	struct gdb_jit_poll *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->recording = r;
	o->writer = r->writer;
	*source = o;
	return 0;
}

static void free_watched_process(struct watched *p)
{
	for (uint32_t i = 0; i < p->nr_lists; i++)
		free(p->list[i].known);
	free(p);
}

static void destroy(void *gdb_jit_poll)
{
	struct gdb_jit_poll *o = gdb_jit_poll;

	for (size_t i = 0; i < o->processes.nr; i++)
		free_watched_process(o->processes.at[i]);
	hash_map_fini(&o->symbols);
	free(o->objects.at);
	free(o->processes.at);
	free(o->copy);
	free(o);
}

static struct watched *find_watched_process(const struct gdb_jit_poll *o, pid_t pid)
{
	for (size_t i = 0; i < o->processes.nr; i++)
		if (o->processes.at[i]->pid == pid)
			return o->processes.at[i];
	return NULL;
}

static struct watched *add_watched_process(struct gdb_jit_poll *o, pid_t pid)
{
	struct watched *p = o->processes.nr < PROCESSES_MAX && ARRAY_GROW(o->processes) ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	p->pid = p->living = pid;
	return o->processes.at[o->processes.nr++] = p;
}

static void remove_watched_process(struct gdb_jit_poll *o, pid_t pid)
{
	for (size_t i = 0; i < o->processes.nr; i++)
		if (o->processes.at[i]->pid == pid) {
			free_watched_process(o->processes.at[i]);
			o->processes.at[i] = o->processes.at[--o->processes.nr];
			return;
		}
}

/* ------------------------------------------------------------------------------------------------ known entries */

static struct known_entry *slot_of_known_entry(struct known_entry *known, size_t capacity, uint64_t entry)
{
	size_t i = (size_t)hash_pair(entry, 0) & (capacity - 1);

	while (known[i].entry && known[i].entry != entry)
		i = (i + 1) & (capacity - 1);
	return &known[i];
}

/* Returns what is known of the entry at this address, or NULL if it was never seen. */
static struct known_entry *find_known_entry(const struct list *l, uint64_t at)
{
	struct known_entry *k = l->capacity ? slot_of_known_entry(l->known, l->capacity, at) : NULL;

	return k && k->entry ? k : NULL;
}

static bool is_known_entry(const struct list *l, uint64_t at, const struct entry *e)
{
	const struct known_entry *k = find_known_entry(l, at);

	return k && k->symfile == e->symfile && k->bytes == e->symfile_bytes && k->tries == TRIES_MAX;
}

/* Returns the element for the entry, which is new if its address or object is.  Returns NULL if memory runs out. */
static struct known_entry *remember_entry(struct list *l, uint64_t at, const struct entry *e)
{
	struct known_entry *k;

	if (2 * (l->nr + 1) > l->capacity) {
		size_t capacity = l->capacity ? 2 * l->capacity : 64;
		struct known_entry *bigger = calloc(capacity, sizeof(*bigger));

		if (!bigger)
			return NULL;
		for (size_t i = 0; i < l->capacity; i++)
			if (l->known[i].entry)
				*slot_of_known_entry(bigger, capacity, l->known[i].entry) = l->known[i];
		free(l->known);
		l->known = bigger;
		l->capacity = capacity;
	}
	k = slot_of_known_entry(l->known, l->capacity, at);
	l->nr += !k->entry;
	if (!k->entry || k->symfile != e->symfile || k->bytes != e->symfile_bytes)
		*k = (struct known_entry){ at, e->symfile, e->symfile_bytes, 0, k->walk };
	return k;
}

/* ----------------------------------------------------------------------------------------------------- the lists */

static void write_elf_image(struct gdb_jit_poll *o, pid_t pid, const unsigned char *bytes, size_t nr, uint64_t time_ns)
{
	if (TRACE_PUT(o->writer, image, time_ns, (uint32_t)pid, (uint32_t)pid, .flags = JITREG_IMAGE_MEMORY_ELF,
		      .bytes = { bytes, nr }) == 0)
		o->found++;
	else
		o->bad++;
}

static bool copy_entry_elf(struct gdb_jit_poll *o, pid_t pid, const struct entry *e)
{
	if (e->symfile_bytes < sizeof(Elf64_Ehdr) || e->symfile_bytes > ELF_BYTES_MAX)
		return false;
	if (e->symfile_bytes > o->copy_capacity) {
		unsigned char *bigger = realloc(o->copy, e->symfile_bytes);

		if (!bigger)
			return false;
		o->copy = bigger;
		o->copy_capacity = e->symfile_bytes;
	}
	return proc_mem_read(pid, e->symfile, o->copy, e->symfile_bytes) == 0 && memcmp(o->copy, ELFMAG, SELFMAG) == 0;
}

static void note_limit_reached(struct gdb_jit_poll *o, struct watched *p)
{
	o->cut += !p->cut;
	p->cut = true;
}

/* Writes the object of the entry at this address to the trace, unless that was done, the object was given up, or the limit of bytes is
 * reached. If the object cannot be read, tries again at the next TRIES_MAX - 1 calls, and then counts it as bad, and gives it up. */
static void record_list_entry(struct gdb_jit_poll *o, struct watched *p, struct list *l, uint64_t at, const struct entry *e,
			      uint64_t time_ns)
{
	struct known_entry *k;

	if (is_known_entry(l, at, e))
		return;
	if (p->elf_bytes > LIST_BYTES_MAX) {
		note_limit_reached(o, p);
		return;
	}
	k = remember_entry(l, at, e);
	if (!k)
		return;
	p->elf_bytes += e->symfile_bytes <= ELF_BYTES_MAX ? e->symfile_bytes : 0;
	if (copy_entry_elf(o, p->living, e)) {
		k->tries = TRIES_MAX;
		write_elf_image(o, p->pid, o->copy, e->symfile_bytes, time_ns);
	} else if (++k->tries == TRIES_MAX) {
		o->bad++;
	}
}

static int read_list_entry(struct gdb_jit_poll *o, const struct watched *p, uint64_t at, struct entry *e)
{
	o->read++;
	return proc_mem_read(p->living, at, e, sizeof(*e));
}

static bool is_portion_over(unsigned nr, uint64_t begin_ns)
{
	return nr >= PORTION_ENTRIES || (nr % CLOCK_ENTRIES == 0 && nr && clock_now_ns() - begin_ns >= PORTION_NS);
}

static void begin_list_walk(struct walk *w, uint64_t first, uint64_t time_ns)
{
	*w = (struct walk){ .goes_on = true, .number = w->number + 1, .at = first, .next_mark = 1, .is_linked_back = true,
			    .time_ns = time_ns, .next_ns = w->next_ns };
}

/* Has this walk passed the entry before, because the list leads back into itself? Marks it as passed. */
static bool was_visited_by_walk(struct list *l, uint64_t at)
{
	struct known_entry *k = find_known_entry(l, at);
	struct walk *w = &l->walk;
	bool was = (k && k->walk == w->number) || at == w->mark;

	if (k)
		k->walk = w->number;
	if (w->nr == w->next_mark) {
		w->mark = at;
		w->next_mark *= 2;
	}
	return was;
}

/* Walks one more portion of a whole list.  Ends the walk at the list's end, after ENTRIES_MAX entries, at an entry that was passed, or
 * where it cannot be read or was changed between two portions. */
static void continue_list_walk(struct gdb_jit_poll *o, struct watched *p, struct list *l, uint64_t now_ns)
{
	uint64_t begin_ns = clock_now_ns(), interval_ns;
	struct walk *w = &l->walk;
	unsigned nr = 0;

	for (; w->at && !is_portion_over(nr, begin_ns); nr++) {
		struct entry e;

		if (w->nr++ == ENTRIES_MAX) {
			note_limit_reached(o, p);
			w->at = 0;
		} else if (read_list_entry(o, p, w->at, &e) || (nr == 0 && w->nr > 1 && w->is_linked_back && e.prev != w->before)) {
			w->at = 0;
		} else {
			record_list_entry(o, p, l, w->at, &e, w->time_ns);
			w->is_linked_back &= e.prev == w->before;
			w->before = w->at;
			w->at = was_visited_by_walk(l, w->at) ? 0 : e.next;
		}
	}
	w->took_ns += clock_now_ns() - begin_ns;
	if (w->at)
		return;
	w->goes_on = false;
	interval_ns = DUTY * w->took_ns > WHOLE_NS ? DUTY * w->took_ns : WHOLE_NS;
	w->next_ns = now_ns + interval_ns;
}

/* Reads entries from the head to the first known one. If there are more new ones than a portion, a walk from there on reads the rest. */
static void read_new_head_entries(struct gdb_jit_poll *o, struct watched *p, struct list *l, uint64_t first, uint64_t time_ns)
{
	uint64_t begin_ns = clock_now_ns(), at = first;
	struct entry e;

	for (unsigned nr = 0; at; nr++) {
		if (is_portion_over(nr, begin_ns)) {
			begin_list_walk(&l->walk, at, l->walk.goes_on ? l->walk.time_ns : time_ns);
			l->walk.is_linked_back = false; /* the entry before it was not read by this walk */
			return;
		}
		if (read_list_entry(o, p, at, &e) || is_known_entry(l, at, &e))
			return;
		record_list_entry(o, p, l, at, &e, time_ns);
		at = e.next;
	}
}

/* Reads what is new in a list, and continues its walk. Returns false if the thread p->living has ended, or if its memory may not be read
 * any more. */
static bool poll_jit_list(struct gdb_jit_poll *o, struct watched *p, struct list *l, uint64_t time_ns, uint64_t now_ns)
{
	struct descriptor d;
	struct entry e;
	int ret = proc_mem_read(p->living, l->address, &d, sizeof(d));

	if (ret)
		return ret != -ESRCH && ret != -EPERM;
	if (d.version != 1 || p->elf_bytes > LIST_BYTES_MAX)
		return true;
	if (memcmp(&d, &l->seen, sizeof(d)) != 0)
		o->changed = true;
	if (!l->walk.goes_on && now_ns >= l->walk.next_ns)
		begin_list_walk(&l->walk, d.first, time_ns);
	else if (memcmp(&d, &l->seen, sizeof(d)) != 0)
		read_new_head_entries(o, p, l, d.first, time_ns);
	/* the relevant entry was just registered (action 1), and may have been put elsewhere than at the head */
	if (memcmp(&d, &l->seen, sizeof(d)) != 0 && d.action_flag == 1 && d.relevant && read_list_entry(o, p, d.relevant, &e) == 0)
		record_list_entry(o, p, l, d.relevant, &e, time_ns);
	l->seen = d;
	if (l->walk.goes_on)
		continue_list_walk(o, p, l, now_ns);
	return true;
}

/* ------------------------------------------------------------------------------------------- where descriptors are */

static void add_jit_list(struct watched *p, uint64_t address)
{
	for (uint32_t i = 0; i < p->nr_lists; i++)
		if (p->list[i].address == address)
			return;
	if (p->nr_lists < LISTS_MAX)
		p->list[p->nr_lists++] = (struct list){ .address = address };
}

/* Adds an exported list.  If there is an agent, that hooks the list, and its address is only kept so that it is not taken for a hidden
 * one. */
static void add_exported_list(struct watched *p, uint64_t address)
{
	if (!p->has_agent)
		add_jit_list(p, address);
	else if (p->nr_exported < LISTS_MAX)
		p->exported[p->nr_exported++] = address;
}

struct looking {
	struct gdb_jit_poll *poll;
	struct watched *process;
};

/* Returns the symbols of the object in a mapping.  They are read once for each file, since many processes have the same objects.  Returns
 * NULL if the object is not loaded there, or not yet, or memory runs out. */
static struct object_symbols *find_object_symbols(struct gdb_jit_poll *o, const struct watched *p, const struct proc_mapping *m)
{
	static const char *const descriptor = DESCRIPTOR;
	uint32_t found = hash_map_find(&o->symbols, m->inode, m->device);
	struct object_symbols *s;
	uint64_t at;

	if (found)
		return &o->objects.at[found - 1];
	if (!proc_mem_find_symbols(p->living, m->start, &descriptor, 1, &at))
		return NULL;
	if (!ARRAY_GROW(o->objects) || !hash_map_set(&o->symbols, m->inode, m->device, o->objects.nr + 1))
		return NULL;
	s = &o->objects.at[o->objects.nr++];
	*s = (struct object_symbols){ .exported = at ? at - m->start : 0 };
	return s;
}

static uint64_t find_own_descriptor(struct object_symbols *s, const struct watched *p, const struct proc_mapping *m)
{
	uint64_t at = s->own_known ? 0 : proc_mem_find_program_symbol(p->living, m->start, DESCRIPTOR);

	if (!s->own_known)
		s->own = at ? at - m->start : 0;
	s->own_known = true;
	return s->own ? m->start + s->own : 0;
}

static int find_descriptor_in_mapping(void *context, const struct proc_mapping *m)
{
	const struct looking *l = context;
	struct watched *p = l->process;
	struct object_symbols *s;
	char magic[SELFMAG];
	uint64_t own;

	/* only first pages of ELF objects are looked at; the lowest is the program's (a file of data may be mapped below it) */
	if (m->offset != 0 || m->inode == 0 || !(m->prot & PROT_READ) || m->path[0] != '/' ||
	    proc_mem_read(p->living, m->start, magic, sizeof(magic)) || memcmp(magic, ELFMAG, SELFMAG) != 0)
		return 0;
	s = find_object_symbols(l->poll, p, m);
	if (s && s->exported)
		add_exported_list(p, m->start + s->exported);
	else if (s && !p->program_searched && (own = find_own_descriptor(s, p, m)))
		add_jit_list(p, own);
	p->program_searched = true;
	return 0;
}

static void add_hidden_list(void *context, uint64_t address)
{
	struct watched *p = context;

	for (uint32_t i = 0; i < p->nr_exported; i++)
		if (p->exported[i] == address)
			return;
	add_jit_list(p, address);
}

/* Searches for lists without a symbol, if the process has a mapping that may hold generated code, and reads those that are new. Returns
 * false if the process's mappings cannot be read, as when it has ended. */
static bool search_hidden_lists(struct gdb_jit_poll *o, struct watched *p)
{
	uint32_t nr = p->nr_lists;
	uint64_t begin_ns;
	int ret = gdb_jit_scan_has_generated_code(p->living);

	if (ret <= 0)
		return ret == 0;
	if (p->has_agent) {
		p->nr_exported = 0;
		proc_each_mapping(p->living, find_descriptor_in_mapping, &(struct looking){ o, p });
	}
	begin_ns = clock_now_ns();
	if (gdb_jit_scan_find(p->living, add_hidden_list, p) == 1)
		note_limit_reached(o, p);
	p->search_took_ns = clock_now_ns() - begin_ns;
	/* entries that are there already get JITREG_TIME_BEFORE, as the time of their registration is unknown */
	for (; nr < p->nr_lists; nr++)
		poll_jit_list(o, p, &p->list[nr], JITREG_TIME_BEFORE, 0);
	return true;
}

/* Brings the next search forward after memory for code was mapped. The search is not made at once, since the code, or its registration,
 * might not be complete. */
static void schedule_hidden_search(struct watched *p, uint64_t now_ns)
{
	uint64_t rested_ns = p->searched_ns + SEARCH_DUTY * p->search_took_ns;
	uint64_t soon_ns = now_ns + SEARCH_NS > rested_ns ? now_ns + SEARCH_NS : rested_ns;

	if (p->search_ns > soon_ns) {
		p->search_ns = soon_ns;
		p->search_after_ns = SEARCH_NS;
	}
}

static bool search_hidden_lists_if_due(struct gdb_jit_poll *o, struct watched *p, uint64_t now_ns)
{
	bool lives;

	if (p->code_mapped && !p->nr_lists)
		schedule_hidden_search(p, now_ns);
	p->code_mapped = false;
	if (now_ns < p->search_ns)
		return true;
	if (!p->search_after_ns) {
		p->search_after_ns = p->is_fork ? SEARCH_OF_FORK_NS : SEARCH_NS;
		p->search_ns = now_ns + p->search_after_ns;
		return true;
	}
	if (p->is_found && now_ns < o->next_search_ns)
		return true;
	p->searched_ns = now_ns;
	p->search_after_ns = 2 * p->search_after_ns < SEARCH_NS_MAX ? 2 * p->search_after_ns : SEARCH_NS_MAX;
	if (p->search_after_ns < DUTY * p->search_took_ns)
		p->search_after_ns = DUTY * p->search_took_ns;
	p->search_ns = now_ns + p->search_after_ns;
	lives = search_hidden_lists(o, p);
	if (p->is_found)
		o->next_search_ns = now_ns + SEARCH_DUTY * p->search_took_ns;
	return lives;
}

static void search_mappings_for_lists(struct gdb_jit_poll *o, struct watched *p, uint64_t now_ns)
{
	p->maps_changed = false;
	p->maps_ns = now_ns;
	proc_each_mapping(p->living, find_descriptor_in_mapping, &(struct looking){ o, p });
}

/* ------------------------------------------------------------------------------------------------------ from outside */

/* Searches for lists that are due, and polls all. Returns false if the process has no thread any more by which its memory can be read. */
static bool poll_watched_process(struct gdb_jit_poll *o, struct watched *p, uint64_t time_ns, uint64_t now_ns)
{
	bool lives = true;

	if (p->maps_changed && !p->has_agent && now_ns - p->maps_ns >= MAPS_NS)
		search_mappings_for_lists(o, p, now_ns);
	if (p->since_ns)
		time_ns = p->since_ns;
	p->since_ns = 0;
	lives = search_hidden_lists_if_due(o, p, now_ns);
	for (uint32_t i = 0; i < p->nr_lists && lives; i++)
		lives = poll_jit_list(o, p, &p->list[i], time_ns, now_ns);
	if (!lives) { /* the thread by which the memory was read may have ended, while others live */
		pid_t other = proc_mem_living_thread(p->pid);

		lives = other && other != p->living;
		p->living = other;
	}
	return lives;
}

int gdb_jit_poll_add_process(struct gdb_jit_poll *o, pid_t pid)
{
	struct watched *p = find_watched_process(o, pid);
	unsigned char byte;
	pid_t living;
	int ret;

	if (p)
		return 0;
	/* address 1 is never mapped, so this only checks the permission */
	living = proc_mem_living_thread(pid);
	ret = living ? proc_mem_read(living, 1, &byte, 1) : -ESRCH;
	if (ret == -EPERM || ret == -ESRCH)
		return ret;
	p = add_watched_process(o, pid);
	if (!p)
		return -ENOMEM;
	p->living = living;
	search_mappings_for_lists(o, p, 0);
	poll_watched_process(o, p, JITREG_TIME_BEFORE, 0);
	search_hidden_lists(o, p);
	p->search_ns = p->search_after_ns = 0;
	return 0;
}

static void watch(void *source, uint32_t pid)
{
	struct gdb_jit_poll *o = source;

	if (gdb_jit_poll_add_process(o, (pid_t)pid) == -EPERM)
		o->recording->notice(o->recording->recording, NOTICE_REFUSED, "GDB JIT interface of process %u unavailable (its memory "
				     "cannot be read: kernel.yama.ptrace_scope); run as root, or sysctl kernel.yama.ptrace_scope=0", pid);
}

/* Polls pid, which has memory for code since time_ns, from the next look on.  Its lists without a symbol are searched for during a
 * hundredth of the time at most, for all processes together that were added so. */
static void add_found_process(struct gdb_jit_poll *o, pid_t pid, uint64_t time_ns)
{
	struct watched *p = add_watched_process(o, pid);

	if (!p)
		return;
	p->is_found = p->maps_changed = true;
	p->since_ns = time_ns;
}

static void note_exit(void *gdb_jit_poll, uint32_t pid, uint64_t time_ns)
{
	(void)time_ns;
	remove_watched_process(gdb_jit_poll, (pid_t)pid);
}

/* A process that was polled before its agent connected is polled as before. Of another one, exported lists are not polled, because the
 * agent hooks them. */
static void note_agent(void *source, uint32_t of)
{
	struct gdb_jit_poll *o = source;
	pid_t pid = (pid_t)of;
	struct watched *p = find_watched_process(o, pid);

	if (p && !p->has_agent) /* an injected agent hooks no list */
		return;
	if (p) /* an element with an agent is about the program before an exec, or about an ended process with that PID */
		remove_watched_process(o, pid);
	p = add_watched_process(o, pid);
	if (p)
		p->has_agent = true;
}

void gdb_jit_poll_add_list(struct gdb_jit_poll *o, pid_t pid, uint64_t address)
{
	struct watched *p = find_watched_process(o, pid);

	if (p)
		add_jit_list(p, address);
}

static void note_fork(void *gdb_jit_poll, uint32_t ppid, uint32_t pid, uint64_t time_ns)
{
	struct gdb_jit_poll *o = gdb_jit_poll;
	struct watched *parent = find_watched_process(o, (pid_t)ppid), *p;

	(void)time_ns;
	if (!parent || find_watched_process(o, (pid_t)pid))
		return;
	p = add_watched_process(o, (pid_t)pid);
	if (!p)
		return;
	p->maps_changed = parent->maps_changed;
	p->program_searched = parent->program_searched;
	p->has_agent = parent->has_agent;
	p->is_found = parent->is_found;
	p->is_fork = true;
	/* entries of the parent are known for the child, and not written again, since the analyzer takes registrations over at a fork */
	for (uint32_t i = 0; i < parent->nr_lists; i++) {
		const struct list *from = &parent->list[i];
		struct list *to = &p->list[p->nr_lists];

		*to = *from;
		to->known = from->capacity ? malloc(from->capacity * sizeof(*to->known)) : NULL;
		if (to->known)
			memcpy(to->known, from->known, from->capacity * sizeof(*to->known));
		else
			to->nr = to->capacity = 0;
		p->nr_lists++;
	}
}

static void note_exec(void *gdb_jit_poll, const struct kernel_comm *c, uint64_t time_ns)
{
	struct gdb_jit_poll *o = gdb_jit_poll;
	const pid_t pid = (pid_t)c->pid;
	struct watched *p = find_watched_process(o, pid);
	bool has_agent, is_found;

	(void)time_ns;
	if (!p)
		return;
	has_agent = p->has_agent;
	is_found = p->is_found;
	remove_watched_process(o, pid);
	if (is_found) /* note_mapping() adds it again when the new program has memory for code */
		return;
	p = add_watched_process(o, pid);
	if (!p)
		return;
	p->maps_changed = true;
	p->has_agent = has_agent; /* the new program's agent may have connected before the record of the exec was read */
}

/* A new object may have a list, so mappings are looked at again. New memory for code brings the next search for lists without a symbol
 * forward. */
static void note_mapping(void *gdb_jit_poll, const struct mapping *m, uint64_t time_ns)
{
	const bool code = mapping_may_hold_generated_code(m->path, m->path_bytes, m->prot, m->shared);
	struct gdb_jit_poll *o = gdb_jit_poll;
	struct watched *p = find_watched_process(o, (pid_t)m->pid);

	if (p && !m->existed) {
		p->maps_changed |= mapping_kind(m->path, m->path_bytes) == MAPPING_FILE;
		p->code_mapped |= code;
	}
	if (!p && code && o->recording->options->finds_jit_lists)
		add_found_process(o, (pid_t)m->pid, time_ns);
}

static void poll_lists(void *gdb_jit_poll, uint64_t now_ns)
{
	struct gdb_jit_poll *o = gdb_jit_poll;
	uint64_t before = o->looked_ns ? o->looked_ns : now_ns, begin_ns = clock_now_ns(), took_ns = 0;

	if (now_ns < o->rests_until_ns)
		return;
	o->looked_ns = now_ns;
	/* new entries get the time of the last look, as they were registered after it */
	for (size_t left = o->processes.nr; left > 0 && o->processes.nr > 0 && took_ns < LOOK_NS; left--) {
		o->turn = o->turn < o->processes.nr ? o->turn : 0;
		if (poll_watched_process(o, o->processes.at[o->turn], before, now_ns))
			o->turn++;
		else
			remove_watched_process(o, o->processes.at[o->turn]->pid);
		took_ns = clock_now_ns() - begin_ns;
	}
	o->changed_ns = o->changed ? now_ns : o->changed_ns;
	o->changed = false;
	o->rests_until_ns = now_ns + took_ns; /* at least half of the time is left to the rest of the recording */
}

bool gdb_jit_poll_finish_walks(struct gdb_jit_poll *o)
{
	uint64_t begin_ns = clock_now_ns(), begin_thread_ns = clock_thread_ns();

	for (size_t i = 0; i < o->processes.nr; i++)
		for (uint32_t k = 0; k < o->processes.at[i]->nr_lists; k++)
			while (o->processes.at[i]->list[k].walk.goes_on && o->processes.at[i]->list[k].walk.time_ns == JITREG_TIME_BEFORE) {
				if (clock_thread_ns() - begin_thread_ns > FINISH_NS || clock_now_ns() - begin_ns > FINISH_WALL_NS)
					return false;
				continue_list_walk(o, o->processes.at[i], &o->processes.at[i]->list[k], 0);
			}
	return true;
}

static void end(void *gdb_jit_poll, uint64_t now_ns)
{
	struct gdb_jit_poll *o = gdb_jit_poll;
	const struct name_source_recording *r = o->recording;
	bool finished = gdb_jit_poll_finish_walks(o);

	(void)now_ns;
	if (o->bad)
		r->notice(r->recording, NOTICE_LOSS, "%llu code objects of the GDB JIT interface could not be read (not ELF, or already "
			  "freed); `tailor run` records them through the agent", (unsigned long long)o->bad);
	if (!finished)
		r->notice(r->recording, NOTICE_LOSS, "code that was registered for debuggers before the recording not read completely: "
			  "its lists were too long for it; `tailor run` records it through the agent");
	if (o->cut)
		r->notice(r->recording, NOTICE_LOSS, "code registered for debuggers not read completely in %llu processes (over 1,000,000 "
			  "entries, 2 GiB of objects, or 512 MiB of data to search); `tailor run` records it through the agent",
			  (unsigned long long)o->cut);
}

static int wait_ms(const void *gdb_jit_poll, uint64_t now_ns)
{
	const struct gdb_jit_poll *o = gdb_jit_poll;
	bool has_lists = false;

	for (size_t i = 0; i < o->processes.nr; i++) {
		const struct watched *p = o->processes.at[i];

		if (p->maps_changed && !p->has_agent && !p->is_found)
			return LOOK_MS;
		has_lists |= p->nr_lists > 0;
	}
	return !has_lists ? 0 : o->changed || now_ns - o->changed_ns < AT_REST_NS ? LOOK_MS : LOOK_AT_REST_MS;
}

uint64_t gdb_jit_poll_nr_elfs_found(const struct gdb_jit_poll *o)
{
	return o->found;
}

uint64_t gdb_jit_poll_nr_bad_entries(const struct gdb_jit_poll *o)
{
	return o->bad;
}

uint64_t gdb_jit_poll_nr_processes_cut(const struct gdb_jit_poll *o)
{
	return o->cut;
}

uint64_t gdb_jit_poll_nr_entries_read(const struct gdb_jit_poll *o)
{
	return o->read;
}

const struct name_source gdb_jit_poll_source = { .is_live_only = true, .create = create, .destroy = destroy,
	.note_fork = note_fork, .note_exec = note_exec, .note_exit = note_exit, .note_mapping = note_mapping, .note_agent = note_agent,
	.watch = watch, .poll = poll_lists,
	.wait_ms = wait_ms, .end = end };
