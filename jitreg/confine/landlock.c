/* SPDX-License-Identifier: MIT */
/*
 * Restricts access to files by Landlock (Linux 5.13). libc has no functions for Landlock, and the headers of older kernels lack later
 * rights, so this file defines their numbers. A rule set with a right that the running kernel does not know is refused, so only the rights
 * of its ABI (landlock(7)) are given up.
 */
#include "jitreg/confine/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYS_CREATE_RULESET 444
#define SYS_ADD_RULE 445
#define SYS_RESTRICT_SELF 446
#define CREATE_RULESET_VERSION 1u
#define RULE_PATH_BENEATH 1

enum right {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	REMOVE_DIR = 1 << 4,
	REMOVE_FILE = 1 << 5,
	MAKE_CHAR = 1 << 6,
	MAKE_DIR = 1 << 7,
	MAKE_REG = 1 << 8,
	MAKE_SOCK = 1 << 9,
	MAKE_FIFO = 1 << 10,
	MAKE_BLOCK = 1 << 11,
	MAKE_SYM = 1 << 12,
	REFER = 1 << 13,     /* ABI 2 */
	TRUNCATE = 1 << 14,  /* ABI 3 */
	IOCTL_DEV = 1 << 15, /* ABI 5 */
};
#define OF_FILES ((unsigned)(EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV))
#define READS ((unsigned)(READ_FILE | READ_DIR))
#define WRITES ((unsigned)(READS | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE))

static int ruleset = -1, abi = -1;

static unsigned rights_of_abi(int version)
{
	unsigned all = (MAKE_SYM << 1) - 1;

	if (version >= 2)
		all |= REFER;
	if (version >= 3)
		all |= TRUNCATE;
	if (version >= 5)
		all |= IOCTL_DEV;
	return all;
}

int landlock_find_abi(void)
{
	if (abi < 0) {
		long version = syscall(SYS_CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);

		abi = version > 0 ? (int)version : 0;
	}
	return abi;
}

static int open_ruleset(void)
{
	const uint64_t handled = rights_of_abi(landlock_find_abi());

	if (ruleset < 0 && abi > 0 && !confine_is_off())
		ruleset = (int)syscall(SYS_CREATE_RULESET, &handled, sizeof(handled), 0); /* the kernel sets close-on-exec */
	return ruleset;
}

static void allow_descriptor(int fd, unsigned rights)
{
	struct {
		uint64_t rights;
		int32_t parent;
	} __attribute__((packed)) rule = { .parent = fd };
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return;
	rule.rights = rights & rights_of_abi(abi) & (S_ISDIR(st.st_mode) ? ~0u : OF_FILES);
	if (rule.rights)
		syscall(SYS_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0);
}

static void allow_path(const char *path, unsigned rights)
{
	int fd;

	if (open_ruleset() < 0)
		return;
	fd = open(path, O_PATH | O_CLOEXEC);
	allow_descriptor(fd, rights);
	if (fd >= 0)
		close(fd);
}

void confine_allow_read(const char *path)
{
	allow_path(path, READS);
}

void confine_allow_folder(const char *folder)
{
	allow_path(folder, WRITES);
}

static void allow_folder_of(const char *path, unsigned rights)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : slash ? (int)(slash - path) : 1, slash ? path : ".");
	allow_path(folder, rights);
}

void confine_allow_write(const char *path)
{
	struct stat st;

	if (strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0)
		return;
	if (stat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)))
		allow_path(path, READS | WRITES);
	allow_folder_of(path, WRITES);
}

void confine_allow_removal(const char *folder)
{
	allow_folder_of(folder, REMOVE_DIR);
}

/* The kernel executes the dynamic loader along with the program, so both must be allowed. */
void confine_allow_program(const char *name)
{
	const char *path = getenv("PATH"), *end;
	char at[PATH_MAX];

	for (path = path ? path : "/usr/bin:/bin"; path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		snprintf(at, sizeof(at), "%.*s/%s", (int)(end - path), path, name);
		if (access(at, X_OK) == 0) {
			allow_path(at, EXECUTE | READ_FILE);
			break;
		}
	}
	allow_path("/lib64/ld-linux-x86-64.so.2", EXECUTE | READ_FILE);
	allow_path("/lib/ld-musl-x86_64.so.1", EXECUTE | READ_FILE);
}

/* Is this a folder with files of many users, such as / or /home, and does root run the command?  Root could read them all, so they are not
 * allowed merely because they are the working folder. */
static bool has_homes(const char *folder)
{
	static const char *const common[] = { "/", "/home", "/root", "/etc", "/var", "/proc", "/tmp", "/var/tmp", "/dev/shm" };
	const char *home = geteuid() == 0 ? NULL : getenv("HOME");

	if (home && strcmp(folder, home) == 0)
		return false;
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (strcmp(folder, common[i]) == 0)
			return geteuid() == 0;
	return false;
}

/* Allow a standard stream that is a file or a terminal to be opened again by its name in /dev or /proc.  Pipes and sockets need no rule. */
static void allow_stream(int fd)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)))
		allow_path(path, fd ? READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV : READ_FILE | IOCTL_DEV);
}

void confine_allow_usual(void)
{
	static const char *const reads[] = {
		"/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt", "/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/etc/terminfo",
		"/etc/locale.alias", "/etc/debuginfod", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/proc/self", "/proc/stat",
		"/proc/cpuinfo", "/proc/meminfo", "/proc/sys", "/sys/devices/system", "/sys/kernel/mm", "/sys/fs/cgroup", "/var/lib/dpkg",
		"/dev/urandom", "/nix/store", "/gnu/store",
	};
	static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/tty" };
	char path[PATH_MAX], *folder;
	ssize_t n;

	if (open_ruleset() < 0)
		return;
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		allow_path(reads[i], READS);
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		allow_path(devices[i], READ_FILE | WRITE_FILE | IOCTL_DEV | TRUNCATE);
	folder = getcwd(NULL, 0);
	if (folder && !has_homes(folder))
		allow_path(".", READS);
	free(folder);
	/* the folder lib beside the program has the libraries of a portable installation */
	n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("/lib"));
	if (n > 0 && n < (ssize_t)(sizeof(path) - sizeof("/lib"))) {
		path[n] = 0;
		snprintf(strrchr(path, '/'), sizeof("/lib"), "/lib");
		allow_path(path, READS);
	}
	for (int fd = 0; fd < 3; fd++) /* a program that opens /dev/stdout opens its standard output again */
		allow_stream(fd);
}

void confine_allow_network_files(void)
{
	static const char *const reads[] = { "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/resolv.conf", "/etc/hosts",
					     "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/hostname",
					     "/run/systemd/resolve", "/usr/share/ca-certificates", "/etc/gnutls", "/etc/crypto-policies",
					     "/etc/krb5.conf", "/etc/krb5.conf.d" };
	const char *home = getenv("HOME");
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		allow_path(reads[i], READS);
	if (home && (size_t)snprintf(path, sizeof(path), "%s/.netrc", home) < sizeof(path))
		allow_path(path, READ_FILE);
}

int landlock_restrict(void)
{
	int ret = 0;

	if (open_ruleset() < 0)
		return -ENOSYS;
	if (syscall(SYS_RESTRICT_SELF, ruleset, 0))
		ret = -errno;
	close(ruleset);
	ruleset = -1;
	return ret;
}
