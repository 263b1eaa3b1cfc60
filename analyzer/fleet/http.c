/* SPDX-License-Identifier: MIT */
/*
 * libcurl is loaded by dlopen(), so that commands that need no server start without it and its thirty libraries, and a build needs none of
 * its headers. The numbers of its options are part of its binary interface and do not change.
 */
#include "analyzer/fleet/http.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPTION_TIMEOUT = 13,
	OPTION_POST = 47,
	OPTION_NETRC = 51,
	OPTION_CONNECTTIMEOUT = 78,
	OPTION_NOSIGNAL = 99,
	OPTION_PROTOCOLS = 181,
	OPTION_WRITEDATA = 10001,
	OPTION_URL = 10002,
	OPTION_ERRORBUFFER = 10010,
	OPTION_POSTFIELDS = 10015,
	OPTION_USERAGENT = 10018,
	OPTION_HTTPHEADER = 10023,
	OPTION_HEADERDATA = 10029,
	OPTION_WRITEFUNCTION = 20011,
	OPTION_HEADERFUNCTION = 20079,
	OPTION_POSTFIELDSIZE_LARGE = 30120,
	INFO_RESPONSE_CODE = 0x200002,
	INFO_PRETRANSFER_TIME = 0x300006,
	ERROR_URL = 3,
	ERROR_RESOLVE = 6,
	ERROR_CONNECT = 7,
	ERROR_TIMEOUT = 28,
	ERROR_BUFFER_BYTES = 256,
};
#define PROTOCOLS_HTTP_AND_HTTPS 3l
#define CONNECT_S 10l
#define WHOLE_S 300u
/* maximum number of bytes of an answer's headers, because some versions of libcurl collect these without a limit */
#define HEADERS_MAX (256u << 10)

#define CALLS(X) \
	X(void *, init, curl_easy_init, (void)) \
	X(int, set, curl_easy_setopt, (void *handle, int option, ...)) \
	X(int, perform, curl_easy_perform, (void *handle)) \
	X(int, get, curl_easy_getinfo, (void *handle, int info, ...)) \
	X(void, cleanup, curl_easy_cleanup, (void *handle)) \
	X(void *, append, curl_slist_append, (void *list, const char *text)) \
	X(void, free_list, curl_slist_free_all, (void *list))

static struct { /* libcurl's functions, once it is loaded; it is never unloaded */
#define CALL_(type, name, symbol, parameters) type(*name) parameters;
	CALLS(CALL_)
#undef CALL_
} curl;

