/* SPDX-License-Identifier: MIT */
/*
 * libcurl is loaded by name: the commands that need no server start without it and its thirty libraries, and a build needs no header of it.
 * The numbers of its options are part of its binary interface, and have never changed.
 */
#include "analyzer/fleet/http.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
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

struct curl {
	void *(*init)(void);
	int (*set)(void *handle, int option, ...);
	int (*perform)(void *handle);
	int (*get)(void *handle, int info, ...);
	void (*cleanup)(void *handle);
	void *(*append)(void *list, const char *text);
	void (*free_list)(void *list);
};

static bool load(struct curl *c, struct diag *d)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	static void *library; /* stays */

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (library) {
		*(void **)&c->init = dlsym(library, "curl_easy_init");
		*(void **)&c->set = dlsym(library, "curl_easy_setopt");
		*(void **)&c->perform = dlsym(library, "curl_easy_perform");
		*(void **)&c->get = dlsym(library, "curl_easy_getinfo");
		*(void **)&c->cleanup = dlsym(library, "curl_easy_cleanup");
		*(void **)&c->append = dlsym(library, "curl_slist_append");
		*(void **)&c->free_list = dlsym(library, "curl_slist_free_all");
	}
	if (!library || !c->init || !c->set || !c->perform || !c->get || !c->cleanup || !c->append || !c->free_list) {
		diag_fail(d, ELIBACC, "libcurl is not installed, which speaks to servers (Debian: libcurl4)");
		return false;
	}
	return true;
}

struct receiving {
	struct http_answer *answer;
	size_t most;
};

static size_t receive_body(char *bytes, size_t each, size_t nr, void *context)
{
	struct receiving *r = context;
	struct http_answer *a = r->answer;
	char *bigger;

	nr *= each;
	if (nr > r->most - a->nr)
		return 0; /* which ends it as a failure */
	bigger = realloc(a->body, a->nr + nr + 1);
	if (!bigger)
		return 0;
	a->body = bigger;
	memcpy(a->body + a->nr, bytes, nr);
	a->nr += nr;
	a->body[a->nr] = 0;
	return nr;
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

const char *http_shown_url(const char *url)
{
	const char *at = strrchr(url, '@'), *begin = strstr(url, "://");

	return at ? at + 1 : begin ? begin + 3 : url;
}

int http_post(const struct http_request *r, struct http_answer *a, struct diag *d)
{
	struct receiving receiving = { a, r->answer_max };
	char error[ERROR_BUFFER_BYTES] = "";
	void *handle, *list = NULL;
	struct curl c = { 0 };
	int ret;

	memset(a, 0, sizeof(*a));
	if (!load(&c, d))
		return -ELIBACC;
	handle = c.init();
	if (!handle)
		return diag_fail(d, ENOMEM, "out of memory");
	for (int i = 0; r->headers[i]; i++)
		list = c.append(list, r->headers[i]);
	list = c.append(list, "Expect:"); /* do not ask first */
	c.set(handle, OPTION_URL, r->url);
	c.set(handle, OPTION_PROTOCOLS, PROTOCOLS_HTTP_AND_HTTPS);
	c.set(handle, OPTION_NETRC, 1l); /* optional */
	c.set(handle, OPTION_NOSIGNAL, 1l);
	c.set(handle, OPTION_CONNECTTIMEOUT, CONNECT_S);
	c.set(handle, OPTION_TIMEOUT, WHOLE_S);
	c.set(handle, OPTION_USERAGENT, "tailor/" TAILOR_VERSION);
	c.set(handle, OPTION_ERRORBUFFER, error);
	c.set(handle, OPTION_HTTPHEADER, list);
	c.set(handle, OPTION_POST, 1l);
	c.set(handle, OPTION_POSTFIELDSIZE_LARGE, (long long)r->nr);
	c.set(handle, OPTION_POSTFIELDS, r->body ? r->body : "");
	c.set(handle, OPTION_WRITEFUNCTION, receive_body);
	c.set(handle, OPTION_WRITEDATA, &receiving);
	c.set(handle, OPTION_HEADERFUNCTION, receive_header);
	c.set(handle, OPTION_HEADERDATA, &receiving);
	ret = c.perform(handle);
	c.get(handle, INFO_RESPONSE_CODE, &a->status);
	c.free_list(list);
	c.cleanup(handle);
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
