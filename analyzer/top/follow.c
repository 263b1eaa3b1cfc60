/* SPDX-License-Identifier: MIT */
#include "analyzer/top/follow.h"

#include "analyzer/store/window.h"
#include "jitreg/base/regular_file.h"
#include "jitreg/output/output_file.h"
#include "jitreg/trace/reader.h"
#include "jitreg/trace/writer.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EPOCHS "60s" /* short, since `tailor top` reads a whole epoch each time; ending one takes 0.2 s */
#define KEEP_WAITS 100 /* how often the end of an epoch is looked for, every KEEP_POLL_US; a child at a lower priority writes the end */
#define KEEP_POLL_US 50000
#define STORE_LOOKS 20 /* how often a trace that is being written is looked for, every KEEP_POLL_US */
#define END_MOST_MS 5000
#define END_STEP_MS 10

/* Runs in the child, and does not return. PR_SET_PDEATHSIG sends the recorder SIGTERM when `tailor top` ends for whatever reason, so that
 * no recorder is left behind. The recorder passes the signal on to a command that it runs. */
static void execute_recorder(const struct follow *f, char **words, bool is_hidden, pid_t parent)
{
	int nr = 0, nr_words = 0, in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char **all, *output;
	sigset_t none;

	while (words[nr_words])
		nr_words++;
	all = calloc((size_t)nr_words + 7, sizeof(*all));
	if (!all || asprintf(&output, "%s/top.tlr", f->folder) < 0)
		_exit(127);
	all[nr++] = (char *)"tailor top"; /* messages have this name, since the user has called no other command */
	all[nr++] = words[0];
	all[nr++] = (char *)"-q";
	all[nr++] = (char *)"--epochs";
	all[nr++] = (char *)EPOCHS;
	all[nr++] = (char *)"-o";
	all[nr++] = output;
	memcpy(all + nr, words + 1, (size_t)nr_words * sizeof(*all)); /* copies the NULL at the end, too */
	setpgid(0, 0); /* in a process group of its own, the recorder does not get Ctrl-C in the terminal */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	dup2(in, STDIN_FILENO);
	/* Output that is not hidden goes to standard error, since only the tables of `tailor top` go to its standard output. */
	dup2(is_hidden ? f->said : STDERR_FILENO, STDOUT_FILENO);
	if (is_hidden)
		dup2(f->said, STDERR_FILENO);
	execv("/proc/self/exe", all);
	_exit(127);
}

int follow_record(struct follow *f, char **words, bool is_hidden, struct diag *d)
{
	const char *where = getenv("TMPDIR");
	pid_t parent = getpid();

	if (asprintf(&f->folder, "%s/tailor-top-XXXXXX", where && *where ? where : "/tmp") < 0 || !mkdtemp(f->folder))
		return diag_fail(d, errno, "no folder for traces: %s", strerror(errno));
	f->owns_folder = true;
	f->said = memfd_create("tailor-top", MFD_CLOEXEC);
	if (f->said < 0)
		return diag_fail(d, errno, "no memory: %s", strerror(errno));
	f->recorder = fork();
	if (f->recorder == 0)
		execute_recorder(f, words, is_hidden, parent);
	if (f->recorder < 0)
		return diag_fail(d, errno, "cannot start a recorder: %s", strerror(errno));
	return 0;
}

static bool is_trace(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && strcmp(name + n - 4, ".tlr") == 0;
}

/* Finds the last trace in the folder by name. The names of a recorder's traces sort by epoch, and those of several recorders by their
 * starts. Returns false if there is none, or if it is f->path. */
static bool find_newer(const struct follow *f, char newest[256])
{
	DIR *folder = opendir(f->folder);

	*newest = 0;
	for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder))
		if (is_trace(e->d_name) && strcmp(e->d_name, newest) > 0)
			snprintf(newest, 256, "%s", e->d_name);
	if (folder)
		closedir(folder);
	return *newest && strcmp(newest, f->path ? strrchr(f->path, '/') + 1 : "") != 0;
}

bool follow_look(struct follow *f)
{
	char newest[256], *path;

	if (!find_newer(f, newest) || asprintf(&path, "%s/%s", f->folder, newest) < 0)
		return false;
	if (f->before && f->owns_folder)
		unlink(f->before);
	free(f->before);
	f->before = f->path;
	f->path = path;
	return true;
}

int follow_folder(struct follow *f, const char *folder, struct diag *d)
{
	f->folder = strdup(folder);
	if (!f->folder)
		return diag_fail(d, ENOMEM, "out of memory");
	if (access(folder, R_OK | X_OK))
		return diag_fail(d, errno, "%s: %s", folder, strerror(errno));
	return follow_look(f) ? 0 : diag_fail(d, ENOENT, "%s: no epoch is there: `tailor watch` is to run", folder);
}

/* Reads when a trace ended. *is_written becomes true if a recorder is still writing the trace. *end_ns: the end by the wall clock; 0: the
 * trace is being written, or was cut off. Returns false if the trace cannot be read yet. */
