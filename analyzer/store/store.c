/* SPDX-License-Identifier: MIT */
/* Opens, creates, locks and queries the file of a store. */
#include "analyzer/store/internal.h"

#include "analyzer/store/schema.h"
#include "jitreg/base/lock_holder.h"
#include "jitreg/base/own_file.h"
#include "jitreg/base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION 0x746c7273 /* "tlrs" */
#define APPLICATION_AT 68 /* offset in the file; sqlite.org/fileformat.html, 1.3 */
#define VERSION STORE_FORMAT_VERSION
#define BUSY_MS 5000
#define LOCK_TRIES 300	 /* one every 100 ms */
#define STOPPED_TRIES 20 /* tries between two checks whether the lock's holder is stopped */

/* A question may take 30 million steps, about 1.5 s of a processor, and 20 more per byte of the file (100 for a writer). A row takes 1 to
 * 50 bytes of the file. The process may have 384 MiB of memory for each open store, and 32 bytes more per byte of its file. */
static const struct budget_size budget_of_reader = { .steps = 30000000, .bytes = 384u << 20, .steps_each = 20, .bytes_each = 32 },
				budget_of_writer = { .steps = 30000000, .bytes = 384u << 20, .steps_each = 100, .bytes_each = 32 };
#define LOOK_INSTRUCTIONS 4096 /* SQLite's instructions between two checks; each takes 20 to 30 ns, and two are a step */

/* These are limits of SQLite that no store of tailor reaches.  The largest value is a block of BLOCK_ROWS_MAX rows, in which a row takes
 * three bytes, 48 MiB. */
static const struct {
	int what, most;
} limits[] = { { SQLITE_LIMIT_LENGTH, 64 << 20 },  { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },	   { SQLITE_LIMIT_COLUMN, 100 },
	       { SQLITE_LIMIT_EXPR_DEPTH, 100 },   { SQLITE_LIMIT_COMPOUND_SELECT, 50 },   { SQLITE_LIMIT_VDBE_OP, 100000 },
	       { SQLITE_LIMIT_FUNCTION_ARG, 16 },  { SQLITE_LIMIT_ATTACHED, 0 },	   { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },
	       { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },  { SQLITE_LIMIT_WORKER_THREADS, 0 } };

/* ---------------------------------------------------------------------------------------------------------- failures */

int store_fail(struct store *s, int error, const char *format, ...)
{
	va_list list;
	int at;

	if (s->error)
		return -s->error;
	s->error = error;
	at = snprintf(s->failure.text, sizeof(s->failure.text), "%s: ", s->path);
	va_start(list, format);
	if (at > 0 && (size_t)at < sizeof(s->failure.text))
		vsnprintf(s->failure.text + at, sizeof(s->failure.text) - (size_t)at, format, list);
	va_end(list);
	return -error;
}

int store_failed(const struct store *s, struct diag *d)
{
	return s->error ? diag_fail(d, s->error, "%s", s->failure.text) : 0;
}

const char *store_printable(const char *text)
{
	static char out[256]; /* One buffer suffices, since a store belongs to one thread. */
	size_t nr = 0;

	for (; text && text[nr] && nr < sizeof(out) - 1; nr++)
		out[nr] = text[nr] >= ' ' && text[nr] <= '~' ? text[nr] : '?';
	out[nr] = 0;
	return out;
}

bool store_has_failed(const struct store *s)
{
	return s->error;
}

