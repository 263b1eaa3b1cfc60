/* SPDX-License-Identifier: MIT */
#include "analyzer/serve/http.h"

#include "analyzer/serve/connections.h"
#include "analyzer/serve/questions.h"
#include "jitreg/base/grow.h"

#include <errno.h>

#if !__has_include(<microhttpd.h>)

#pragma message "tailor is built without `tailor serve`: libmicrohttpd is missing (Debian: apt install libmicrohttpd-dev)"

int http_ready(struct diag *d)
{
	return diag_fail(d, ENOSYS, "this build has no server: libmicrohttpd was missing (on Debian: apt install libmicrohttpd-dev, "
				    "then make again)");
}

int http_serve(const struct http_page *page, uint16_t port, FILE *to, struct diag *d)
{
	(void)page, (void)port, (void)to;
	return http_ready(d);
}

#else

#include <arpa/inet.h>
#include <dlfcn.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define TOKEN_BYTES 16
#define TOKEN_DIGITS (2 * TOKEN_BYTES)
#define QUESTION_BYTES_MAX (64u << 20)
#define CONNECTION_SECONDS 120u
#define CONNECTION_BYTES (256u << 10) /* limit of a connection's headers and buffers */

#define LIBRARY "libmicrohttpd.so.12"
#define CALLS(X) \
	X(MHD_start_daemon) \
	X(MHD_stop_daemon) \
	X(MHD_create_response_from_buffer) \
	X(MHD_add_response_header) \
	X(MHD_queue_response) \
	X(MHD_destroy_response) \
	X(MHD_lookup_connection_value) \
	X(MHD_get_connection_values) \
	X(MHD_get_connection_info)

static struct {
#define CALL_(name) __typeof__(&name) name;
	CALLS(CALL_)
#undef CALL_
} mhd;

