/* SPDX-License-Identifier: MIT */
/*
 * A trace of a server that interprets plans: synthetic_plans SAMPLES QUERIES OUT.  Four processes execute QUERIES queries in turn, each
 * with a plan of its own of six nodes, at the same addresses; an execution has five samples and takes a millisecond, so a thousand
 * trees a second replace one another.  The first query takes as much as all others.  Samples have stacks, in which each frame saves rbx.
 */
#include "agent/recorder/perf/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SESSION = 1, QUERY, NODE };
enum { LIMIT, JOIN, SCAN_A, HASH, SCAN_B, INIT, NR_NODES, SORTING = 1 };
enum { PID = 1000, NR_PROCESSES = 4, EACH = 5, EXECUTION_NS = 1000000 };

#define SERVER 0x555500000000ull
#define FUNCTION(n) (SERVER + (n) * 256ull)
#define RUN FUNCTION(NR_NODES)
#define SORT FUNCTION(NR_NODES + 1)
#define OTHER FUNCTION(NR_NODES + 2)
#define NR_FUNCTIONS (NR_NODES + 3)
#define STACK 0x7ffc00000000ull
#define AT_QUERY 0x8000ull
#define AT(n) (0x9000ull + 64 * (n))
/* perf's numbers: bx, bp, sp, ip, r12 to r15 */
#define REGISTERS 0xf001c2ull

static const struct {
	const char *name;
	int upper; /* -1: the query */
	int function; /* one for both scans */
} node[NR_NODES] = { { "Limit", -1, LIMIT }, { "Hash Join", LIMIT, JOIN },	  { "Seq Scan on a", JOIN, SCAN_A },
		     { "Hash", JOIN, HASH }, { "Seq Scan on b", HASH, SCAN_A }, { "InitPlan 1: Result", LIMIT, INIT } };

static struct trace_writer *w;
static uint64_t state = 88172645463325252ull;

static uint64_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

#define PUT(record, pid, time_ns, ...) TRACE_PUT(w, record, time_ns, pid, pid, __VA_ARGS__)

static void head(void)
{
	const struct trace_text command = { trace_string("synthetic plans") };

	PUT(header, 0, 1, .version = TRACE_FORMAT_VERSION, .tool = trace_string("synthetic"), .real_ns = 1,
	    .host_name = trace_string("nowhere"), .machine = trace_string("x86_64"), .kernel = trace_string("none"),
	    .nr_cpus = NR_PROCESSES, .cwd = trace_string("/"), .command = { &command, 1 }, .way = trace_string("run"));
	PUT(event, 0, 1, .name = trace_string("task-clock"), .unit = trace_string("ns"), .period = EXECUTION_NS / EACH,
	    .registers = REGISTERS, .scope = trace_string("synthetic"));
}

/* CFA = rsp + 16; rbx is saved below the return address. */
static void function(uint32_t pid, uint64_t start)
{
	static const unsigned char cie[] = { 16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 16, 0x80 | 16, 1, 0x80 | 3, 2 };
	unsigned char frames[sizeof(cie) + 24 + 4] = { 0 };
	const uint32_t fde[2] = { 20, sizeof(cie) + 4 };
	const uint64_t bytes = 256;

	memcpy(frames, cie, sizeof(cie));
	memcpy(frames + sizeof(cie), fde, 8);
	memcpy(frames + sizeof(cie) + 8, &start, 8);
	memcpy(frames + sizeof(cie) + 16, &bytes, 8);
	PUT(eh_frame, pid, 2, .address = start - 0x40000000, .frames = { frames, sizeof(frames) });
}

static void level(uint32_t id, const char *name, uint32_t flags, uint32_t upper)
{
	const struct jitreg_level_ref ref = { upper };

	PUT(level, PID, 2, .level = id, .flags = flags, .name = trace_string(name), .upper = { &ref, upper != 0 });
}

static void component(uint32_t pid, uint32_t at, uint64_t id, uint32_t flags, const char *name)
{
	PUT(component, pid, 2, .level = at, .flags = flags, .component = id, .name = trace_string(name));
}

static uint64_t id_of(uint64_t query, uint64_t n)
{
	return (query + 1) * 100 + n;
}

static void plan(uint64_t query)
{
	char name[96];

	snprintf(name, sizeof(name), "select a.* from a join b using (x) where a.y < ? /* %llu */ limit ?", (unsigned long long)query);
	component(PID, QUERY, query + 1, JITREG_COMPONENT_COMMON, name);
	for (uint32_t n = 0; n < NR_NODES; n++) {
		component(PID, NODE, id_of(query, n), JITREG_COMPONENT_COMMON, node[n].name);
		PUT(link, PID, 2, .lower_level = NODE, .upper_level = QUERY, .lower = id_of(query, n), .upper = query + 1, .weight = 1);
		if (node[n].upper >= 0)
			PUT(edge, PID, 2, .level = NODE, .from = id_of(query, n), .to = id_of(query, (uint64_t)node[n].upper), .order = n);
		PUT(counter, PID, 2, .level = NODE, .component = id_of(query, n), .value = 1000 * (n + 1),
		    .name = trace_string("estimated rows"));
	}
}

static void object(uint32_t pid, uint64_t time_ns, uint64_t address, uint64_t upper, uint32_t flags, uint64_t of_function, size_t nr,
		   const struct jitreg_object_component *components)
{
	const struct jitreg_function its = { of_function };

	PUT(object, pid, time_ns, .address = address, .upper = upper, .flags = flags, .functions = { &its, 1 },
	    .components = { components, nr });
}

