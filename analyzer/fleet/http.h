/* SPDX-License-Identifier: MIT */
/* Requests to a server, by libcurl, which is loaded when there is one to make.  Context: thread. */
#ifndef TAILOR_FLEET_HTTP_H
#define TAILOR_FLEET_HTTP_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stddef.h>

struct http_request {
	const char *url; /* http:// or https://; user and password may be in it, or in ~/.netrc */
	const char *headers[4]; /* "name: value"; NULL ends them */
	const void *body;
	size_t nr;
	size_t answer_max; /* bytes; a larger answer is -EFBIG */
	unsigned limit_s;  /* for the whole of it; 0: 300 s */
};

struct http_answer {
	long status;	    /* of HTTP */
	long retry_after_s; /* 0: it does not say */
	char media_type[64]; /* its Content-Type, of printable characters; "": it does not say */
	char *body;	    /* ends with a 0 byte */
	size_t nr;
};

/*
 * A POST.  0: there is an answer, of whatever status; or -errno with a sentence: -ECONNREFUSED: nothing was sent; -ELIBACC: no libcurl;
 * else it is not known whether the server took it: -EFBIG: the answer is too large; -ETIMEDOUT: it was not whole in time.  Memory and time
 * are bounded whatever the server sends.  The answer is to be freed in any case.
 */
int http_post(const struct http_request *r, struct http_answer *a, struct diag *d);
void http_answer_fini(struct http_answer *a);
/* The address without the password that may be in it, for a message. */
const char *http_shown_url(const char *url);
/* The first line of what it says, for a message. */
const char *http_first_line(struct http_answer *a);

#endif
