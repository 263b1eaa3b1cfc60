/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/clickhouse.h"


#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PORT "8123"
#define PORT_TLS "8443"
#define ANSWER_MAX ((size_t)64 << 20)
#define GREETING "tailor"

static const char *const tables[] = {
	"CREATE DATABASE IF NOT EXISTS $",
	("CREATE TABLE IF NOT EXISTS $.rows (tier UInt8, day Date, host UInt64, begin DateTime, attempt UInt64, series UInt64,"
	" location UInt64, n UInt64, w UInt64) ENGINE = MergeTree PARTITION BY (tier, toMonday(day))"
	" ORDER BY (tier, day, series, location, host, begin)"),
	("CREATE TABLE IF NOT EXISTS $.manifest (tier UInt8, day Date, host UInt64, begin DateTime, attempt UInt64, host_name String,"
	" first_ns Int64, last_ns Int64, parts UInt32, rows UInt32, samples Float64, effective Float64, n UInt64, w UInt64, lost UInt64,"
	" cpus UInt32, at DateTime DEFAULT now()) ENGINE = MergeTree PARTITION BY (tier, toMonday(day)) ORDER BY (tier, day, host, begin)"),
	("CREATE TABLE IF NOT EXISTS $.series (id UInt64, event String, unit String, process String, executable String, service String,"
	" level String, component String, place String, detail String, label String, query String, last Date DEFAULT today())"
	" ENGINE = ReplacingMergeTree(last) ORDER BY id"),
	("CREATE TABLE IF NOT EXISTS $.functions (id UInt64, name String, image String, jit UInt8, last Date DEFAULT today())"
	" ENGINE = ReplacingMergeTree(last) ORDER BY id"),
};

bool clickhouse_is_named(const char *text)
{
	return strncmp(text, "clickhouse://", 13) == 0 || strncmp(text, "clickhouses://", 14) == 0;
}

/* Return the beginning of the database's name, or the end of the text if it has none. */
static const char *database_of(const char *text)
{
	const char *slash = strchr(strstr(text, "://") + 3, '/');

	return slash ? slash + 1 : text + strlen(text);
}

size_t clickhouse_address_bytes(const char *text)
{
	const char *at = strchr(database_of(text), '@');

	return at ? (size_t)(at - text) : strlen(text);
}

static bool is_name(const char *text, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	return nr > 0 && nr < 64;
}

/* Add a server. All servers of an address have the same user and password. Return 0, or -errno with the reason in d. */
static int add_server(struct clickhouse *c, bool tls, const char *user, int user_bytes, const char *host, int host_bytes, struct diag *d)
{
	const char *colon = memrchr(host, ':', (size_t)host_bytes), *bracket = memrchr(host, ']', (size_t)host_bytes);
	bool has_port = colon && (!bracket || colon > bracket); /* colons of an IPv6 address are in brackets */

	if (c->nr == CLICKHOUSE_SERVERS_MAX || !host_bytes)
		return diag_fail(d, EINVAL, "an address has 1 to %d servers", CLICKHOUSE_SERVERS_MAX);
	if (has_port && colon + 1 + strspn(colon + 1, "0123456789") < host + host_bytes)
		return diag_fail(d, EINVAL, "a server's port is a number, and a / in a password is written %%2F");
	if (asprintf(&c->url[c->nr], "http%s://%.*s%.*s%s/", tls ? "s" : "", user_bytes, user, host_bytes, host,
		     has_port ? "" : tls ? ":" PORT_TLS : ":" PORT) < 0)
		return diag_fail(d, ENOMEM, "out of memory");
	c->nr++;
	return 0;
}

int clickhouse_init(struct clickhouse *c, const char *text, struct diag *d)
{
	const char *user = strstr(text, "://") + 3, *end = database_of(text), *host, *comma;
	size_t bytes = clickhouse_address_bytes(text) - (size_t)(end - text);
	int ret = 0;

	memset(c, 0, sizeof(*c));
	if (!is_name(end, bytes))
		return diag_fail(d, EINVAL, "'%s' is no clickhouse://HOST[:PORT][,HOST[:PORT]...]/DATABASE", http_shown_url(text));
	host = memrchr(user, '@', (size_t)(end - user));
	host = host ? host + 1 : user;
	c->database = strndup(end, bytes);
	for (const char *at = host; at < end && ret == 0; at = comma + 1) {
		comma = memchr(at, ',', (size_t)(end - 1 - at));
		comma = comma ? comma : end - 1;
		ret = add_server(c, strncmp(text, "clickhouses", 11) == 0, user, (int)(host - user), at, (int)(comma - at), d);
	}
	if (ret)
		clickhouse_fini(c);
	return ret;
}

void clickhouse_fini(struct clickhouse *c)
{
	for (int i = 0; i < c->nr; i++)
		free(c->url[i]);
	free(c->database);
	memset(c, 0, sizeof(*c));
}

static char *make_body(const struct clickhouse *c, const char *statement, const char *data, size_t nr, size_t *bytes)
{
	char *body = NULL;
	FILE *to = open_memstream(&body, bytes);

	if (!to)
		return NULL;
	for (; *statement; statement++)
		if (*statement == '$')
			fputs(c->database, to);
		else
			putc(*statement, to);
	if (nr) {
		putc('\n', to);
		fwrite(data, 1, nr, to);
	}
	if (fclose(to)) {
		free(body);
		return NULL;
	}
	return body;
}

