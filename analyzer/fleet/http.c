/* SPDX-License-Identifier: MIT */
/*
 * libcurl is loaded by name: the commands that need no server start without it and its thirty libraries, and a build needs no header of it.
 * The numbers of its options are part of its binary interface, and have never changed.
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
	ERROR_URL = 3,
	ERROR_RESOLVE = 6,
	ERROR_CONNECT = 7,
	ERROR_BUFFER_BYTES = 256,
};
#define PROTOCOLS_HTTP_AND_HTTPS 3l
#define CONNECT_S 10l
#define WHOLE_S 300l

#define CALLS(X) \
	X(void *, init, curl_easy_init, (void)) \
	X(int, set, curl_easy_setopt, (void *handle, int option, ...)) \
	X(int, perform, curl_easy_perform, (void *handle)) \
	X(int, get, curl_easy_getinfo, (void *handle, int info, ...)) \
	X(void, cleanup, curl_easy_cleanup, (void *handle)) \
	X(void *, append, curl_slist_append, (void *list, const char *text)) \
	X(void, free_list, curl_slist_free_all, (void *list))

static struct { /* stays loaded */
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
	size_t nr, most;
};

static size_t receive_body(char *bytes, size_t each, size_t nr, void *context)
{
	struct receiving *r = context;

	nr *= each;
	if (nr > r->most - r->nr)
		return 0; /* which ends it as a failure */
	r->nr += nr;
	return fwrite(bytes, 1, nr, r->body);
}

static size_t receive_header(char *bytes, size_t each, size_t nr, void *context)
{
	static const char name[] = "retry-after:";
	struct receiving *r = context;
	char text[64];

	nr *= each;
	if (nr >= sizeof(name) && nr < sizeof(text) && strncasecmp(bytes, name, sizeof(name) - 1) == 0) {
		memcpy(text, bytes, nr);
		text[nr] = 0;
		r->answer->retry_after_s = strtol(text + sizeof(name) - 1, NULL, 10);
	}
	return nr;
}

/* A password with a slash in it, which belongs there as %2F, is not shown either: no port is like that. */
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

int http_post(const struct http_request *r, struct http_answer *a, struct diag *d)
{
	struct receiving receiving = { .answer = a, .most = r->answer_max };
	char error[ERROR_BUFFER_BYTES] = "";
	void *handle, *list = NULL;
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
	list = curl.append(list, "Expect:"); /* do not ask first */
	curl.set(handle, OPTION_URL, r->url);
	curl.set(handle, OPTION_PROTOCOLS, PROTOCOLS_HTTP_AND_HTTPS);
	curl.set(handle, OPTION_NETRC, 1l); /* optional */
	curl.set(handle, OPTION_NOSIGNAL, 1l);
	curl.set(handle, OPTION_CONNECTTIMEOUT, CONNECT_S);
	curl.set(handle, OPTION_TIMEOUT, WHOLE_S);
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
	curl.free_list(list);
	curl.cleanup(handle);
	if (fclose(receiving.body))
		return diag_fail(d, ENOMEM, "out of memory");
	if (ret == 0)
		return 0;
	diag_fail(d, EIO, "%s: %s", http_shown_url(r->url), *error ? error : "no answer");
	return ret == ERROR_CONNECT || ret == ERROR_RESOLVE ? -ECONNREFUSED : ret == ERROR_URL ? -EINVAL : -EIO;
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
