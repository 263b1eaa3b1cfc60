/* SPDX-License-Identifier: MIT */
/*
 * A program with one bottleneck that is known: tasks KIND [--threads N] [--work UNITS] [--share PERCENT] [--slow a=PERCENT]
 * [--file FILE] [--every UNITS].
 * The work is fixed: so many rounds of a loop, whatever the machine.  Prints how long it took, in ns.  Kinds: list[] at the end.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define UNIT 20000 /* rounds of a loop */
#define THREADS_MAX 256

static int nr_threads = 4;
static long units = 20000; /* of all threads together */
static const char *file = "tasks.data";
static double slow[3] = { 1, 1, 1 }; /* of step_a, step_b, step_c */
static long share = 50; /* per cent: in the lock, of the serial part */
static long every = 4; /* units from one reading to the next */
static int unlocked;

/* Three functions that do the same: what is known of one is its name. */
#define STEP(name, which)                                                     \
	NOINLINE static void name(long n)                                     \
	{                                                                     \
		long rounds = (long)((double)n * UNIT * slow[which]);         \
                                                                              \
		for (volatile uint32_t i = 0; i < (uint32_t)(rounds & 0x7fffffff); i++) \
			;                                                     \
	}
STEP(step_a, 0)
STEP(step_b, 1)
STEP(step_c, 2)

/* A unit: 2 parts of a, 1 of b, 1 of c, in quarters. */
static void unit(void)
{
	for (int i = 0; i < 2; i++)
		step_a(1);
	step_b(1);
	step_c(1);
}

static long part_of(int thread)
{
	return units / nr_threads + (thread < units % nr_threads);
}

static void fork_and_join(void *(*work)(void *))
{
	pthread_t t[THREADS_MAX];

	for (long i = 1; i < nr_threads; i++)
		if (pthread_create(&t[i], NULL, work, (void *)i))
			exit(2);
	work((void *)0);
	for (int i = 1; i < nr_threads; i++)
		pthread_join(t[i], NULL);
}

/* ---------------------------------------------------------------------------------------------------------- even parts */

static void *even_part(void *number)
{
	for (long n = part_of((int)(long)number); n > 0; n--)
		unit();
	return NULL;
}

static void even(void) { fork_and_join(even_part); }

/* Tasks that threads take from a queue. */
static atomic_long next_task;

static void *take_tasks(void *number)
{
	while (atomic_fetch_add(&next_task, 1) < units)
		unit();
	return number;
}

static void queue(void) { fork_and_join(take_tasks); }

/* One thread has twice as much as all the others, which wait for it. */
static void *uneven_part(void *number)
{
	long n = part_of((int)(long)number);

	for (n = (long)number == 1 ? 3 * n : n; n > 0; n--)
		unit();
	return NULL;
}

static void straggler(void) { fork_and_join(uneven_part); }

/* Phases with a barrier behind each. */
static pthread_barrier_t barrier;
#define PHASES 20