int http_ready(struct diag *d)
{
	void *library = dlopen(LIBRARY, RTLD_NOW);

	if (!library)
		return diag_fail(d, ENOENT, "cannot load " LIBRARY ": %s (on Debian: apt install libmicrohttpd12)", dlerror());
#define CALL_(name) \
	mhd.name = (__typeof__(mhd.name))(uintptr_t)dlsym(library, #name); \
	if (!mhd.name) \
		return diag_fail(d, ENOENT, "cannot use " LIBRARY ": it has no " #name);
	CALLS(CALL_)
#undef CALL_
	return 0;
}

struct server {
	const struct http_page *page;
	char *html, *policy;
	size_t html_bytes, policy_bytes;
	char token[TOKEN_DIGITS + 1];
	char host[2][32]; /* values of the header Host that are accepted */
	struct connections connections;
};

struct request {
	ARRAY(char) question;
	bool too_long;
};

/* ------------------------------------------------------------------------------------------------------------- answers */

static enum MHD_Result send_answer(const struct server *s, struct MHD_Connection *c, unsigned status, const char *type, const void *body,
				   size_t bytes, enum MHD_ResponseMemoryMode memory)
{
	const struct {
		const char *name, *value;
	} headers[] = {
		{ "Content-Type", type },
		{ "Content-Security-Policy", s->policy },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
		{ "Cache-Control", "no-store" },
	};
	struct MHD_Response *r = mhd.MHD_create_response_from_buffer(bytes, (void *)(uintptr_t)body, memory);
	enum MHD_Result ret;

	if (!r) {
		if (memory == MHD_RESPMEM_MUST_FREE)
			free((void *)(uintptr_t)body);
		return MHD_NO;
	}
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		mhd.MHD_add_response_header(r, headers[i].name, headers[i].value);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		mhd.MHD_add_response_header(r, "Allow", "GET, POST");
	ret = mhd.MHD_queue_response(c, status, r);
	mhd.MHD_destroy_response(r);
	return ret;
}

static enum MHD_Result send_refusal(const struct server *s, struct MHD_Connection *c, unsigned status, const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "tailor serve: %s\n", why);
	return send_answer(s, c, status, "text/plain; charset=utf-8", text, strlen(text), MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result answer_questions(const struct server *s, struct MHD_Connection *c, struct served *t, const struct request *r)
{
	const char *why;
	void *bytes = NULL;
	size_t nr = 0;

	switch (questions_answer(t, r->question.at, r->question.nr, &bytes, &nr, &why)) {
	case 0:
		return send_answer(s, c, MHD_HTTP_OK, "application/octet-stream", bytes, nr, MHD_RESPMEM_MUST_FREE);
	case -EINVAL:
		return send_refusal(s, c, MHD_HTTP_BAD_REQUEST, why);
	case -E2BIG:
		return send_refusal(s, c, MHD_HTTP_CONTENT_TOO_LARGE, why);
	default:
		return send_refusal(s, c, MHD_HTTP_INTERNAL_SERVER_ERROR, "not enough memory for the answer");
	}
}

/* ------------------------------------------------------------------------------------------------------------ requests */

/* Returns whether text begins with the token. All digits that text has are compared, so that the time does not tell how many agree. */
static bool is_token(const char *text, const char *token)
{
	unsigned char differ = 0;

	for (int i = 0; i < TOKEN_DIGITS; i++) {
		if (!text[i])
			return false;
		differ |= (unsigned char)(text[i] ^ token[i]);
	}
	return differ == 0;
}

/* Returns whether the header Host names this server, and the header Origin, too, if there is one. A page of another site can send requests
 * here, also by a host name of its own for this address, but it cannot choose these headers. */
static bool request_is_same_origin(const struct server *s, struct MHD_Connection *c)
{
	const char *host = mhd.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
	const char *origin = mhd.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin");

	if (!host || (strcasecmp(host, s->host[0]) != 0 && strcasecmp(host, s->host[1]) != 0))
		return false;
	return !origin || (strncmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0);
}

/* Returns the trace whose number, one digit, is the first part of the path ("0", "0/..."), and sets *rest to the text after the slash,
 * or "".  Returns NULL if there is no such trace. */
static struct served *find_trace(const struct http_page *p, const char *path, const char **rest)
{
	const unsigned number = (unsigned)(path[0] - '0');

	if (!path[0] || number >= p->nr_traces || (path[1] && path[1] != '/'))
		return NULL;
	*rest = path[1] ? path + 2 : "";
	return &p->trace[number];
}

static const char *text_behind_prefix(const char *path, const char *start)
{
	return strncmp(path, start, strlen(start)) == 0 ? path + strlen(start) : NULL;
}

static enum MHD_Result answer_get_request(const struct server *s, struct MHD_Connection *c, const char *path)
{
	const char *at, *rest;
	const struct served_column *column;
	const struct served *t;

	if (!*path)
		return send_answer(s, c, MHD_HTTP_OK, "text/html; charset=utf-8", s->html, s->html_bytes, MHD_RESPMEM_PERSISTENT);
	at = text_behind_prefix(path, "facts/");
	t = at ? find_trace(s->page, at, &rest) : NULL;
	if (t && !*rest)
		return send_answer(s, c, MHD_HTTP_OK, "application/json", t->facts, t->facts_bytes, MHD_RESPMEM_PERSISTENT);
	at = text_behind_prefix(path, "column/");
	t = at ? find_trace(s->page, at, &rest) : NULL;
	column = t ? served_find(t, rest) : NULL;
	if (column)
		return send_answer(s, c, MHD_HTTP_OK, "application/octet-stream", column->data, (size_t)column->nr * column->width,
				   MHD_RESPMEM_PERSISTENT);
	return send_refusal(s, c, MHD_HTTP_NOT_FOUND, "there is no such page");
}

static enum MHD_Result
handle_whole_request(const struct server *s, struct MHD_Connection *c, const char *url, const char *method, const struct request *r)
{
	const bool is_post = strcmp(method, "POST") == 0;
	const char *path = url + 1 + TOKEN_DIGITS + 1, *rest;
	struct served *t;

	if (!is_post && strcmp(method, "GET") != 0)
		return send_refusal(s, c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and POST are answered");
	if (mhd.MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, NULL, NULL) > 0)
		return send_refusal(s, c, MHD_HTTP_BAD_REQUEST, "no address here has a query");
	if (!is_post)
		return answer_get_request(s, c, path);
	path = text_behind_prefix(path, "sums/");
	t = path ? find_trace(s->page, path, &rest) : NULL;
	if (!t || *rest)
		return send_refusal(s, c, path ? MHD_HTTP_NOT_FOUND : MHD_HTTP_METHOD_NOT_ALLOWED, "nothing is asked there by POST");
	if (r->too_long)
		return send_refusal(s, c, MHD_HTTP_CONTENT_TOO_LARGE, "the question is too long");
	return answer_questions(s, c, t, r);
}

/* Appends data to the question. If the question is too long, the rest is still read, but discarded, so that a refusal can be sent. Returns
 * MHD_NO, which ends the connection, if memory runs out. */
static enum MHD_Result take_upload(struct request *r, const char *data, size_t *nr)
{
	if (r->question.nr + *nr > QUESTION_BYTES_MAX)
		r->too_long = true;
	if (!r->too_long) {
		if (!ARRAY_RESERVE(r->question, *nr))
			return MHD_NO;
		memcpy(r->question.at + r->question.nr, data, *nr);
		r->question.nr += (uint32_t)*nr;
	}
	*nr = 0;
	return MHD_YES;
}

/* Handles a request. libmicrohttpd calls this first with the headers alone, so a request without the token is refused before its data is
 * read. */
static enum MHD_Result check_token_and_handle(void *context, struct MHD_Connection *c, const char *url, const char *method,
					      const char *version, const char *data, size_t *nr, void **request)
{
	struct server *s = context;
	struct request *r = *request;
	const union MHD_ConnectionInfo *connection;

	(void)version;
	if (!request_is_same_origin(s, c))
		return send_refusal(s, c, MHD_HTTP_FORBIDDEN, "the request is for another host, or from another site");
	if (url[0] != '/' || !is_token(url + 1, s->token) || url[1 + TOKEN_DIGITS] != '/')
		return send_refusal(s, c, MHD_HTTP_FORBIDDEN, "the address lacks the token that `tailor serve` printed");
	if (!r) {
		connection = mhd.MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
		if (connection && connection->socket_context)
			connections_know(&s->connections, connection->socket_context);
		*request = calloc(1, sizeof(*r));
		return *request ? MHD_YES : MHD_NO;
	}
	return *nr ? take_upload(r, data, nr) : handle_whole_request(s, c, url, method, r);
}

static void free_request(void *context, struct MHD_Connection *c, void **request, enum MHD_RequestTerminationCode why)
{
	struct request *r = *request;

	(void)context, (void)c, (void)why;
	if (r)
		free(r->question.at);
	free(r);
	*request = NULL;
}

/* -------------------------------------------------------------------------------------------------------------- server */

/* Returns a socket that listens on the loopback interface alone, or -errno with the reason in d. *port: its port, also if 0 was asked
 * for. */
static int listen_on(uint16_t *port, struct diag *d)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(address);
	const int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, SOMAXCONN) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &bytes) == 0) {
		*port = ntohs(address.sin_port);
		return fd;
	}
	error = errno;
	if (fd >= 0)
		close(fd);
	if (*port)
		return diag_fail(d, error, "cannot listen on port %u of 127.0.0.1: %s", *port, strerror(error));
	return diag_fail(d, error, "cannot listen on 127.0.0.1: %s", strerror(error));
}

