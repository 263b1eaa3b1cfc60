/* SPDX-License-Identifier: MIT */
/* Requests to servers of this process that behave badly, on loopback. */
#include "analyzer/fleet/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (1u << 20)

/* What it sends: once, and then again and again until the client goes away. */
struct server {
	const char *once, *again;
	int listening, us_between;
	bool is_silent; /* it keeps the connection without a word */
	pthread_t thread;
	char url[64];
};

static bool put(int fd, const char *text)
{
	return send(fd, text, strlen(text), MSG_NOSIGNAL) > 0;
}

static void *serve(void *context)
{
	const struct server *s = context;
	char byte;
	int fd = accept(s->listening, NULL, NULL);

	if (fd < 0)
		return NULL;
	if (!s->is_silent)
		for (bool more = put(fd, s->once); more && s->again && put(fd, s->again);)
			usleep((useconds_t)s->us_between);
	if (!s->is_silent)
		shutdown(fd, SHUT_WR);
	while (recv(fd, &byte, 1, 0) > 0) /* until the client goes away */
		;
	close(fd);
	return NULL;
}

static void start(struct server *s)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(address);

	s->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->listening, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(s->listening, 1), 0);
	assert_int_equal(getsockname(s->listening, (struct sockaddr *)&address, &bytes), 0);
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%d/", ntohs(address.sin_port));
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static int ask(struct server *s, unsigned limit_s, struct http_answer *a, struct diag *d)
{
	struct http_request r = { .url = s->url, .body = "x", .nr = 1, .answer_max = MIB, .limit_s = limit_s };
	int ret;

	start(s);
	ret = http_post(&r, a, d);
	pthread_join(s->thread, NULL);
	close(s->listening);
	if (ret == -ELIBACC) {
		http_answer_fini(a);
		skip();
	}
	return ret;
}

static void expect_failure(struct server *s, unsigned limit_s, int error, const char *sentence)
{
	struct http_answer a;
	struct diag d = { "" };

	assert_int_equal(ask(s, limit_s, &a, &d), error);
	if (!strstr(d.text, sentence))
		fail_msg("expected '%s', got '%s'", sentence, d.text);
	assert_true(a.nr <= MIB);
	http_answer_fini(&a);
}

static void answer_has_its_media_type(void **state)
{
	struct server s = { .once = "HTTP/1.1 200 OK\r\ncontent-type:  text/\x1bhtml \r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\nok" };
	struct http_answer a;
	struct diag d = { "" };

	(void)state;
	assert_int_equal(ask(&s, 0, &a, &d), 0);
	assert_string_equal(a.media_type, "text/?html");
	assert_int_equal(a.retry_after_s, 7);
	assert_string_equal(a.body, "ok");
	http_answer_fini(&a);
}

static void endless_answer_is_refused(void **state)
{
	static const char some[] = "1\t2\t3\t4\t5\n1\t2\t3\t4\t5\n1\t2\t3\t4\t5\n1\t2\t3\t4\t5\n1\t2\t3\t4\t5\n";
	struct server s = { .once = "HTTP/1.1 200 OK\r\n\r\n", .again = some };

	(void)state;
	expect_failure(&s, 0, -EFBIG, "the answer is larger than 1 MiB");
}

static void endless_headers_are_refused(void **state)
{
	struct server s = { .once = "HTTP/1.1 200 OK\r\n", .again = "X-More: and more and more and more and more and more and more\r\n" };

	(void)state;
	expect_failure(&s, 0, -EFBIG, "the answer is larger than");
}

static void announced_size_is_not_trusted(void **state)
{
	struct server s = { .once = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut" };

	(void)state;
	expect_failure(&s, 0, -EIO, "127.0.0.1");
}

static void silent_server_is_left(void **state)
{
	struct server s = { .is_silent = true };

	(void)state;
	expect_failure(&s, 1, -ETIMEDOUT, "no whole answer within 1 s");
}

static void trickling_server_is_left(void **state)
{
	struct server s = { .once = "HTTP/1.1 200 OK\r\n\r\n", .again = "x", .us_between = 10000 };
	struct server headers = { .once = "HTTP/1.1 200 OK\r\nX: ", .again = "x", .us_between = 10000 };

	(void)state;
	expect_failure(&s, 2, -ETIMEDOUT, "no whole answer within 2 s");
	expect_failure(&headers, 2, -ETIMEDOUT, "no whole answer within 2 s");
}

static void server_that_is_not_there_was_sent_nothing(void **state)
{
	struct http_request r = { .url = "http://127.0.0.1:1/", .answer_max = MIB };
	struct http_answer a;
	struct diag d = { "" };
	int ret = http_post(&r, &a, &d);

	(void)state;
	http_answer_fini(&a);
	if (ret == -ELIBACC)
		skip();
	assert_int_equal(ret, -ECONNREFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answer_has_its_media_type),	 cmocka_unit_test(endless_answer_is_refused),
		cmocka_unit_test(endless_headers_are_refused),	 cmocka_unit_test(announced_size_is_not_trusted),
		cmocka_unit_test(silent_server_is_left),	 cmocka_unit_test(trickling_server_is_left),
		cmocka_unit_test(server_that_is_not_there_was_sent_nothing),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
