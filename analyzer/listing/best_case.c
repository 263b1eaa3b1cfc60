/* SPDX-License-Identifier: MIT */
#include "analyzer/listing/best_case.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIME_MAX_MS 10000
#define ALL_MAX_MS 60000 /* ms; limit for all child processes together */
#define CPU_MAX_S 10
#define MEMORY_MAX (2ull << 30)
#define OUTPUT_MAX (16u << 20)
#define RETRIES 8 /* maximum number of runs of llvm-mca, each without the block that the run before it refused */
#define ITERATIONS 100
/* The instruction test eax, 0x7a110712 separates blocks, because no compiler generates it. */
#define BETWEEN "0xa9 0x12 0x07 0x11 0x7a\n"
#define BETWEEN_TEXT "testl\t$2047936274, %eax"

struct known {
	double cycles, floor;
};

struct best_cases {
	ARRAY(struct known) known;
	/* (hash of a block's bytes, their number) -> 1 + index of known; blocks with equal hashes are taken to be equal */
	struct hash_map by_bytes;
	bool failed;
	bool missed; /* a run of llvm-mca failed, and blocks that it was to answer are asked again */
	int spent_ms;
	char about[200];
};

struct best_cases *best_cases_create(void)
{
	struct best_cases *c = calloc(1, sizeof(*c));

	return c;
}

void best_cases_destroy(struct best_cases *c)
{
	if (c) {
		hash_map_fini(&c->by_bytes);
		free(c->known.at);
	}
	free(c);
}

