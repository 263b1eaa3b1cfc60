/* SPDX-License-Identifier: MIT */
/* The guest's end of the log against the recorder's: nothing is torn, a full log refuses, and it wraps. */
#include "tests/unit/unit.h"

#include "agent/guest/guest.h"
#include "agent/recorder/guests/log_drain.h"
#include "jitreg/jitreg.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* What log.c needs of the rest of the guest. */
void guest_switch_off(int error)
{
	(void)error;
}

static bool is_late;

bool guest_was_loaded_late(void)
{
	return is_late;
}

static struct log_drain drain;
static uint64_t nr_seen, nr_torn, last_of_writer[8];

/* Payload: writer, number, and bytes that follow from both. */
static int append(uint32_t writer, uint64_t number, size_t bytes)
{
	static __thread unsigned char payload[70000];
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
	nr_torn += number <= last_of_writer[writer];
	last_of_writer[writer] = number;
	for (size_t i = sizeof(struct jitreg_prefix) + 16; i < size; i++)
		if (((const unsigned char *)bytes)[i] != (unsigned char)(number * 7 + writer)) {
			nr_torn++;
			break;
		}
	nr_seen++;
}

static int set_up(void **state)
{
	int fd;

	(void)state;
	nr_seen = nr_torn = 0;
	memset(last_of_writer, 0, sizeof(last_of_writer));
	assert_int_equal(log_drain_create(&drain, 1, LOG_RING_BYTES_MIN, &fd), 0);
	close(fd);
	log_attach(drain.head, drain.ring_bytes);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	log_detach();
	log_drain_close(&drain);
	return 0;
}

static void a_full_log_refuses_and_counts(void **state)
{
	uint64_t n = 0;

	(void)state;
	while (append(0, n + 1, 1000) == 0)
		n++;
	assert_uint_in_range(n, 60, 64);
	assert_int_equal(append(0, n + 2, 1000), -ENOBUFS);
	assert_int_equal(drain.head->dropped_records, 2);
	log_drain(&drain, false, 1, on_record, NULL);
	assert_int_equal(nr_seen, n);
	assert_int_equal(nr_torn, 0);
	assert_int_equal(append(0, n + 3, 1000), 0); /* there is room again */
}

/* A recorder that was killed must not hold up its host at each record. */
static void a_log_that_nobody_drains_is_waited_for_once(void **state)
{
	struct rusage before, after;

	(void)state;
	while (append(0, 1, 1000) == 0)
		;
	getrusage(RUSAGE_THREAD, &before);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(append(0, 1, 1000), -ENOBUFS);
	getrusage(RUSAGE_THREAD, &after);
	assert_uint_in_range(after.ru_nvcsw - before.ru_nvcsw, 0, 100); /* how often it went to sleep */
}

static void a_record_larger_than_the_log_is_refused_at_once(void **state)
{
	(void)state;
	assert_int_equal(append(0, 1, LOG_RING_BYTES_MIN), -ENOBUFS);
	assert_int_equal(append(0, 1, 10), 0);
}

static void malformed_parts_are_refused(void **state)
{
	struct iovec part = { (void *)"short", 5 };

	(void)state;
	assert_int_equal(log_append(&part, 1), -EINVAL);
	assert_int_equal(log_append(&part, 0), -EINVAL);
	part = (struct iovec){ NULL, 100 };
	assert_int_equal(log_append(&part, 1), -EINVAL);
}

static void records_run_across_the_end_of_the_ring(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 2000; n++) { /* of all lengths, some 20 times around */
		assert_int_equal(append(0, n, n % 1500), 0);
		log_drain(&drain, false, 1, on_record, NULL);
	}
	assert_int_equal(nr_seen, 2000);
	assert_int_equal(nr_torn, 0);
}

static int nr_running;

static void *writer_main(void *p)
{
	uint32_t me = (uint32_t)(uintptr_t)p;

	for (uint64_t n = 1; n <= 20000;)
		if (append(me, n, (n * 31 + me) % 300) == 0)
			n++;
	__atomic_fetch_sub(&nr_running, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void four_writers_and_a_reader_tear_nothing(void **state)
{
	pthread_t threads[4];

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* the guest is never sanitized, so its release stores are not seen, and every record read looks like a race */
#endif
	nr_running = 4;
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, writer_main, (void *)i);
	while (__atomic_load_n(&nr_running, __ATOMIC_ACQUIRE))
		log_drain(&drain, false, 1, on_record, NULL); /* time stands still: no frame is ever given up */
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	log_drain(&drain, true, 1, on_record, NULL);
	assert_int_equal(nr_torn, 0);
	assert_int_equal(nr_seen, 80000);
	assert_int_equal(drain.gap_bytes, 0);
}

/* ------------------------------------------------------------------------------------- writers that lose the processor */

/* A page of payload that cannot be read until the test says so: a writer stops in the middle of its copy. */
static unsigned char *page;
static int page_touched, page_open;

static void on_fault(int signo)
{
	(void)signo;
	__atomic_store_n(&page_touched, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&page_open, __ATOMIC_ACQUIRE))
		usleep(1000);
	mprotect(page, 4096, PROT_READ);
}

