/* SPDX-License-Identifier: MIT */
/*
 * Some programs cannot load this library (behind chroot, in another mount namespace, of 32 bits, of another libc). Others would be ended by
 * it (AddressSanitizer), or need the memory that it takes (ulimit). The loader would print an error into the host's stderr for a library in
 * LD_PRELOAD that it cannot load. So such a program gets an environment without this library, and the recorder notices that it has no
 * agent.
 *
 * Context: any, also signal, also a child of vfork. The child runs in its parent's memory, so nothing is written but the stack and errno.
 */
#include "agent/guest/guest.h"
#include "agent/guest/sys.h"
#include "jitreg/protocol/preload.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIBRARY "libtailor.so"
#define ENVIRON_MAX 65536u /* entries, and bytes of LD_PRELOAD; a larger environment is passed on unchanged */
#define ARGUMENTS_MAX 65536u
#define PATH_BYTES 4096

static const char preload[] = "LD_PRELOAD=";

typedef int (*execve_function)(const char *, char *const[], char *const[]);
typedef int (*spawn_function)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
			      char *const[]);

static struct {
	execve_function execve, execvpe;
	spawn_function spawn, spawnp;
} next;

/* Looks up libc's functions when the agent starts.  Hooks that are called earlier look up their function themselves, or make the system
 * call. */
void exec_find_next_functions(void)
{
	next.execve = (execve_function)objects_find_next_symbol("execve");
	next.execvpe = (execve_function)objects_find_next_symbol("execvpe");
	next.spawn = (spawn_function)objects_find_next_symbol("posix_spawn");
	next.spawnp = (spawn_function)objects_find_next_symbol("posix_spawnp");
}

/* Finds the next entry of a list with blanks or colons between entries.  *bytes is its length, or 0 at the end of the list. */
static const char *next_preload_entry(const char *at, size_t *bytes)
{
	at += strspn(at, " :");
	*bytes = strcspn(at, " :");
	return at;
}

static bool is_own_library_entry(const char *entry, size_t bytes)
{
	const size_t name = sizeof(LIBRARY) - 1;

	return bytes > name && memcmp(entry + bytes - name, LIBRARY, name) == 0 && entry[bytes - name - 1] == '/';
}

static long read_file_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	return sys_call(SYS_pread64, fd, (long)to, (long)bytes, (long)offset, 0, 0);
}

static bool is_limited_to_less(int resource, uint64_t bytes)
{
	uint64_t limit[2]; /* struct rlimit, whose first member is the soft limit */

	return sys_call(SYS_getrlimit, resource, (long)limit, 0, 0, 0, 0) == 0 && limit[0] < bytes;
}

static bool agent_would_break_program(const char *program)
{
	int fd = program ? sys_open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	enum preload_fit fit = PRELOAD_FITS;

	if (fd >= 0) {
		fit = preload_look_at(read_file_at, fd);
		sys_close(fd);
	}
	return fit > PRELOAD_STATIC || is_limited_to_less(RLIMIT_AS, PRELOAD_ADDRESS_SPACE_MIN) ||
	       is_limited_to_less(RLIMIT_DATA, PRELOAD_DATA_MIN);
}

/*
 * Looks for a name without a slash in the folders of PATH, as libc does. An empty entry is the current folder. Returns NULL if none of them
 * has an executable file of this name. A name with a slash is returned as it is.
 */
static const char *find_program_in_path(const char *file, char place[PATH_BYTES])
{
	const char *dirs = "/bin:/usr/bin";
	size_t bytes, name = strlen(file);

	if (strchr(file, '/'))
		return file;
	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, "PATH=", 5) == 0) {
			dirs = *e + 5;
			break;
		}
	for (;; dirs += bytes + 1) {
		bytes = strcspn(dirs, ":");
		if (bytes + 1 + name < PATH_BYTES) {
			memcpy(place, dirs, bytes);
			place[bytes] = '/';
			memcpy(place + bytes + (bytes > 0), file, name + 1);
			if (sys_call(SYS_faccessat, AT_FDCWD, (long)place, X_OK, 0, 0, 0) == 0)
				return place;
		}
		if (!dirs[bytes])
			return NULL;
	}
}