const char *best_cases_about(const struct best_cases *c, bool *known)
{
	*known = !c->failed && *c->about;
	return *c->about ? c->about : c->known.nr || c->missed ? "llvm-mca failed" : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- children */

static int make_memory_file(const char *text, size_t bytes)
{
	int fd = memfd_create("tailor", MFD_CLOEXEC);

	if (fd >= 0 && bytes && write(fd, text, bytes) != (ssize_t)bytes) {
		close(fd);
		return -1;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

static char *read_whole_file(int fd)
{
	off_t bytes = lseek(fd, 0, SEEK_END);
	char *text = bytes >= 0 && bytes <= (off_t)OUTPUT_MAX ? malloc((size_t)bytes + 1) : NULL;

	if (text && pread(fd, text, (size_t)bytes, 0) != bytes) {
		free(text);
		return NULL;
	}
	if (text)
		text[bytes] = 0;
	return text;
}

static void limit_child_resources(pid_t pid)
{
	const struct rlimit cpu = { CPU_MAX_S, CPU_MAX_S }, memory = { MEMORY_MAX, MEMORY_MAX }, file = { OUTPUT_MAX, OUTPUT_MAX };

	prlimit(pid, RLIMIT_CPU, &cpu, NULL);
	prlimit(pid, RLIMIT_AS, &memory, NULL);
	prlimit(pid, RLIMIT_FSIZE, &file, NULL);
}

/* Wait for a child, and kill it if it takes too long. Return true if it exited with status 0 in time. */
static bool wait_for_child(struct best_cases *c, pid_t pid)
{
	const struct timespec pause = { 0, 2000000 };
	int status;

	for (int ms = 0; ms < TIME_MAX_MS && c->spent_ms < ALL_MAX_MS; ms += 2, c->spent_ms += 2) {
		pid_t ended = waitpid(pid, &status, WNOHANG);

		if (ended == pid)
			return WIFEXITED(status) && WEXITSTATUS(status) == 0;
		if (ended < 0 && errno != EINTR)
			return false;
		nanosleep(&pause, NULL);
	}
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return false;
}

/* Run a program that is found in PATH. *out and *errors are what it wrote, which the caller frees, or NULL. *found is false if
 * posix_spawnp() failed, as for a program that is missing. Return true if the program succeeded. */
static bool run_child_program(struct best_cases *c, char *const argv[], const char *input, char **out, char **errors, bool *found)
{
	static char *const environment[] = { "LC_ALL=C", NULL };
	int in = make_memory_file(input, strlen(input)), to = make_memory_file("", 0), complaints = make_memory_file("", 0), ret;
	posix_spawn_file_actions_t actions;
	bool ok = false;
	pid_t pid;

	*out = *errors = NULL;
	*found = true;
	if (in >= 0 && to >= 0 && complaints >= 0 && posix_spawn_file_actions_init(&actions) == 0) {
		posix_spawn_file_actions_adddup2(&actions, in, 0);
		posix_spawn_file_actions_adddup2(&actions, to, 1);
		posix_spawn_file_actions_adddup2(&actions, complaints, 2);
		ret = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environment);
		posix_spawn_file_actions_destroy(&actions);
		*found = ret == 0;
		if (ret == 0) {
			limit_child_resources(pid);
			ok = wait_for_child(c, pid);
			*out = read_whole_file(to);
			*errors = read_whole_file(complaints);
		}
	}
	if (in >= 0)
		close(in);
	if (to >= 0)
		close(to);
	if (complaints >= 0)
		close(complaints);
	return ok && *out;
}

/* ------------------------------------------------------------------------------------------------------------- asking */

struct text {
	char *bytes;
	size_t nr;
	FILE *to;
};

static bool text_begin(struct text *t)
{
	*t = (struct text){ 0 };
	t->to = open_memstream(&t->bytes, &t->nr);
	return t->to != NULL;
}

struct piece {
	char *text; /* assembler text of a block's instructions from the output of llvm-mc; NULL: it was not found there */
	bool refused; /* llvm-mca refused the text */
};

static bool is_separator_line(const char *line)
{
	line += strspn(line, " \t");
	return strncmp(line, BETWEEN_TEXT, sizeof(BETWEEN_TEXT) - 1) == 0;
}

/* Split the output of llvm-mc at the separators, and copy the text of each block that has as many lines as the block has instructions. */
static void split_text_by_block(char *out, const struct best_case_block *block, struct piece *piece, size_t nr)
{
	char *line = out, *begin = NULL;
	int lines = 0;
	size_t at = 0;

	for (char *end; at < nr && (end = strchr(line, '\n')); line = end + 1) {
		if (line[0] != '\t' || line[1] == '.') /* a directive */
			continue;
		if (!is_separator_line(line)) {
			begin = begin ? begin : line;
			lines++;
			continue;
		}
		if (begin && lines == block[at].nr)
			piece[at].text = strndup(begin, (size_t)(line - begin));
		begin = NULL;
		lines = 0;
		at++;
	}
}

static bool disassemble_blocks(struct best_cases *c, const struct best_case_block *block, struct piece *piece, size_t nr)
{
	char *const argv[] = { "llvm-mc", "--disassemble", "--triple=x86_64", NULL };
	char *out, *errors;
	struct text t;
	bool found, ok;

	if (!text_begin(&t))
		return false;
	for (size_t i = 0; i < nr; i++) {
		for (size_t n = 0; n < block[i].nr_bytes; n++)
			fprintf(t.to, "0x%02x ", block[i].bytes[n]);
		fputs("\n" BETWEEN, t.to);
	}
	fclose(t.to);
	ok = run_child_program(c, argv, t.bytes, &out, &errors, &found);
	if (ok)
		split_text_by_block(out, block, piece, nr);
	else
		/* the caller calls neither program again */
		snprintf(c->about, sizeof(c->about), found ? "llvm-mc failed" : "llvm-mca is not installed (package llvm)");
	free(t.bytes);
	free(out);
	free(errors);
	return ok;
}

/* Read "Total Cycles:" and "Block RThroughput:" of each region "Code Region - bN" in the output of llvm-mca, where N is the index of the
 * block. */
static void read_cycles(const char *out, struct best_case_block *block, size_t nr)
{
	static const char region[] = "Code Region - b", total[] = "Total Cycles:", units[] = "Block RThroughput:";

	for (const char *at = strstr(out, region), *next; at; at = next) {
		unsigned long n = strtoul(at + sizeof(region) - 1, NULL, 10);
		const char *cycles = strstr(at, total), *busy = strstr(at, units);

		next = strstr(at + 1, region);
		if (n >= nr || !cycles || !busy || (next && (cycles > next || busy > next)))
			continue;
		block[n].cycles = strtod(cycles + sizeof(total) - 1, NULL) / ITERATIONS;
		block[n].floor = fmin(strtod(busy + sizeof(units) - 1, NULL), block[n].cycles);
	}
}

/* Mark the block as refused that an error message "<stdin>:LINE:COLUMN: error: ..." is about. Return false if there is no such message. */
static bool mark_refused_block(const char *errors, struct piece *piece, const size_t *first_line, size_t nr)
{
	const char *at = errors ? strstr(errors, "error:") : NULL;
	unsigned long line;

	while (at && at > errors && at[-1] != '\n')
		at--;
	at = at ? strchr(at, ':') : NULL;
	line = at ? strtoul(at + 1, NULL, 10) : 0;
	for (size_t i = nr; line && i > 0; i--)
		if (piece[i - 1].text && !piece[i - 1].refused && first_line[i - 1] <= line) {
			piece[i - 1].refused = true;
			return true;
		}
	return false;
}

/* Write the blocks as regions for llvm-mca, and set first_line to the line at which each begins. Return how many were written. */
static size_t write_regions(FILE *to, const struct piece *piece, size_t *first_line, size_t nr)
{
	size_t line = 1, written = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!piece[i].text || piece[i].refused)
			continue;
		first_line[i] = line;
		fprintf(to, "# LLVM-MCA-BEGIN b%zu\n%s# LLVM-MCA-END b%zu\n", i, piece[i].text, i);
		for (const char *at = piece[i].text; (at = strchr(at, '\n')); at++)
			line++;
		line += 2;
		written++;
	}
	return written;
}