static void *slow_writer(void *p)
{
	struct jitreg_prefix prefix = { .id = JITREG_CLOSE };
	struct iovec parts[3] = { { &prefix, sizeof(prefix) }, { page, 16 }, { page + 16, 100 } };

	(void)p;
	return (void *)(intptr_t)log_append(parts, 3);
}

/* Record 1 of writer 1, whose thread stops in the middle. */
static pthread_t start_slow_writer(void)
{
	uint64_t number = 1;
	uint32_t writer = 1;
	pthread_t t;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(page, &number, 8);
	memcpy(page + 8, &writer, 4);
	memset(page + 16, (int)(number * 7 + writer), 100);
	mprotect(page, 4096, PROT_NONE);
	page_touched = page_open = 0;
	signal(SIGSEGV, on_fault);
	pthread_create(&t, NULL, slow_writer, NULL);
	while (!__atomic_load_n(&page_touched, __ATOMIC_ACQUIRE))
		usleep(1000);
	return t;
}

static int finish_slow_writer(pthread_t t)
{
	void *ret;

	__atomic_store_n(&page_open, 1, __ATOMIC_RELEASE);
	pthread_join(t, &ret);
	signal(SIGSEGV, SIG_DFL);
	munmap(page, 4096);
	return (int)(intptr_t)ret;
}

static void a_record_that_was_read_past_is_read_when_it_comes(void **state)
{
	pthread_t t = start_slow_writer();

	(void)state;
	for (uint64_t n = 1; append(2, n, 1000) == 0; n++) /* the log is more than half full */
		;
	log_drain(&drain, false, 1, on_record, NULL);
	assert_int_equal(nr_seen, 0);
	log_drain(&drain, false, 200000001, on_record, NULL);
	assert_true(nr_seen > 50);
	assert_int_equal(append(2, 1000, 1000), -ENOBUFS); /* its place is kept */
	nr_seen = 0;
	assert_int_equal(finish_slow_writer(t), 0);
	log_drain(&drain, false, 300000001, on_record, NULL);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(last_of_writer[1], 1);
	assert_int_equal(nr_torn, 0);
	assert_int_equal(drain.gap_bytes, 0);
	assert_int_equal(append(2, 1001, 1000), 0);
}

static void a_writer_that_was_given_up_is_told_and_harms_no_other_record(void **state)
{
	pthread_t t = start_slow_writer();
	uint64_t n = 0;

	(void)state;
	assert_int_equal(append(2, ++n, 1000), 0);
	log_drain(&drain, false, 1, on_record, NULL);
	log_drain(&drain, false, 200000001, on_record, NULL);
	log_drain(&drain, false, 11000000001, on_record, NULL);
	assert_true(drain.gap_bytes > 100);
	assert_int_equal(finish_slow_writer(t), -ENOBUFS);
	assert_int_equal(drain.head->dropped_records, 1);
	for (int i = 0; i < 200; i++) { /* around the ring */
		assert_int_equal(append(2, ++n, 1000), 0);
		log_drain(&drain, false, 12000000001, on_record, NULL);
	}
	assert_int_equal(nr_seen, n);
	assert_int_equal(nr_torn, 0);
}

/* The recording ends, and the host goes on. */
static void a_log_that_is_closed_takes_nothing_and_its_slow_writers_are_told(void **state)
{
	pthread_t t = start_slow_writer();

	(void)state;
	assert_int_equal(append(2, 1, 1000), 0);
	log_drain_refuse_writers(&drain);
	__atomic_store_n(&drain.head->recorder_gone, 0, __ATOMIC_RELEASE); /* of a thread that has looked before */
	assert_int_equal(append(2, 2, 1000), -ENOSYS);
	log_drain(&drain, true, 1, on_record, NULL);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(finish_slow_writer(t), -ENOBUFS);
	log_drain(&drain, true, 2, on_record, NULL);
	assert_int_equal(nr_seen, 1);
}

static void *writer_until_closed(void *p)
{
	uint64_t *accepted = p;
	int ret;

	while ((ret = append((uint32_t)accepted[0], accepted[1] + 1, 100)) != -ENOSYS)
		accepted[1] += ret == 0;
	return NULL;
}

/* Three threads append until the log is closed, after so many drains. */
static void assert_all_accepted_is_read(int nr_drains)
{
	uint64_t accepted[3][2] = { { 1, 0 }, { 2, 0 }, { 3, 0 } };
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, writer_until_closed, accepted[i]);
	for (int i = 0; i < nr_drains; i++)
		log_drain(&drain, false, 1, on_record, NULL);
	log_drain_refuse_writers(&drain);
	log_drain(&drain, true, 1, on_record, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(nr_seen, accepted[0][1] + accepted[1][1] + accepted[2][1]);
	assert_int_equal(nr_torn, 0);
}