static bool can_open_library(const char *path, size_t bytes)
{
	char copy[PATH_BYTES];
	int fd;

	if (bytes >= sizeof(copy))
		return true;
	memcpy(copy, path, bytes);
	copy[bytes] = 0;
	fd = sys_open(copy, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		sys_close(fd);
	return fd >= 0 || fd == -EMFILE || fd == -ENFILE;
}

struct change {
	size_t at;    /* index of LD_PRELOAD in the environment */
	size_t nr;    /* number of entries */
	size_t bytes; /* space for the new LD_PRELOAD; 0: nothing changes */
};

/* Finds out whether the program has to be executed without this library, and where LD_PRELOAD is.  program: its path, or NULL if that is
 * not known. */
static struct change plan_preload_change(const char *program, char *const environment[])
{
	struct change c = { 0, 0, 0 };
	bool found = false, opens = true;
	size_t bytes;

	for (; environment && environment[c.nr] && c.nr < ENVIRON_MAX; c.nr++)
		if (!found && strncmp(environment[c.nr], preload, sizeof(preload) - 1) == 0) {
			c.at = c.nr;
			found = true;
		}
	if (!found || c.nr == ENVIRON_MAX)
		return c;
	for (const char *at = next_preload_entry(environment[c.at] + sizeof(preload) - 1, &bytes); bytes;
	     at = next_preload_entry(at + bytes, &bytes))
		if (is_own_library_entry(at, bytes))
			opens = can_open_library(at, bytes) && !agent_would_break_program(program);
	if (!opens && strlen(environment[c.at]) < ENVIRON_MAX)
		c.bytes = strlen(environment[c.at]) + 1;
	return c;
}

/* Writes to out the environment with an LD_PRELOAD that lacks this library.  The new entry is stored in text, or left out if it is
 * empty. */
static void write_changed_environment(const struct change *c, char *const environment[], char *out[], char *text)
{
	size_t bytes, nr = 0, length = sizeof(preload) - 1;

	memcpy(text, preload, length);
	for (const char *at = next_preload_entry(environment[c->at] + length, &bytes); bytes; at = next_preload_entry(at + bytes, &bytes)) {
		if (is_own_library_entry(at, bytes))
			continue;
		if (length > sizeof(preload) - 1)
			text[length++] = ':';
		memcpy(text + length, at, bytes);
		length += bytes;
	}
	text[length] = 0;
	for (size_t i = 0; i < c->nr; i++)
		if (i != c->at)
			out[nr++] = environment[i];
		else if (length > sizeof(preload) - 1)
			out[nr++] = text;
	out[nr] = NULL;
}

/* Runs a statement in which `environment` is the one for the program.  A changed environment lies on the stack of the calling function. */
#define WITH_ENVIRONMENT(program, statement) \
	do { \
		struct change c_ = plan_preload_change(program, environment); \
		char *entries_[c_.bytes ? c_.nr + 1 : 1], text_[c_.bytes ? c_.bytes : 1]; \
		if (c_.bytes) { \
			write_changed_environment(&c_, environment, entries_, text_); \
			environment = entries_; \
		} \
		statement; \
	} while (0)

static int set_errno_and_fail(long result)
{
	errno = (int)-result;
	return -1;
}

static int execute_path(const char *path, char *const arguments[], char *const environment[])
{
	WITH_ENVIRONMENT(
		path,
		return next.execve ? next.execve(path, arguments, environment) :
				     set_errno_and_fail(sys_call(SYS_execve, (long)path, (long)arguments, (long)environment, 0, 0, 0)));
}

/* A file name without a slash is looked for in PATH. */
static int execute_named(const char *file, char *const arguments[], char *const environment[])
{
	execve_function run_it = next.execvpe ? next.execvpe : (execve_function)objects_find_next_symbol("execvpe");
	char place[PATH_BYTES];

	if (!run_it)
		return set_errno_and_fail(-ENOENT);
	WITH_ENVIRONMENT(find_program_in_path(file, place), return run_it(file, arguments, environment));
}

API int execve(const char *path, char *const arguments[], char *const environment[])
{
	return execute_path(path, arguments, environment);
}

API int execv(const char *path, char *const arguments[])
{
	return execute_path(path, arguments, environ);
}

API int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	return execute_named(file, arguments, environment);
}

API int execvp(const char *file, char *const arguments[])
{
	return execute_named(file, arguments, environ);
}

/* libc's declarations do not allow a first argument of NULL, so these hooks are declared under other names. */
API int hook_execl(const char *path, const char *first, ...) __asm__("execl");
API int hook_execlp(const char *file, const char *first, ...) __asm__("execlp");
API int hook_execle(const char *path, const char *first, ...) __asm__("execle");

static size_t count_variable_arguments(va_list list)
{
	size_t nr = 1;

	while (nr < ARGUMENTS_MAX && va_arg(list, char *))
		nr++;
	return nr;
}

/* Declares `arguments`, the array of the arguments of execl and its variants.  If the environment is one of them, it is the next in
 * list_. */
#define TAKE_ARGUMENTS(first) \
	va_list list_; \
	size_t nr_; \
	va_start(list_, first); \
	nr_ = first ? count_variable_arguments(list_) : 0; \
	va_end(list_); \
	char *arguments[nr_ + 1]; \
	va_start(list_, first); \
	arguments[0] = (char *)first; \
	for (size_t i = 1; i <= nr_; i++) \
	arguments[i] = va_arg(list_, char *)

API int hook_execl(const char *path, const char *first, ...)
{
	TAKE_ARGUMENTS(first);
	va_end(list_);
	return execute_path(path, arguments, environ);
}

API int hook_execlp(const char *file, const char *first, ...)
{
	TAKE_ARGUMENTS(first);
	va_end(list_);
	return execute_named(file, arguments, environ);
}

API int hook_execle(const char *path, const char *first, ...)
{
	char **environment;

	TAKE_ARGUMENTS(first);
	environment = va_arg(list_, char **);
	va_end(list_);
	return execute_path(path, arguments, environment);
}

API int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attributes,
		    char *const arguments[], char *const environment[])
{
	spawn_function spawn = next.spawn ? next.spawn : (spawn_function)objects_find_next_symbol("posix_spawn");

	if (!spawn)
		return ENOSYS;
	WITH_ENVIRONMENT(path, return spawn(pid, path, files, attributes, arguments, environment));
}

API int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attributes,
		     char *const arguments[], char *const environment[])
{
	spawn_function spawn = next.spawnp ? next.spawnp : (spawn_function)objects_find_next_symbol("posix_spawnp");
	char place[PATH_BYTES];

	if (!spawn)
		return ENOSYS;
	WITH_ENVIRONMENT(find_program_in_path(file, place), return spawn(pid, file, files, attributes, arguments, environment));
}