static int load(struct diag *d)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	void *library = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return diag_fail(d, ELIBACC, "libcurl is not installed, which speaks to servers (Debian: libcurl4)");
#define CALL_(type, name, symbol, parameters) \
	*(void **)&curl.name = dlsym(library, #symbol); \
	if (!curl.name) \
		return diag_fail(d, ELIBACC, "cannot use libcurl: it has no " #symbol);
	CALLS(CALL_)
#undef CALL_
	return 0;
}

struct receiving {
	struct http_answer *answer;
	FILE *body;
	size_t nr, most, nr_headers;
	bool is_too_large, is_connected;
};

static size_t receive_body(char *bytes, size_t each, size_t nr, void *context)
{
	struct receiving *r = context;

	nr *= each;
	if (nr > r->most - r->nr) {
		r->is_too_large = true;
		return 0; /* libcurl reports a failure then */
	}
	r->nr += nr;
	return fwrite(bytes, 1, nr, r->body);
}

/* Take the value of a header with this name, which ends with a colon. Blanks around the value are left out, and it is cut to the room.
 * Return false if it is another header. */
static bool take_header(const char *bytes, size_t nr, const char *name, char *value, size_t room)
{
	size_t at = strlen(name);

	if (nr < at || strncasecmp(bytes, name, at) != 0)
		return false;
	while (at < nr && isspace((unsigned char)bytes[at]))
		at++;
	while (nr > at && isspace((unsigned char)bytes[nr - 1]))
		nr--;
	nr = nr - at < room ? nr - at : room - 1;
	for (size_t i = 0; i < nr; i++)
		value[i] = isprint((unsigned char)bytes[at + i]) ? bytes[at + i] : '?';
	value[nr] = 0;
	return true;
}

static size_t receive_header(char *bytes, size_t each, size_t nr, void *context)
{
	struct receiving *r = context;
	char text[16];

	nr *= each;
	if (nr > HEADERS_MAX - r->nr_headers) {
		r->is_too_large = true;
		return 0;
	}
	r->nr_headers += nr;
	if (take_header(bytes, nr, "retry-after:", text, sizeof(text)))
		r->answer->retry_after_s = strtol(text, NULL, 10);
	take_header(bytes, nr, "content-type:", r->answer->media_type, sizeof(r->answer->media_type));
	return nr;
}

/* A slash in a password, which should be written %2F, ends the part of the address that has the user. What stands before it then looks like
 * HOST:PORT without a number for the port, and the password is left out, too. */
const char *http_shown_url(const char *url)
{
	const char *begin = strstr(url, "://"), *at, *colon;

	begin = begin ? begin + 3 : url;
	at = memrchr(begin, '@', strcspn(begin, "/"));
	colon = memchr(begin, ':', strcspn(begin, "/"));
	if (!at && colon && *begin != '[' && !isdigit((unsigned char)colon[1]))
		at = strchr(begin, '@');
	return at ? at + 1 : begin;
}

/* Report why there is no answer. error: libcurl's number; sentence: its message. Return -errno. */
static int fail(const struct http_request *r, const struct receiving *receiving, int error, const char *sentence, struct diag *d)
{
	char server[256];

	snprintf(server, sizeof(server), "%s", http_shown_url(r->url));
	server[strcspn(server, "?")] = 0; /* the parameters of a query do not help the reader */
	if (receiving->is_too_large)
		return diag_fail(d, EFBIG, "%s: the answer is larger than %zu MiB", server, r->answer_max >> 20);
	if (error == ERROR_TIMEOUT && receiving->is_connected)
		return diag_fail(d, ETIMEDOUT, "%s: no whole answer within %u s", server, r->limit_s ? r->limit_s : WHOLE_S);
	if (error == ERROR_TIMEOUT)
		return diag_fail(d, ECONNREFUSED, "%s: no connection within %ld s", server, CONNECT_S);
	diag_fail(d, EIO, "%s: %s", server, *sentence ? sentence : "no answer");
	return error == ERROR_CONNECT || error == ERROR_RESOLVE ? -ECONNREFUSED : error == ERROR_URL ? -EINVAL : -EIO;
}

int http_post(const struct http_request *r, struct http_answer *a, struct diag *d)
{
	struct receiving receiving = { .answer = a, .most = r->answer_max };
	char error[ERROR_BUFFER_BYTES] = "";
	void *handle, *list = NULL;
	double sending_s = 0;
	int ret;

	memset(a, 0, sizeof(*a));
	if (!curl.free_list && (ret = load(d)))
		return ret;
	receiving.body = open_memstream(&a->body, &a->nr);
	handle = receiving.body ? curl.init() : NULL;
	if (!handle) {
		if (receiving.body)
			fclose(receiving.body);
		return diag_fail(d, ENOMEM, "out of memory");
	}
	for (int i = 0; r->headers[i]; i++)
		list = curl.append(list, r->headers[i]);
	list = curl.append(list, "Expect:"); /* do not ask the server first whether it would take the body (100-continue) */
	curl.set(handle, OPTION_URL, r->url);
	curl.set(handle, OPTION_PROTOCOLS, PROTOCOLS_HTTP_AND_HTTPS);
	curl.set(handle, OPTION_NETRC, 1l); /* use ~/.netrc if it is there */
	curl.set(handle, OPTION_NOSIGNAL, 1l);
	curl.set(handle, OPTION_CONNECTTIMEOUT, CONNECT_S);
	curl.set(handle, OPTION_TIMEOUT, (long)(r->limit_s ? r->limit_s : WHOLE_S));
	curl.set(handle, OPTION_USERAGENT, "tailor/" TAILOR_VERSION);
	curl.set(handle, OPTION_ERRORBUFFER, error);
	curl.set(handle, OPTION_HTTPHEADER, list);
	curl.set(handle, OPTION_POST, 1l);
	curl.set(handle, OPTION_POSTFIELDSIZE_LARGE, (long long)r->nr);
	curl.set(handle, OPTION_POSTFIELDS, r->body ? r->body : "");
	curl.set(handle, OPTION_WRITEFUNCTION, receive_body);
	curl.set(handle, OPTION_WRITEDATA, &receiving);
	curl.set(handle, OPTION_HEADERFUNCTION, receive_header);
	curl.set(handle, OPTION_HEADERDATA, &receiving);
	ret = curl.perform(handle);
	curl.get(handle, INFO_RESPONSE_CODE, &a->status);
	curl.get(handle, INFO_PRETRANSFER_TIME, &sending_s);
	receiving.is_connected = sending_s > 0;
	curl.free_list(list);
	curl.cleanup(handle);
	if (fclose(receiving.body))
		return diag_fail(d, ENOMEM, "out of memory");
	return ret ? fail(r, &receiving, ret, error, d) : 0;
}

void http_answer_fini(struct http_answer *a)
{
	free(a->body);
	memset(a, 0, sizeof(*a));
}

const char *http_first_line(struct http_answer *a)
{
	for (size_t i = 0; i < a->nr; i++) {
		if (a->body[i] == '\n' || i == 200) {
			a->body[i] = 0;
			break;
		}
		if (!isprint((unsigned char)a->body[i]))
			a->body[i] = '?';
	}
	return a->body ? a->body : "";
}