static bool is_out_of_space(struct store *s)
{
	int error = sqlite3_system_errno(s->db);

	return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

static bool fail_by_budget(struct store *s)
{
	store_fail(s, E2BIG, "reading it takes more %s than a file of its size should; if you trust it, allow more (" BUDGET_ENV
		   "=10 for ten times as much)", s->budget.exceeded ? s->budget.exceeded : "work");
	return false;
}

static bool fail_by_database(struct store *s, int code)
{
	switch ((code & 0xff) == SQLITE_IOERR && is_out_of_space(s) ? SQLITE_FULL : code & 0xff) {
	case SQLITE_FULL:
		store_fail(s, ENOSPC, "no space is left for it (its disk, or its cap)");
		break;
	case SQLITE_BUSY:
		store_fail(s, EBUSY, "another process writes to it");
		break;
	case SQLITE_LOCKED: /* a statement of this connection is not at its end; no other process shares SQLite's cache */
		store_fail(s, EDEADLK, "a statement of this process is in the way of another (%s)", store_printable(sqlite3_errmsg(s->db)));
		break;
	case SQLITE_NOTADB:
		store_fail(s, EBADMSG, "not a store of tailor, or its beginning is damaged");
		break;
	case SQLITE_CORRUPT:
		store_fail(s, EBADMSG, "it is damaged (%s); `tailor db check` lists what is", store_printable(sqlite3_errmsg(s->db)));
		break;
	case SQLITE_INTERRUPT:
		fail_by_budget(s);
		break;
	case SQLITE_NOMEM:
		store_fail(s, ENOMEM, "out of memory");
		break;
	default:
		store_fail(s, EIO, "%s", store_printable(sqlite3_errmsg(s->db)));
	}
	return false;
}

/* ------------------------------------------------------------------------------------------------------------ budget */

bool store_spend(struct store *s, uint64_t steps)
{
	return budget_spend(&s->budget, steps) || fail_by_budget(s);
}

bool store_has_room(struct store *s, uint64_t bytes)
{
	return budget_has_room(&s->budget, bytes) || fail_by_budget(s);
}

/* SQLite calls this while a statement runs.  A result other than 0 ends the statement. */
static int spend_instructions(void *context)
{
	struct store *s = context;

	return !budget_spend(&s->budget, LOOK_INSTRUCTIONS / 2);
}

/* Returns the size of a file without the holes of a sparse file, since a budget that grows with the file must not grow with holes. */
static uint64_t file_bytes(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return 0;
	return (uint64_t)(st.st_blocks * 512 < st.st_size ? st.st_blocks * 512 : st.st_size);
}

uint64_t store_log_bytes(const struct store *s)
{
	char *path = NULL;
	struct stat st;
	uint64_t bytes = asprintf(&path, "%s-wal", s->file) >= 0 && stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;

	free(path);
	return bytes;
}

void store_begin_question(struct store *s)
{
	struct diag d;

	if (!s->budget_size || s->budget.exceeded)
		return;
	budget_close(&s->budget);
	if (budget_open_sized(&s->budget, s->budget_size, file_bytes(s->file) + store_log_bytes(s), &d))
		store_fail(s, EINVAL, "%s", d.text);
}

/* Sets limits.  Call before the first statement, since that compiles the file's own schema. */
static void bound_database(struct store *s)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(s->db, limits[i].what, limits[i].most);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_progress_handler(s->db, LOOK_INSTRUCTIONS, spend_instructions, s);
	sqlite3_busy_timeout(s->db, BUSY_MS);
}

/* -------------------------------------------------------------------------------------------------------- statements */

static bool prepare(struct store *s, struct statement *q)
{
	int ret = sqlite3_prepare_v3(s->db, q->text, -1, SQLITE_PREPARE_PERSISTENT, &q->prepared, NULL);

	if (ret != SQLITE_OK)
		return fail_by_database(s, ret);
	q->next = s->prepared;
	s->prepared = q;
	return true;
}

static int bind(sqlite3_stmt *q, const char *types, va_list list)
{
	int ret = SQLITE_OK;

	for (int i = 1; types[i - 1] && ret == SQLITE_OK; i++) {
		switch (types[i - 1]) {
		case 'i':
			ret = sqlite3_bind_int64(q, i, va_arg(list, int64_t));
			break;
		case 'd':
			ret = sqlite3_bind_double(q, i, va_arg(list, double));
			break;
		case 't':
			ret = sqlite3_bind_text(q, i, va_arg(list, const char *), -1, SQLITE_STATIC);
			break;
		case 'b': {
			const void *bytes = va_arg(list, const void *);

			ret = sqlite3_bind_blob64(q, i, bytes, va_arg(list, size_t), SQLITE_STATIC);
			break;
		}
		}
	}
	return ret;
}

bool store_next(struct store *s, struct statement *q)
{
	int ret = s->error ? SQLITE_DONE : sqlite3_step(q->prepared);

	if (ret == SQLITE_ROW)
		return true;
	if (q->prepared)
		sqlite3_reset(q->prepared);
	return ret == SQLITE_DONE ? false : fail_by_database(s, ret);
}

