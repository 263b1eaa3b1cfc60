/* SPDX-License-Identifier: MIT */
/*
 * Writers that are killed inside an append, ten thousand of them, two at a time: every record that was published before is read, every
 * one behind as well, and records and gaps together are all that was ever reserved.
 */
#include "tests/unit/unit.h"

#include "agent/guest/guest.h"
#include "agent/recorder/guests/log_drain.h"
#include "jitreg/jitreg.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VICTIMS 10000
#define RING_BYTES (4u << 20)
#define MARKER 3u /* writers 1 and 2 are killed */

void guest_switch_off(int error)
{
	(void)error;
}

bool guest_was_loaded_late(void)
{
	return false;
}

static struct log_drain drain;
static uint64_t nr_seen, nr_wrong, bytes_seen, last_of_writer[4];

static int append(uint32_t writer, uint64_t number, size_t bytes)
{
	static unsigned char payload[4096];
	struct jitreg_prefix prefix = { .id = JITREG_CLOSE };
	struct iovec parts[3] = { { &prefix, sizeof(prefix) }, { payload, 16 }, { payload + 16, bytes } };

	memcpy(payload, &number, 8);
	memcpy(payload + 8, &writer, 4);
	memset(payload + 16, (int)(number * 7 + writer), bytes);
	return log_append(parts, 3);
}

static void on_record(void *context, uint32_t tid, const void *bytes, size_t size)
{
	const unsigned char *p = (const unsigned char *)bytes + sizeof(struct jitreg_prefix);
	uint64_t number;
	uint32_t writer;

	(void)context;
	(void)tid;
	memcpy(&number, p, 8);
	memcpy(&writer, p + 8, 4);
	nr_seen++;
	bytes_seen += (sizeof(struct log_frame) + size + 7) & ~(uint64_t)7;
	if (writer > MARKER || number != last_of_writer[writer] + 1) { /* none before it was missed */
		nr_wrong++;
		return;
	}
	last_of_writer[writer] = number;
	for (size_t i = sizeof(struct jitreg_prefix) + 16; i < size; i++)
		if (((const unsigned char *)bytes)[i] != (unsigned char)(number * 7 + writer)) {
			nr_wrong++;
			return;
		}
}

static pid_t victim(uint32_t writer)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (uint64_t n = 1;; n++)
			while (append(writer, n, n * 331 % 3000))
				;
	}
	return pid;
}

static void killed_writers_leave_gaps_and_nothing_else(void **state)
{
	uint64_t begin, now_ns = 1, nr_gaps = 0, gap_before;
	int fd;

	(void)state;
	assert_int_equal(log_drain_create(&drain, 1, RING_BYTES, &fd), 0);
	close(fd);
	log_attach(drain.head, drain.ring_bytes);
	begin = drain.consumed;
	srand(1);
	for (uint64_t round = 1; round <= VICTIMS / 2; round++) {
		pid_t a = victim(1), b = victim(2);
		struct timespec nap = { 0, rand() % 200000 };

		nanosleep(&nap, NULL);
		kill(rand() % 2 ? a : b, SIGKILL);
		kill(a, SIGKILL);
		kill(b, SIGKILL);
		waitpid(a, NULL, 0);
		waitpid(b, NULL, 0);
		gap_before = drain.gap_bytes;
		last_of_writer[1] = last_of_writer[2] = 0;
		/* the log may be full of what they left: then the marker waits for the drain */
		while (append(MARKER, round, 100))
			for (int i = 0; i < 2; i++)
				log_drain(&drain, false, now_ns += 20000000000, on_record, NULL);
		for (int i = 0; i < 4; i++)
			log_drain(&drain, false, now_ns += 20000000000, on_record, NULL);
		nr_gaps += drain.gap_bytes > gap_before;
		assert_int_equal(last_of_writer[MARKER], round);
		assert_int_equal(nr_wrong, 0);
	}
	assert_int_equal(drain.consumed - begin, bytes_seen + drain.gap_bytes + drain.unused_bytes);
	assert_int_equal(drain.consumed, drain.head->reserved);
	assert_true(nr_gaps > VICTIMS / 100); /* else nobody was killed inside */
	printf("FIGURE %d writers killed, %llu rounds with a gap, %llu records read, %llu bytes of gaps\n", VICTIMS,
	       (unsigned long long)nr_gaps, (unsigned long long)nr_seen, (unsigned long long)drain.gap_bytes);
	log_detach();
	log_drain_close(&drain);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(killed_writers_leave_gaps_and_nothing_else) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