static void *phases_part(void *number)
{
	for (int phase = 0; phase < PHASES; phase++) {
		for (long n = part_of((int)(long)number) / PHASES; n > 0; n--)
			unit();
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void phases(void)
{
	pthread_barrier_init(&barrier, NULL, (unsigned)nr_threads);
	fork_and_join(phases_part);
}

/* Two tasks, however many threads there are. */
static void *few_part(void *number)
{
	for (long n = (long)number < 2 ? units / 2 : 0; n > 0; n--)
		unit();
	return NULL;
}

static void few(void) { fork_and_join(few_part); }

/* A part that one thread does alone, then the others' part. */
static void serial(void)
{
	const long all = units;

	for (long n = all * share / 100; n > 0; n--)
		unit();
	units = all - all * share / 100;
	even();
}

/* ------------------------------------------------------------------------------------------------------------- waiting */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

NOINLINE static void take_ticket(void)
{
	if (!unlocked)
		pthread_mutex_lock(&mutex);
}

static void *locked_part(void *number)
{
	/* ten units at a time: share of them in the lock */
	for (long n = part_of((int)(long)number) / 10; n > 0; n--) {
		for (long i = 0; i < 10 - share / 10; i++)
			unit();
		take_ticket();
		for (long i = 0; i < share / 10; i++)
			unit();
		if (!unlocked)
			pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void locked(void) { fork_and_join(locked_part); }

static void *sleeping_part(void *number)
{
	for (long n = part_of((int)(long)number), i = 0; i < n; i++) {
		unit();
		if (i % 20 == 0)
			nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
	}
	return NULL;
}

static void sleeping(void) { fork_and_join(sleeping_part); }

static void *spinning_part(void *number)
{
	static atomic_int ready;

	if ((long)number == 0) {
		for (long n = units / 2; n > 0; n--)
			unit();
		atomic_store(&ready, 1);
	}
	while (!atomic_load(&ready))
		;
	return NULL;
}

static void spinning(void) { fork_and_join(spinning_part); }

/* A producer, and a consumer that does the most of the work. */
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static long in_box, produced_all;

static void *produce(void *unused)
{
	for (long n = units / 40; n > 0; n--) {
		for (int i = 0; i < 10; i++)
			step_a(4);
		pthread_mutex_lock(&mutex);
		while (in_box == 4)
			pthread_cond_wait(&emptied, &mutex);
		in_box++;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&mutex);
	}
	pthread_mutex_lock(&mutex);
	produced_all = 1;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *consume(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&mutex);
		while (!in_box && !produced_all)
			pthread_cond_wait(&filled, &mutex);
		if (!in_box) {
			pthread_mutex_unlock(&mutex);
			return unused;
		}
		in_box--;
		pthread_cond_signal(&emptied);
		pthread_mutex_unlock(&mutex);
		for (int i = 0; i < 30; i++)
			step_b(4);
	}
}

static void *pipeline_part(void *number) { return (long)number == 0 ? produce(NULL) : consume(NULL); }
static void pipeline(void)
{
	nr_threads = 2;
	fork_and_join(pipeline_part);
}

/* -------------------------------------------------------------------------------------------------------------- devices */

static void *reading_part(void *number)
{
	int fd = open(file, O_RDONLY | O_DIRECT);
	char *buffer;
	unsigned state = (unsigned)(long)number + 1;

	if (fd < 0 || posix_memalign((void **)&buffer, 4096, 1 << 20))
		exit(3);
	for (long n = part_of((int)(long)number), i = 0; i < n; i++) {
		unit();
		state = state * 1103515245u + 12345u;
		if (i % every == 0 && pread(fd, buffer, 1 << 20, (off_t)(state >> 8 & 63) << 20) <= 0)
			exit(3);
	}
	close(fd);
	return NULL;
}

static void make_file(void)
{
	int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *buffer = calloc(1, 1 << 20);

	for (int i = 0; fd >= 0 && buffer && i < 64; i++)
		if (write(fd, buffer, 1 << 20) != 1 << 20)
			exit(3);
	if (fd < 0 || fsync(fd))
		exit(3);
	close(fd);
	free(buffer);
}

static void reading(void)
{
	fork_and_join(reading_part);
	unlink(file);
}

static void *faulting_part(void *number)
{
	const size_t bytes = 1 << 20;

	for (long n = part_of((int)(long)number); n > 0; n--) {
		char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(p, bytes, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < bytes; i += 4096)
			p[i] = 1;
		munmap(p, bytes);
	}
	return number;
}

static void faulting(void) { fork_and_join(faulting_part); }

/* A server in a process of its own, which takes 2 ms for an answer. */
static int server_port;

static void serve(int listening)
{
	int fd = accept(listening, NULL, NULL);
	char byte;

	while (read(fd, &byte, 1) == 1) {
		nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
		if (write(fd, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static void asking(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = (in_port_t)server_port };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char byte = 0;

	if (connect(fd, (struct sockaddr *)&at, sizeof(at)))
		exit(3);
	for (long n = units; n > 0; n--) {
		unit();
		if (n % 10 == 0 && (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1))
			exit(3);
	}
	close(fd);
}

/* Outside of what is profiled: the server has left its process tree's counters behind by ending last, it is asked for time alone. */
static void begin_server(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(at);
	int listening = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listening, (struct sockaddr *)&at, sizeof(at)) || listen(listening, 1) ||
	    getsockname(listening, (struct sockaddr *)&at, &bytes))
		exit(3);
	server_port = at.sin_port;
	if (fork() == 0)
		serve(listening);
	close(listening);
}

static const struct {
	const char *name;
	void (*run)(void), (*prepare)(void);
} list[] = {
	{ "even", even, NULL },	      { "queue", queue, NULL },	    { "straggler", straggler, NULL }, { "phases", phases, NULL },
	{ "few", few, NULL },	      { "serial", serial, NULL },   { "locked", locked, NULL },	      { "sleeping", sleeping, NULL },
	{ "spinning", spinning, NULL }, { "pipeline", pipeline, NULL }, { "reading", reading, make_file }, { "faulting", faulting, NULL },
	{ "asking", asking, begin_server },
};

static void parse_options(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--unlocked") == 0)
			unlocked = 1;
		else if (i + 1 == argc)
			exit(2);
		else if (strcmp(argv[i], "--threads") == 0)
			nr_threads = atoi(argv[++i]);
		else if (strcmp(argv[i], "--work") == 0)
			units = atol(argv[++i]);
		else if (strcmp(argv[i], "--share") == 0)
			share = atol(argv[++i]);
		else if (strcmp(argv[i], "--every") == 0)
			every = atol(argv[++i]);
		else if (strcmp(argv[i], "--file") == 0)
			file = argv[++i];
		else if (strcmp(argv[i], "--slow") == 0 && argv[++i][0] >= 'a' && argv[i][0] <= 'c' && argv[i][1] == '=')
			slow[argv[i][0] - 'a'] = 1 + atof(argv[i] + 2) / 100;
		else
			exit(2);
	}
	if (nr_threads < 1 || nr_threads > THREADS_MAX || units < 1 || every < 1)
		exit(2);
}

int main(int argc, char **argv)
{
	struct timespec from, to;

	if (argc < 2)
		return 2;
	parse_options(argc, argv);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (strcmp(argv[1], list[i].name) != 0)
			continue;
		if (list[i].prepare)
			list[i].prepare();
		clock_gettime(CLOCK_MONOTONIC, &from);
		list[i].run();
		clock_gettime(CLOCK_MONOTONIC, &to);
		printf("%lld\n", (to.tv_sec - from.tv_sec) * 1000000000ll + to.tv_nsec - from.tv_nsec);
		return 0;
	}
	return 2;
}