static bool read_end(const char *path, bool *is_written, int64_t *end_ns)
{
	struct trace_reader *t;
	struct trace_record r;
	struct diag d;
	uint64_t begin_ns = 0;

	if (trace_open(path, &t, &d))
		return false;
	*is_written = trace_is_being_written(t);
	*end_ns = 0;
	while (!*is_written && trace_next(t, &r) == 1)
		if (r.id == TRACE_HEADER)
			begin_ns = trace_u64(&r, F(header, real_ns)) - r.time_ns;
		else if (r.id == TRACE_END)
			*end_ns = (int64_t)(begin_ns + r.time_ns);
	trace_close(t);
	return true;
}

int follow_store(struct follow *f, const char *store, struct diag *d)
{
	bool is_written = false;
	int64_t end_ns = 0;
	char text[32];

	for (int i = 0; i < STORE_LOOKS && !(read_end(f->path, &is_written, &end_ns) && is_written); i++) {
		usleep(KEEP_POLL_US); /* the next epoch may be about to begin */
		follow_look(f);
	}
	if (is_written)
		return 0;
	if (!end_ns)
		return diag_fail(d, ENODATA, "%s: no `tailor watch` records into it", store);
	return diag_fail(d, ENODATA, "%s: no `tailor watch` records into it; the newest epoch ended at %s: `tailor db report %s`", store,
			 window_format_time(end_ns, text), store);
}

bool follow_has_ended(struct follow *f)
{
	if (f->recorder > 0 && waitpid(f->recorder, &f->status, WNOHANG) == f->recorder)
		f->recorder = -1;
	return f->recorder < 0;
}

const char *follow_said(const struct follow *f, char *text, size_t bytes)
{
	off_t end = f->said >= 0 ? lseek(f->said, 0, SEEK_END) : 0;
	ssize_t nr = end > 0 ? pread(f->said, text, bytes - 1, end > (off_t)bytes - 1 ? end - (off_t)bytes + 1 : 0) : 0;
	char *line;

	text[nr > 0 ? nr : 0] = 0;
	while (nr > 0 && text[nr - 1] == '\n')
		text[--nr] = 0;
	line = strrchr(text, '\n');
	return line ? line + 1 : text;
}

static int copy_trace(const char *from, const char *to, struct diag *d)
{
	int fd = regular_file_open(from);
	struct output_file out = { .form = &trace_output_form };
	char block[65536];
	ssize_t nr = 0;
	int ret, error = 0;

	if (fd < 0)
		return diag_fail(d, errno, "%s: %s", from, strerror(errno));
	ret = output_file_open_stream(&out, to, d);
	while (ret == 0 && (nr = read(fd, block, sizeof(block))) > 0)
		if (fwrite(block, 1, (size_t)nr, out.to) != (size_t)nr)
			break;
	error = nr < 0 ? errno : 0;
	close(fd);
	if (ret)
		return ret;
	if (!error)
		return output_file_end(&out, d);
	output_file_drop(&out);
	return diag_fail(d, error, "%s: %s", from, strerror(error));
}

/* Returns whether the trace is complete, which it is once a child of the recorder has written its END. */
static bool is_complete(const char *path)
{
	struct trace_reader *t;
	struct trace_record r;
	struct diag d;
	bool complete;

	if (trace_open(path, &t, &d))
		return false;
	trace_select_chunks(t, 1u << TRACE_CHUNK_END);
	while (trace_next(t, &r) == 1)
		;
	complete = !trace_get_damage(t)->truncated;
	trace_close(t);
	return complete;
}

int follow_keep(struct follow *f, char *name, size_t bytes, struct diag *d)
{
	time_t now = time(NULL);
	char newer[256];
	struct tm tm;

	if (!f->path)
		return diag_fail(d, ENOENT, "nothing is recorded yet");
	strftime(name, bytes, "top-%Y%m%dT%H%M%S.tlr", localtime_r(&now, &tm));
	if (f->recorder > 0)
		kill(f->recorder, SIGUSR1);
	for (int i = 0; f->recorder > 0 && i < KEEP_WAITS && !find_newer(f, newer); i++)
		usleep(KEEP_POLL_US);
	for (int i = 0; f->recorder > 0 && i < KEEP_WAITS && !is_complete(f->path); i++)
		usleep(KEEP_POLL_US);
	return copy_trace(f->path, name, d);
}

static void remove_folder(const char *path)
{
	DIR *folder = opendir(path);

	for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder))
		if (is_trace(e->d_name))
			unlinkat(dirfd(folder), e->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(path);
}

/* Waits for the recorder, which itself waits for its command, and the command may ignore SIGTERM. After END_MOST_MS the recorder is killed,
 * and the command goes on without it. */
static void wait_for_recorder(struct follow *f)
{
	for (int i = 0; waitpid(f->recorder, &f->status, WNOHANG) == 0; i++) {
		if (i == END_MOST_MS / END_STEP_MS)
			kill(f->recorder, SIGKILL);
		usleep(END_STEP_MS * 1000);
	}
}

void follow_end(struct follow *f)
{
	if (f->recorder > 0) {
		kill(f->recorder, SIGTERM);
		wait_for_recorder(f);
	}
	if (f->folder && f->owns_folder)
		remove_folder(f->folder);
	if (f->said >= 0)
		close(f->said);
	free(f->folder);
	free(f->path);
	free(f->before);
}