static void process(uint32_t pid)
{
	static const struct jitreg_object_component sorting[] = { { NODE, SORTING } };
	char name[32];

	PUT(process, pid, 1, .ppid = 1, .executable = trace_string("/server"), .comm = trace_string("server"));
	PUT(mmap, pid, 1, .address = SERVER, .bytes = 256 * NR_FUNCTIONS, .prot = 5, .path = trace_string("/server"));
	for (uint64_t i = 0; i < NR_FUNCTIONS; i++)
		function(pid, FUNCTION(i));
	snprintf(name, sizeof(name), "user@database %u", pid - PID);
	component(pid, SESSION, pid, 0, name);
	object(pid, 2, 1, 0, JITREG_OBJECT_CLASS, SORT, 1, sorting);
}

static void mark(uint32_t pid, uint64_t time_ns, uint32_t action, uint64_t query, uint64_t handle)
{
	PUT(mark, pid, time_ns, .action = action, .level = QUERY, .component = query + 1, .instance = handle, .name = trace_string("run"),
	    .mark = handle, .covers = JITREG_COVERS_THREAD);
}

static void execute(uint32_t pid, uint64_t time_ns, uint64_t query, uint64_t handle)
{
	const struct jitreg_object_component of[] = { { QUERY, query + 1 }, { SESSION, pid } };

	object(pid, time_ns, AT_QUERY, 0, 0, RUN, 2, of);
	for (uint64_t n = 0; n < NR_NODES; n++) {
		const struct jitreg_object_component of_node[] = { { NODE, id_of(query, n) }, { QUERY, query + 1 }, { SESSION, pid } };

		object(pid, time_ns, AT(n), node[n].upper < 0 ? AT_QUERY : AT((uint64_t)node[n].upper), 0,
		       FUNCTION((uint64_t)node[n].function), 3, of_node);
	}
	mark(pid, time_ns, JITREG_MARK_BEGIN, query, handle);
}

/* In a node, which is called by those above it; one in sixteen sorts, and one in sixteen is of no query. */
static void sample(struct samples *s, uint32_t pid, uint64_t time_ns)
{
	uint64_t record[64], words[32] = { 0 }, r = random_number(), *at = record + 1;
	struct perf_event_header *h = (void *)record;
	struct sample_seen seen;
	unsigned nr = 0;

	for (int n = r % 16 ? (int)((r >> 8) % NR_NODES) : -2; n > -2; n = n < 0 ? -2 : node[n].upper) {
		words[nr++] = n < 0 ? AT_QUERY : AT((uint64_t)n);
		words[nr++] = (n < 0 ? RUN : FUNCTION((uint64_t)node[n].function)) + 8;
	}
	nr += 2; /* the end */
	*at++ = (r >> 16) % 16 ? OTHER : SORT;
	*at++ = pid | (uint64_t)pid << 32;
	*at++ = time_ns;
	*at++ = pid % NR_PROCESSES;
	*at++ = EXECUTION_NS / EACH;
	*at++ = PERF_SAMPLE_REGS_ABI_64;
	for (int i = 0; i < 8; i++) /* bx bp sp ip r12 to r15 */
		*at++ = i == 2 ? STACK : i == 3 ? record[1] : 0x77;
	*at++ = nr * 8;
	memcpy(at, words, nr * 8);
	at += nr;
	*at++ = nr * 8;
	*h = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = (uint16_t)((char *)at - (char *)record),
					 .misc = PERF_RECORD_MISC_USER };
	if (samples_add(s, h, &seen))
		exit(1);
}

static void all_samples(uint64_t nr, uint64_t nr_queries)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
						       PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
					.sample_regs_user = REGISTERS, .sample_stack_user = 256 };
	struct samples *s;
	uint32_t written;

	if (samples_create(0, &attr, &s))
		exit(1);
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t execution = i / EACH, time_ns = 1000000000 + execution / NR_PROCESSES * EXECUTION_NS;
		uint64_t query = execution % 2 ? random_number() % nr_queries : 0;
		uint32_t pid = PID + (uint32_t)(execution % NR_PROCESSES);

		if (i % EACH == 0) {
			if (execution >= NR_PROCESSES)
				mark(pid, time_ns - 1000, JITREG_MARK_END, 0, execution + 1 - NR_PROCESSES);
			execute(pid, time_ns, query, execution + 1);
		}
		sample(s, pid, time_ns + (i % EACH + 1) * EXECUTION_NS / (EACH + 1));
		if (samples_full(s))
			samples_flush(s, w, &written);
	}
	samples_flush(s, w, &written);
	samples_destroy(s);
}

int main(int argc, char **argv)
{
	uint64_t nr = argc > 3 ? strtoull(argv[1], NULL, 10) : 0, nr_queries = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
	struct diag d;

	if (!nr || !nr_queries) {
		fprintf(stderr, "usage: synthetic_plans SAMPLES QUERIES OUT\n");
		return 2;
	}
	if (trace_writer_open(argv[3], true, &w, &d)) {
		fprintf(stderr, "synthetic_plans: %s\n", d.text);
		return 1;
	}
	head();
	level(SESSION, "session", 0, 0);
	level(QUERY, "query", 0, 0);
	level(NODE, "node", JITREG_LEVEL_PLAN, QUERY);
	component(PID, NODE, SORTING, JITREG_COMPONENT_COMMON, "(sorting)");
	for (uint64_t q = 0; q < nr_queries; q++)
		plan(q);
	for (uint32_t i = 0; i < NR_PROCESSES; i++)
		process(PID + i);
	all_samples(nr, nr_queries);
	TRACE_PUT(w, end, 2000000000 + nr * EXECUTION_NS, 0, 0);
	return trace_writer_close(w) ? 1 : 0;
}