static void describe_simulator(struct best_cases *c, const char *processor)
{
	char *const argv[] = { "llvm-mca", "--version", NULL };
	char *out, *errors, version[32] = "", cpu[64] = "";
	const char *at;
	bool found;

	if (run_child_program(c, argv, "", &out, &errors, &found)) {
		at = strstr(out, "LLVM version ");
		if (at)
			sscanf(at, "LLVM version %31[0-9.]", version);
		at = strstr(out, "Host CPU: ");
		if (at)
			sscanf(at, "Host CPU: %63[a-zA-Z0-9_.-]", cpu);
	}
	snprintf(c->about, sizeof(c->about), "llvm-mca%s%s for %s", *version ? " " : "", version,
		 processor ? processor : *cpu ? cpu : "its default processor");
	free(out);
	free(errors);
}

/* Simulate the blocks. Return false if the last run failed, so that the blocks that it did not refuse have no answer. */
static bool simulate_with_mca(struct best_cases *c, const char *processor, struct best_case_block *block, struct piece *piece, size_t nr)
{
	size_t *first_line = calloc(nr + 1, sizeof(*first_line));
	char cpu[80] = "-mcpu=";
	char *const argv[] = { "llvm-mca", "--mtriple=x86_64", "--iterations=100", "--instruction-info=0", "--resource-pressure=0",
			       processor ? cpu : NULL, NULL };
	bool ok = false, is_answered = false;

	snprintf(cpu, sizeof(cpu), "-mcpu=%.63s", processor ? processor : "");
	for (int tries = 0; tries < RETRIES && !ok && first_line; tries++) {
		char *out, *errors;
		struct text t;
		bool found, again;
		size_t regions;

		if (!text_begin(&t))
			break;
		regions = write_regions(t.to, piece, first_line, nr);
		fclose(t.to);
		if (!regions) { /* no block is left, which is no failure, so later ones may still be simulated */
			is_answered = true;
			free(t.bytes);
			break;
		}
		ok = run_child_program(c, argv, t.bytes, &out, &errors, &found);
		if (ok)
			read_cycles(out, block, nr);
		again = !ok && found && mark_refused_block(errors, piece, first_line, nr);
		if (!found) {
			snprintf(c->about, sizeof(c->about), "llvm-mca is not installed (package llvm)");
			c->failed = true;
		}
		if (errors && strstr(errors, "is not a recognized processor")) {
			snprintf(c->about, sizeof(c->about), "llvm-mca knows no processor '%.63s'", processor ? processor : "");
			c->failed = true;
		}
		free(t.bytes);
		free(out);
		free(errors);
		if (c->failed || (!ok && !again))
			break;
	}
	if (ok && !c->failed && !*c->about)
		describe_simulator(c, processor);
	free(first_line);
	return ok || is_answered;
}

static bool take_known_best_case(const struct best_cases *c, struct best_case_block *b)
{
	const uint32_t i = hash_map_find(&c->by_bytes, hash_bytes(b->bytes, b->nr_bytes), b->nr_bytes);

	if (!i)
		return false;
	b->cycles = c->known.at[i - 1].cycles;
	b->floor = c->known.at[i - 1].floor;
	return true;
}

/* Keep the answer for a block. If memory runs out, it is not kept, and the block is simulated again when it is needed. */
static void remember_best_case(struct best_cases *c, const struct best_case_block *b)
{
	if (!ARRAY_PUSH(c->known, (struct known){ b->cycles, b->floor }))
		return;
	hash_map_set(&c->by_bytes, hash_bytes(b->bytes, b->nr_bytes), b->nr_bytes, (uint32_t)c->known.nr);
}

void best_cases_find(struct best_cases *c, const char *processor, struct best_case_block *block, size_t nr)
{
	struct piece *piece = calloc(nr + 1, sizeof(*piece));
	struct best_case_block *unknown = calloc(nr + 1, sizeof(*unknown));
	size_t *of = calloc(nr + 1, sizeof(*of)), nr_unknown = 0;
	bool is_answered = true;

	if (processor && strcmp(processor, BEST_CASE_NONE) == 0) {
		c->failed = true;
		snprintf(c->about, sizeof(c->about), "llvm-mca was not asked for");
	}
	for (size_t i = 0; i < nr; i++) {
		block[i].cycles = -1;
		if (c->failed || !unknown || !of || !block[i].nr || take_known_best_case(c, &block[i]))
			continue;
		unknown[nr_unknown] = block[i];
		of[nr_unknown++] = i;
	}
	if (nr_unknown && piece) {
		if (disassemble_blocks(c, unknown, piece, nr_unknown))
			is_answered = simulate_with_mca(c, processor, unknown, piece, nr_unknown);
		else
			c->failed = true;
	}
	if (c->spent_ms >= ALL_MAX_MS) {
		c->failed = true;
		snprintf(c->about, sizeof(c->about), "llvm-mca took more than %d s", ALL_MAX_MS / 1000);
	}
	for (size_t i = 0; i < nr_unknown && piece; i++) {
		block[of[i]].cycles = c->failed ? -1 : unknown[i].cycles;
		block[of[i]].floor = unknown[i].floor;
		if (!c->failed && (is_answered || !piece[i].text || piece[i].refused))
			remember_best_case(c, &unknown[i]);
		free(piece[i].text);
	}
	c->missed |= !is_answered;
	free(piece);
	free(unknown);
	free(of);
}
