/* SPDX-License-Identifier: MIT */
#include "analyzer/store/beside.h"

#include "jitreg/base/lock_holder.h"
#include "jitreg/base/own_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#define LOCK_TRIES 300	 /* of 100 ms */
#define STOPPED_TRIES 20 /* between two looks at who has the lock */

static int refuse(struct store *s, const char *suffix, const char *refusal)
{
	return store_fail(s, EPERM, "%s%s is not used, since %s; remove it if it is not yours", s->file, suffix, refusal);
}

bool beside_check(struct store *s)
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

/* One that is there is not created: in a folder like /tmp the kernel refuses that of another user's file without a reason. */
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

/* One process writes: SQLite's own locks would let another in between two transactions that belong together. */
int beside_take_lock(struct store *s)
{
	struct lock_holder holder = { 0 };
	int ret = open_lock(s);

	for (int i = 0; i < LOCK_TRIES && ret == 0; i++) {
		if (flock(s->lock, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (i % STOPPED_TRIES == STOPPED_TRIES - 1) /* one that is stopped is not waited for */
			holder = lock_holder_find(s->lock);
		if (holder.is_stopped)
			break;
		usleep(100000);
	}
	return ret ? ret : store_fail(s, EBUSY, "another process writes to it%s", lock_holder_text(&holder));
}

bool beside_is_at_rest(struct store *s)
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