bool store_run(struct store *s, struct statement *q, const char *types, ...)
{
	va_list list;
	int ret;

	if (s->error || (!q->prepared && !prepare(s, q)))
		return false;
	sqlite3_reset(q->prepared);
	va_start(list, types);
	ret = bind(q->prepared, types, list);
	va_end(list);
	return ret == SQLITE_OK ? store_next(s, q) : fail_by_database(s, ret);
}

bool store_run_numbers(struct store *s, struct statement *q, const int64_t *value, int nr)
{
	int ret = SQLITE_OK;

	if (s->error || (!q->prepared && !prepare(s, q)))
		return false;
	sqlite3_reset(q->prepared);
	for (int i = 0; i < nr && ret == SQLITE_OK; i++)
		ret = sqlite3_bind_int64(q->prepared, i + 1, value[i]);
	return ret == SQLITE_OK ? store_next(s, q) : fail_by_database(s, ret);
}

int64_t store_take_number(struct statement *q)
{
	int64_t number = sqlite3_column_int64(q->prepared, 0);

	sqlite3_reset(q->prepared);
	return number;
}

int64_t store_ask_number(struct store *s, const char *sql)
{
	struct statement q = STATEMENT(sql);
	int64_t number = store_run(s, &q, "") ? store_take_number(&q) : 0;

	store_finish(s, &q);
	return number;
}

void store_finish(struct store *s, struct statement *q)
{
	for (struct statement **at = &s->prepared; *at; at = &(*at)->next)
		if (*at == q) {
			*at = q->next;
			sqlite3_finalize(q->prepared);
			q->prepared = NULL;
			return;
		}
}

bool store_execute(struct store *s, const char *sql)
{
	int ret = s->error ? SQLITE_ERROR : sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return ret == SQLITE_OK || (!s->error && fail_by_database(s, ret));
}

bool store_begin(struct store *s)
{
	return store_execute(s, "BEGIN IMMEDIATE");
}

int store_commit(struct store *s, struct diag *d)
{
	if (s->error)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	else if (!store_execute(s, "COMMIT"))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	else
		/* if a reader blocks this checkpoint, a later commit makes it */
		sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	return store_failed(s, d);
}

/* -------------------------------------------------------------------------------------------------------------- open */

const struct output_form store_output_form = { "a store", "tlrs", 4, APPLICATION_AT, 0 };

static int refuse(struct store *s, const char *suffix, const char *refusal)
{
	return store_fail(s, EPERM, "%s%s is not used, since %s; remove it if it is not yours", s->file, suffix, refusal);
}

static bool check_beside(struct store *s)
{
	static const char *const suffixes[] = { "-wal", "-shm", "-journal", "-lock" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]) && !s->error; i++) {
		const char *refusal;
		char *path;

		if (asprintf(&path, "%s%s", s->file, suffixes[i]) < 0) {
			store_fail(s, ENOMEM, "out of memory");
			break;
		}
		refusal = own_file_check(path, S_IFREG, s->owner);
		if (refusal)
			refuse(s, suffixes[i], refusal);
		free(path);
	}
	return !s->error;
}

/* Opens the lock file, and creates it only if there is none.  With O_CREAT the kernel refuses another user's file in a folder like /tmp
 * without saying why. */
static int open_lock(struct store *s)
{
	const char *refusal = NULL;
	char *path = NULL;
	int ret;

	if (asprintf(&path, "%s-lock", s->file) < 0)
		return store_fail(s, ENOMEM, "out of memory");
	ret = own_file_open(path, O_RDWR, S_IFREG, s->owner, &s->lock, &refusal);
	if (ret == -ENOENT)
		ret = own_file_open(path, O_RDWR | O_CREAT, S_IFREG, s->owner, &s->lock, &refusal);
	free(path);
	if (refusal)
		return refuse(s, "-lock", refusal);
	return ret ? store_fail(s, -ret, "cannot be written: %s", strerror(-ret)) : 0;
}

