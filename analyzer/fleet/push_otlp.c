/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/push_otlp.h"

#include "analyzer/fleet/http.h"
#include "analyzer/fleet/store_profiles.h"
#include "analyzer/output/gzip.h"
#include "analyzer/wire/otlp.h"
#include "analyzer/wire/otlp_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH "/v1development/profiles" /* default path of an address, as in the specification and in collectors */
#define TRIES 5
#define RETRY_MAX_S 30
#define ANSWER_MAX (4u << 20)
#define ANSWER_S 60 /* seconds for a request; a receiver only stores profiles, so it needs no longer */

struct pushing {
	struct wire_profiles profiles;
	const char *url;
	struct fleet_pushed *pushed;
	struct diag *d;
};

static int add_piece(void *context, const unsigned char *bytes, size_t nr)
{
	struct protobuf *to = context;

	protobuf_put_raw(to, bytes, nr);
	return to->failed ? -ENOMEM : 0;
}

static int compress(const struct protobuf *plain, struct protobuf *packed)
{
	struct gzip *z = gzip_begin(add_piece, packed);

	if (!z)
		return -ENOMEM;
	gzip_add(z, plain->bytes, plain->nr);
	return gzip_end(z);
}

static bool asks_again(long status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

static int refused(const struct pushing *x, struct http_answer *a, int tries)
{
	struct otlp_answer status;
	const char *said;
	char times[32] = "";

	if (a->status == 404)
		return diag_fail(x->d, EPROTO, "%s: has no such path (404): a collector needs its gate service.profilesSupport",
				 http_shown_url(x->url));
	if (a->status == 413)
		return diag_fail(x->d, EPROTO, "%s: refuses a request of this size (413)", http_shown_url(x->url));
	otlp_status_read(a->body, a->nr, a->media_type, &status);
	said = *status.message ? status.message : http_first_line(a);
	if (tries > 1)
		snprintf(times, sizeof(times), " %d times", tries);
	return diag_fail(x->d, EPROTO, "%s: refused%s (%ld)%s%s", http_shown_url(x->url), times, a->status, *said ? ": " : "", said);
}

/* Read the answer to a request that was accepted. Profiles that the receiver rejects are only counted, because it would reject them again.
 * Return 0, or -EPROTO with the reason in x->d if it is no answer of OTLP. */
static int taken(const struct pushing *x, const struct http_answer *a)
{
	struct otlp_answer answer;
	unsigned nr = x->profiles.profiles.nr;

	if (!otlp_answer_read(a->body, a->nr, a->media_type, &answer))
		return diag_fail(x->d, EPROTO, "%s: its answer (%ld%s%s) is not one of OTLP: check the address and its path",
				 http_shown_url(x->url), a->status, *a->media_type ? ", " : "", a->media_type);
	x->pushed->rejected += answer.rejected < nr ? (unsigned)answer.rejected : nr;
	if (*answer.message && !*x->pushed->message)
		snprintf(x->pushed->message, sizeof(x->pushed->message), "%s", answer.message);
	return 0;
}

static int send_request(const struct pushing *x, const struct protobuf *body)
{
	struct http_request request = { .url = x->url,
					.headers = { "Content-Type: application/x-protobuf", "Content-Encoding: gzip" },
					.body = body->bytes,
					.nr = body->nr,
					.answer_max = ANSWER_MAX,
					.limit_s = ANSWER_S };
	long wait_s = 1;

	for (int i = 1;; i++, wait_s *= 2) {
		struct http_answer a;
		int ret = http_post(&request, &a, x->d);
		bool again = ret ? ret == -ECONNREFUSED : asks_again(a.status);

		if (!again || i == TRIES) {
			struct diag once = *x->d;

			if (ret && again)
				diag_fail(x->d, -ret, "%s, %d times", once.text, i);
			else if (ret == 0)
				ret = a.status / 100 == 2 ? taken(x, &a) : refused(x, &a, i);
			http_answer_fini(&a);
			return ret;
		}
		if (a.retry_after_s > 0 && a.retry_after_s <= RETRY_MAX_S)
			wait_s = a.retry_after_s;
		http_answer_fini(&a);
		sleep((unsigned)wait_s);
	}
}

static int send_profiles(void *context)
{
	struct pushing *x = context;
	struct protobuf plain = { 0 }, packed = { 0 };
	int ret = 0;

	if (!x->profiles.samples.nr)
		return 0;
	otlp_write(&x->profiles, &plain);
	if (plain.failed || compress(&plain, &packed))
		ret = diag_fail(x->d, ENOMEM, "out of memory");
	else
		ret = send_request(x, &packed);
	if (ret == 0) {
		x->pushed->requests++;
		x->pushed->units += x->profiles.profiles.nr;
		x->pushed->bytes += (double)packed.nr;
	}
	protobuf_fini(&plain);
	protobuf_fini(&packed);
	wire_fini(&x->profiles);
	return ret;
}

int push_otlp(struct store *s, const struct fleet_what *what, const char *url, struct fleet_pushed *p, struct diag *d)
{
	const char *host = strstr(url, "://") + 3; /* fleet_push() has checked that the address has one */
	char *whole = NULL;
	struct pushing x = { .pushed = p, .d = d };
	int ret;

	if (!*host || *host == '/')
		return diag_fail(d, EINVAL, "'%s' names no host", http_shown_url(url));
	if (asprintf(&whole, "%s%s", url, strchr(host, '/') ? "" : PATH) < 0)
		return diag_fail(d, ENOMEM, "out of memory");
	x.url = whole;
	ret = store_profiles_add(s, what, what->event, &x.profiles, send_profiles, &x, d);
	if (ret == 0)
		ret = send_profiles(&x);
	wire_fini(&x.profiles);
	free(whole);
	return ret;
}