/*
 * Send a statement. Since version 26.2 a server collects small inserts by default, and may be configured to answer before it has written
 * them. If rows were lost then, their manifest would count without them, so the request asks the server to wait. An older server refuses a
 * setting that it does not know, and is not asked.
 */
static int post(const struct clickhouse *c, int server, const char *statement, const char *data, size_t nr, struct http_answer *a,
		struct diag *d)
{
	struct http_request request = { .headers = { "Content-Type: text/plain" }, .answer_max = ANSWER_MAX };
	char *body = make_body(c, statement, data, nr, &request.nr), *url = NULL;
	int ret;

	memset(a, 0, sizeof(*a));
	if (!body || asprintf(&url, "%s%s", c->url[server], nr && c->can_wait[server] ? "?wait_for_async_insert=1" : "") < 0) {
		free(body);
		return diag_fail(d, ENOMEM, "out of memory");
	}
	request.url = url;
	request.body = body;
	ret = http_post(&request, a, d);
	free(body);
	free(url);
	return ret;
}

static int refused(struct http_answer *a, struct diag *d)
{
	return diag_fail(d, EPROTO, "ClickHouse refused (%ld): %s", a->status, http_first_line(a));
}

/* A server of another kind may answer with the status 200, too, so the answer is compared. A user may lack the right to read the table of
 * settings, and is asked again without it. */
int clickhouse_greet(struct clickhouse *c, int server, struct diag *d)
{
	static const char with_settings[] = "SELECT '" GREETING "', count() FROM system.settings WHERE name = 'wait_for_async_insert' "
					    "FORMAT TabSeparated";
	struct http_answer a;
	int ret = post(c, server, with_settings, NULL, 0, &a, d);

	if (ret == 0 && a.status != 200 && strstr(a.body, "ACCESS_DENIED")) {
		http_answer_fini(&a);
		ret = post(c, server, "SELECT '" GREETING "', 0 FORMAT TabSeparated", NULL, 0, &a, d);
	}
	if (ret == 0 && a.status != 200)
		ret = refused(&a, d);
	if (ret == 0) {
		c->can_wait[server] = strcmp(a.body, GREETING "\t1\n") == 0;
		if (!c->can_wait[server] && strcmp(a.body, GREETING "\t0\n") != 0)
			ret = diag_fail(d, EPROTO, "%s: the server is no ClickHouse: it answers %s", http_shown_url(c->url[server]),
					a.nr ? http_first_line(&a) : "nothing");
	}
	http_answer_fini(&a);
	return ret;
}

int clickhouse_ask(const struct clickhouse *c, int server, const char *statement, struct http_answer *a, struct diag *d)
{
	int ret = post(c, server, statement, NULL, 0, a, d);

	return ret == 0 && a->status != 200 ? refused(a, d) : ret;
}

/* A body of the answer to such a statement is an error, because an exception may come after the status. */
int clickhouse_tell(const struct clickhouse *c, int server, const char *statement, const char *data, size_t nr, struct diag *d)
{
	struct http_answer a;
	int ret = post(c, server, statement, data, nr, &a, d);

	if (ret == 0 && (a.status != 200 || a.nr))
		ret = refused(&a, d);
	http_answer_fini(&a);
	return ret;
}

int clickhouse_create(const struct clickhouse *c, int server, struct diag *d)
{
	int ret = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && ret == 0; i++)
		ret = clickhouse_tell(c, server, tables[i], NULL, 0, d);
	return ret;
}

void clickhouse_put_text(FILE *to, const char *text)
{
	for (; *text; text++) {
		const char *escaped = *text == '\t' ? "\\t" : *text == '\n' ? "\\n" : *text == '\r' ? "\\r" :
				      *text == '\\' ? "\\\\" : *text == '\'' ? "\\'" : NULL;

		if (escaped)
			fputs(escaped, to);
		else
			putc(*text, to);
	}
}

void clickhouse_format_day(int64_t s, char text[16])
{
	time_t t = (time_t)s;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(text, 16, "%Y-%m-%d", &tm))
		strcpy(text, "1970-01-01");
}

static char unescape(char c)
{
	return c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == '0' ? ' ' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
}

int clickhouse_split(char **at, char **column, int nr)
{
	char *from = *at, *to = from;
	int i = 0;

	if (!from || !*from)
		return 0;
	column[i++] = to;
	for (; *from && *from != '\n'; from++)
		if (*from == '\t') {
			*to++ = 0;
			if (i == nr)
				break;
			column[i++] = to;
		} else if (*from == '\\' && from[1]) {
			*to++ = unescape(*++from);
		} else {
			*to++ = *from;
		}
	while (*from && *from != '\n')
		from++;
	*at = *from ? from + 1 : from;
	*to = 0;
	return i;
}

bool clickhouse_number(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno;
}

int clickhouse_misread(const char *line, struct diag *d)
{
	char shown[200];
	size_t nr = strnlen(line, sizeof(shown) - 1);

	for (size_t i = 0; i < nr; i++)
		shown[i] = isprint((unsigned char)line[i]) ? line[i] : '?';
	shown[nr] = 0;
	return diag_fail(d, EBADMSG, "ClickHouse's answer has a line that is not one of the table: %s", shown);
}