static int make_token(char token[TOKEN_DIGITS + 1])
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -errno;
	for (int i = 0; i < TOKEN_BYTES; i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int make_served_texts(struct server *s)
{
	FILE *html = open_memstream(&s->html, &s->html_bytes), *policy = open_memstream(&s->policy, &s->policy_bytes);
	bool ok = html && policy;

	if (html) {
		html_put_head(html, s->page->title, s->page->nr_traces);
		fputs("<section class=\"plain\">\n", html);
		for (uint32_t i = 0; i < s->page->nr_traces; i++)
			fwrite(s->page->trace[i].plain, 1, s->page->trace[i].plain_bytes, html);
		fputs("</section>\n", html);
		html_put_tail(html);
		ok &= !ferror(html);
		ok &= fclose(html) == 0;
	}
	if (policy) {
		html_put_policy(policy, true);
		fputs("; frame-ancestors 'none'", policy);
		ok &= fclose(policy) == 0;
	}
	return ok ? 0 : -ENOMEM;
}

static void note_connection(void *context, struct MHD_Connection *c, void **connection, enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *fd = mhd.MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct server *s = context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED && fd)
		*connection = connections_add(&s->connections, fd->connect_fd);
	else if (*connection)
		connections_remove(&s->connections, *connection);
}

static int run_http_server(struct server *s, int fd, uint16_t port, FILE *to, struct diag *d)
{
	const struct timespec second = { .tv_sec = 1 };
	struct MHD_Daemon *daemon;
	sigset_t ends, before;
	char text[16] = "";

	/* the server's threads inherit this mask, so that they get none of these signals */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &ends, &before);
	sigdelset(&ends, SIGPIPE);
	if (port != 80) /* browsers leave out the default port of HTTP */
		snprintf(text, sizeof(text), ":%u", port);
	snprintf(s->host[0], sizeof(s->host[0]), "127.0.0.1%s", text);
	snprintf(s->host[1], sizeof(s->host[1]), "localhost%s", text);
	daemon = mhd.MHD_start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, port, NULL, NULL, check_token_and_handle, s,
				      MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
				      MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				      (size_t)CONNECTION_BYTES, MHD_OPTION_NOTIFY_COMPLETED, free_request, NULL,
				      MHD_OPTION_NOTIFY_CONNECTION, note_connection, s, MHD_OPTION_END);
	if (!daemon) {
		close(fd);
		return diag_fail(d, EIO, "libmicrohttpd cannot start its server");
	}
	fprintf(to, "http://%s/%s/\nOpen this address in a browser on this machine. Ctrl-C ends the server.\n", s->host[0], s->token);
	fflush(to);
	while (sigtimedwait(&ends, NULL, &second) < 0)
		connections_expire(&s->connections);
	mhd.MHD_stop_daemon(daemon); /* closes fd */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return 0;
}

int http_serve(const struct http_page *page, uint16_t port, FILE *to, struct diag *d)
{
	struct server s = { .page = page, .connections.lock = PTHREAD_MUTEX_INITIALIZER };
	int fd = listen_on(&port, d), ret = fd < 0 ? fd : http_ready(d);

	if (fd >= 0 && ret == 0 && (make_token(s.token) || make_served_texts(&s)))
		ret = diag_fail(d, ENOMEM, "not enough memory, or no random numbers, for a server");
	if (fd >= 0 && ret)
		close(fd);
	if (ret == 0)
		ret = run_http_server(&s, fd, port, to, d);
	free(s.html);
	free(s.policy);
	return ret;
}

#endif