/* Makes this process the only writer.  SQLite's own locks would admit another one between two transactions that belong together. */
static int take_lock(struct store *s)
{
	struct lock_holder holder = { 0 };
	int ret = open_lock(s);

	for (int i = 0; i < LOCK_TRIES && ret == 0; i++) {
		if (flock(s->lock, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (i % STOPPED_TRIES == STOPPED_TRIES - 1) /* a holder that is stopped is not waited for */
			holder = lock_holder_find(s->lock);
		if (holder.is_stopped)
			break;
		usleep(100000);
	}
	return ret ? ret : store_fail(s, EBUSY, "another process writes to it%s", lock_holder_text(&holder));
}

/* Returns whether the whole store is in its main file, and no process writes to it. Takes a shared lock, which keeps writers away until the
 * store is closed. If the lock file cannot be opened, returns true without a lock, unless the file is refused. */
static bool is_at_rest(struct store *s)
{
	char *wal = NULL, *lock = NULL;
	const char *refusal = NULL;
	struct stat st;
	bool is_empty = asprintf(&wal, "%s-wal", s->file) >= 0 && (stat(wal, &st) || st.st_size == 0);

	if (is_empty && asprintf(&lock, "%s-lock", s->file) >= 0) {
		own_file_open(lock, O_RDONLY, S_IFREG, s->owner, &s->lock, &refusal);
		is_empty = !refusal && (s->lock < 0 || flock(s->lock, LOCK_SH | LOCK_NB) == 0);
		free(lock);
	}
	free(wal);
	return is_empty;
}

static int create_tables(struct store *s)
{
	char text[128];

	/* page size and auto_vacuum can be set in an empty file only, and before WAL mode */
	snprintf(text, sizeof(text), "PRAGMA page_size = %d; PRAGMA auto_vacuum = INCREMENTAL;", STORE_PAGE_BYTES);
	store_execute(s, text);
	store_execute(s, "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE;");
	snprintf(text, sizeof(text), "PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION, VERSION);
	store_execute(s, text);
	for (size_t i = 0; schema_statement(i); i++)
		store_execute(s, schema_statement(i));
	store_execute(s, "INSERT INTO meta VALUES('store', hex(randomblob(16))); INSERT INTO meta VALUES('tool', 'tailor " TAILOR_VERSION
			 "'); COMMIT;");
	return -s->error;
}

/* Makes a store of the version before one of this version.  A tailor that does not know totals would remove the names that they have. */
static int convert(struct store *s)
{
	char text[64];

	snprintf(text, sizeof(text), "PRAGMA user_version = %d", VERSION);
	store_execute(s, text);
	return -s->error;
}

static int check_version(struct store *s, enum store_access access)
{
	int64_t version;

	if (store_ask_number(s, "PRAGMA application_id") != APPLICATION)
		return store_fail(s, EBADMSG, "not a store of tailor");
	version = store_ask_number(s, "PRAGMA user_version");
	if (!s->error && version == STORE_FORMAT_VERSION_BEFORE)
		return access == STORE_READ ? 0 : convert(s);
	if (!s->error && version != VERSION)
		return store_fail(s, EPROTO, "it is of version %lld, and this tailor knows version %d: %s", (long long)version, VERSION,
				  version > VERSION ? "use a newer tailor" : "begin a new store");
	return -s->error;
}

static bool check_schema(struct store *s)
{
	struct statement all = STATEMENT("SELECT type, name, sql FROM sqlite_schema");
	struct schema_seen seen = { 0 };
	const char *missing;
	int bytes;

	for (bool more = store_run(s, &all, ""); more; more = store_next(s, &all)) {
		const char *text[3];

		for (int i = 0; i < 3; i++)
			text[i] = (const char *)sqlite3_column_text(all.prepared, i);
		if (!schema_takes(&seen, text[0] ? text[0] : "", text[1] ? text[1] : "", text[2]))
			store_fail(s, EBADMSG, "its schema is not that of a store of tailor (the %s '%s'), so nothing is asked of it",
				   text[0] && strcmp(text[0], "view") == 0    ? "view" :
				   text[0] && strcmp(text[0], "trigger") == 0 ? "trigger" :
				   text[0] && strcmp(text[0], "index") == 0   ? "index" :
										"table",
				   store_printable(text[1]));
	}
	store_finish(s, &all);
	missing = schema_missing(&seen, &bytes);
	if (missing && !s->error)
		store_fail(s, EBADMSG, "its schema is not that of a store of tailor (it has no '%.*s')", bytes, missing);
	return !s->error;
}

/* Returns "file:/path?immutable=1", which the caller frees, or NULL if memory ran out.  With it SQLite makes no file beside the store,
 * and takes no lock. */
static char *format_immutable_uri(const char *path)
{
	char *uri = malloc(3 * strlen(path) + 32), *to = uri;

	if (!uri)
		return NULL;
	to += sprintf(to, "file:");
	for (; *path; path++)
		to += sprintf(to, strchr("%?#", *path) ? "%%%02X" : "%c", (unsigned char)*path);
	sprintf(to, "?immutable=1");
	return uri;
}

/*
 * SQLite shares memory with other processes in a file beside the store, which cannot be made on a full disk or in a folder without write
 * access.  A store at rest is then read without that file.
 */
static void read_without_shared_memory(struct store *s)
{
	int ret = sqlite3_exec(s->db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL) & 0xff;
	sqlite3 *db = NULL;
	char *uri;

	if (ret == SQLITE_READONLY && sqlite3_open_v2(s->file, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK) {
		sqlite3_close(s->db); /* a killed writer left a log, which SQLite has to recover first */
		s->db = db;
		bound_database(s);
		store_execute(s, "PRAGMA query_only = ON");
		return;
	}
	sqlite3_close(db);
	db = NULL;
	if ((ret != SQLITE_IOERR && ret != SQLITE_CANTOPEN && ret != SQLITE_READONLY) || !is_at_rest(s))
		return;
	uri = format_immutable_uri(s->file);
	if (uri && sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK) {
		sqlite3_close(s->db);
		s->db = db;
		bound_database(s);
	} else {
		sqlite3_close(db);
	}
	free(uri);
}

static int open_database(struct store *s, enum store_access access)
{
	struct stat st;
	bool exists = stat(s->path, &st) == 0 && st.st_size > 0;
	int flags = access == STORE_READ   ? SQLITE_OPEN_READONLY :
		    access == STORE_CHANGE ? SQLITE_OPEN_READWRITE :
					     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	mode_t mask;
	int ret;

	if (exists && !S_ISREG(st.st_mode))
		return store_fail(s, EINVAL, "not a regular file");
	if (!exists && access != STORE_ADD)
		return store_fail(s, ENOENT, "no such store");
	if (exists && eaccess(s->path, R_OK))
		return store_fail(s, errno, "%s%s", strerror(errno), file_owner_text(s->path, errno));
	s->file = exists ? realpath(s->path, NULL) : strdup(s->path);
	s->owner = exists ? st.st_uid : geteuid();
	if (!s->file)
		return store_fail(s, errno, "%s", strerror(errno));
	s->budget_size = access == STORE_READ ? &budget_of_reader : &budget_of_writer;
	store_begin_question(s);
	if (s->error || !check_beside(s) || (access != STORE_READ && take_lock(s)))
		return -s->error;
	mask = umask(077); /* only the user may read a store that is created here */
	ret = sqlite3_open_v2(s->file, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
	umask(mask);
	if (ret != SQLITE_OK)
		return store_fail(s, errno ? errno : EIO, "cannot be opened: %s", sqlite3_errmsg(s->db));
	bound_database(s);
	if (access == STORE_READ)
		read_without_shared_memory(s);
	/* the cache size is set, since a file can ask for any size */
	store_execute(s, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -2000; PRAGMA mmap_size = 0;");
	/* a process that was creating the store may have been killed before it made tables */
	exists = exists && store_ask_number(s, "SELECT EXISTS(SELECT 1 FROM sqlite_schema)");
	if (!exists && !s->error && access == STORE_ADD)
		create_tables(s);
	else if (!exists && !s->error)
		return store_fail(s, ENOENT, "nothing was added to it yet");
	if (check_version(s, access) || !check_schema(s))
		return -s->error;
	/* secure_delete: Debian's SQLite overwrites deleted bytes by default, which would double the bytes written */
	if (access != STORE_READ)
		store_execute(s, "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = OFF; PRAGMA wal_autocheckpoint = 0;"
				 "PRAGMA journal_size_limit = 1048576;");
	return -s->error;
}

int store_open(const char *path, enum store_access access, struct store **out, struct diag *d)
{
	struct store *s = calloc(1, sizeof(*s));

	if (!s || !(s->path = strdup(path))) {
		free(s);
		return diag_fail(d, ENOMEM, "%s: out of memory", path);
	}
	s->lock = s->ahead = -1;
	errno = 0;
	open_database(s, access);
	if (store_failed(s, d)) {
		int error = s->error;

		store_close(s);
		return -error;
	}
	*out = s;
	return 0;
}

int store_open_in_memory(const char *name, struct store **out, struct diag *d)
{
	struct store *s = calloc(1, sizeof(*s));

	if (!s || !(s->path = strdup(name)) || !(s->file = strdup(name))) {
		free(s ? s->path : NULL);
		free(s);
		return diag_fail(d, ENOMEM, "%s: out of memory", name);
	}
	s->lock = s->ahead = -1;
	if (sqlite3_open_v2(":memory:", &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		store_fail(s, ENOMEM, "out of memory");
	create_tables(s);
	if (store_failed(s, d)) {
		int error = s->error;

		store_close(s);
		return -error;
	}
	*out = s;
	return 0;
}

void store_close(struct store *s)
{
	for (struct statement *q = s->prepared; q; q = q->next) {
		sqlite3_finalize(q->prepared);
		q->prepared = NULL;
	}
	sqlite3_close(s->db);
	if (s->ahead >= 0)
		close(s->ahead);
	if (s->lock >= 0)
		close(s->lock);
	budget_close(&s->budget);
	free(s->file);
	free(s->path);
	free(s);
}

/* The descriptor stays open until after sqlite3_close(), since closing any descriptor of a file drops all locks that the process has on
 * it. */
void store_read_ahead(struct store *s)
{
	if (s->ahead < 0)
		s->ahead = regular_file_open(s->path);
	if (s->ahead >= 0)
		posix_fadvise(s->ahead, 0, 0, POSIX_FADV_WILLNEED);
}

size_t store_path_bytes(const char *text)
{
	const char *at = access(text, F_OK) ? strrchr(text, '@') : NULL;

	return at ? (size_t)(at - text) : strlen(text);
}

bool store_is_named(const char *text)
{
	static const char magic[] = "SQLite format 3";
	size_t bytes = store_path_bytes(text);
	char *path = strndup(text, bytes);
	char head[sizeof(magic)] = "";
	bool is_refused;
	struct stat st;
	int fd;

	if (!path)
		return false;
	fd = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	is_refused = fd < 0 && errno == EACCES;
	free(path);
	if (fd < 0)
		return text[bytes] && is_refused;
	if (read(fd, head, sizeof(head)) < 0)
		head[0] = 0;
	close(fd);
	return memcmp(head, magic, sizeof(magic)) == 0;
}

/* -------------------------------------------------------------------------------------------------------------- size */

int store_set_cap(struct store *s, uint64_t bytes, struct diag *d)
{
	static struct statement set = STATEMENT("INSERT OR REPLACE INTO meta VALUES('cap', ?)");

	store_run(s, &set, "i", (int64_t)bytes);
	return store_failed(s, d);
}

uint64_t store_cap(struct store *s)
{
	int64_t cap = store_ask_number(s, "SELECT value FROM meta WHERE key = 'cap'");

	return cap > 0 ? (uint64_t)cap : STORE_CAP_DEFAULT;
}

uint64_t store_file_bytes(struct store *s)
{
	int64_t pages = store_ask_number(s, "PRAGMA page_count");

	return (pages > 0 ? (uint64_t)pages * STORE_PAGE_BYTES : 0) + store_log_bytes(s);
}

uint64_t store_size(struct store *s)
{
	uint64_t bytes = store_file_bytes(s), free_bytes = (uint64_t)store_ask_number(s, "PRAGMA freelist_count") * STORE_PAGE_BYTES;

	return bytes > free_bytes ? bytes - free_bytes : 0;
}

int64_t store_nr_epochs(struct store *s)
{
	return store_ask_number(s, "SELECT count(*) FROM epoch");
}
