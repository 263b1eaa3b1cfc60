/* SPDX-License-Identifier: MIT */
/* Requests to a server by libcurl, which is loaded for the first request. Context: thread. */
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
	unsigned limit_s;  /* seconds for the whole request; 0: 300 s */
};

struct http_answer {
	long status;	    /* HTTP status */
	long retry_after_s; /* 0: the server does not say */
	char media_type[64]; /* Content-Type, of printable characters; "": the server does not say */
	char *body;	    /* ends with a 0 byte */
	size_t nr;
};

/*
 * Send a POST. Return 0 if there is an answer, of whatever status, or -errno with a sentence. -ECONNREFUSED: nothing was sent. -ELIBACC:
 * there is no libcurl. After all other errors it is not known whether the server took the request. -EFBIG: the answer is too large.
 * -ETIMEDOUT: the answer was not complete in time. Memory and time are bounded whatever the server sends. The caller frees the answer in
 * any case.
 */
int http_post(const struct http_request *r, struct http_answer *a, struct diag *d);
void http_answer_fini(struct http_answer *a);
/* Return the address without the password that may be in it, for a message. */
const char *http_shown_url(const char *url);
/* Return the first line of the answer, for a message. */
const char *http_first_line(struct http_answer *a);

#endif