static void what_was_accepted_before_a_log_was_closed_is_read(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* as above */
#endif
	for (int round = 0; round < 200; round++) {
		tear_down(state);
		set_up(state);
		assert_all_accepted_is_read(round % 7);
	}
}

/* Of all memory of a log, what is in use. */
static uint64_t memory_of(int fd)
{
	struct stat s;

	assert_int_equal(fstat(fd, &s), 0);
	return (uint64_t)s.st_blocks * 512;
}

static void a_log_that_is_drained_in_time_uses_few_pages(void **state)
{
	uint64_t n = 0, first;
	int fd;

	(void)state;
	log_detach();
	log_drain_close(&drain);
	assert_int_equal(log_drain_create(&drain, 1, 8u << 20, &fd), 0);
	log_attach(drain.head, drain.ring_bytes);
	for (int round = 0; round < 200; round++) { /* 20 MB */
		for (int i = 0; i < 100; i++)
			assert_int_equal(append(1, ++n, 1000), 0);
		log_drain(&drain, false, 1, on_record, NULL);
	}
	assert_int_equal(nr_seen, n);
	assert_int_equal(nr_torn, 0);
	assert_uint_in_range(memory_of(fd), 1, 1 << 20);
	first = drain.head->consumed;
	while (append(1, n + 1, 1000) == 0) /* all of it can be used */
		n++;
	assert_uint_in_range(drain.head->reserved - first, (8u << 20) - 2000, 8u << 20);
	log_drain(&drain, false, 1, on_record, NULL);
	assert_int_equal(nr_seen, n);
	assert_int_equal(nr_torn, 0);
	close(fd);
}

/* Three threads that append as fast as they can, and a log that begins anew whenever it is empty. */
static void a_log_that_begins_anew_loses_nothing(void **state)
{
	int fd;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* as above */
#endif
	log_detach();
	log_drain_close(&drain);
	assert_int_equal(log_drain_create(&drain, 1, 8u << 20, &fd), 0);
	close(fd);
	log_attach(drain.head, drain.ring_bytes);
	for (int round = 0; round < 20; round++) {
		nr_seen = 0;
		memset(last_of_writer, 0, sizeof(last_of_writer));
		if (round) {
			tear_down(state);
			assert_int_equal(log_drain_create(&drain, 1, 8u << 20, &fd), 0);
			close(fd);
			log_attach(drain.head, drain.ring_bytes);
		}
		assert_all_accepted_is_read(3000);
	}
}

static bool has_ended;

static void *append_until_the_end(void *writer)
{
	for (uint64_t n = 1; !__atomic_load_n(&has_ended, __ATOMIC_RELAXED); n++)
		append((uint32_t)(uintptr_t)writer, n, n % 3000);
	return NULL;
}

static int nr_logs_mapped(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	int nr = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		nr += strstr(line, "tailor-log") != NULL;
	fclose(f);
	return nr;
}

/* As in a process into which the agent is injected again and again. */
static void recorders_that_come_one_after_the_other_leave_no_log_behind(void **state)
{
	pthread_t t[3];
	void *ours;
	int fd;

	(void)state;
	is_late = true;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&t[i], NULL, append_until_the_end, (void *)(i + 1)), 0);
	for (int round = 0; round < 200; round++) {
		assert_int_equal(log_drain_create(&drain, 1, 1u << 20, &fd), 0);
		ours = mmap(NULL, LOG_HEAD_BYTES + (1u << 20), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		assert_true(ours != MAP_FAILED);
		close(fd);
		log_attach(ours, 1u << 20);
		nr_seen = 0;
		while (!nr_seen)
			log_drain(&drain, false, 1, on_record, NULL);
		log_drain_refuse_writers(&drain);
		log_drain(&drain, true, 1, on_record, NULL);
		log_drain_close(&drain);
		do /* a writer may be in the middle, or one that gives back have no processor */
			log_abandon();
		while (nr_logs_mapped());
	}
	__atomic_store_n(&has_ended, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(nr_torn, 0);
	log_forget_missed();
	is_late = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorders_that_come_one_after_the_other_leave_no_log_behind), /* the first: others leave logs */
		cmocka_unit_test_setup_teardown(a_full_log_refuses_and_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_log_that_nobody_drains_is_waited_for_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_record_larger_than_the_log_is_refused_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(malformed_parts_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(records_run_across_the_end_of_the_ring, set_up, tear_down),
		cmocka_unit_test_setup_teardown(four_writers_and_a_reader_tear_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_record_that_was_read_past_is_read_when_it_comes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_writer_that_was_given_up_is_told_and_harms_no_other_record, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_log_that_is_closed_takes_nothing_and_its_slow_writers_are_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_accepted_before_a_log_was_closed_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_log_that_is_drained_in_time_uses_few_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_log_that_begins_anew_loses_nothing, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
