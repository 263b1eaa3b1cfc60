/* SPDX-License-Identifier: MIT */
/*
 * Restricts system calls by a filter that libseccomp makes.  A call that is not permitted fails with EPERM and does not end the process,
 * because libraries try some calls that they can do without.  Calls that older releases of libseccomp do not know are given as numbers.
 */
#include "jitreg/confine/internal.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define NR_FCHMODAT2 452
#define NR_SETXATTRAT 463
#define NR_REMOVEXATTRAT 466
#define NR_OPEN_TREE_ATTR 467
#define NR_FILE_SETATTR 469

#define REFUSED SCMP_ACT_ERRNO(EPERM)

/* No command and no recorder needs these. */
static const int never[] = {
	/* The following reach into other processes or the kernel. */
	SCMP_SYS(process_madvise), SCMP_SYS(bpf), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
	SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register), SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module),
	SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(iopl), SCMP_SYS(ioperm), SCMP_SYS(modify_ldt), SCMP_SYS(add_key),
	SCMP_SYS(request_key), SCMP_SYS(keyctl), SCMP_SYS(uselib), SCMP_SYS(vmsplice),
	/* The following give another view of the file system, or access to files without names. */
	SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(setns), SCMP_SYS(unshare),
	SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(fsopen), SCMP_SYS(fsmount), SCMP_SYS(fsconfig), SCMP_SYS(fspick),
	SCMP_SYS(mount_setattr), SCMP_SYS(open_by_handle_at), SCMP_SYS(mknod), SCMP_SYS(mknodat),
	/* The following change attributes of files, which Landlock does not restrict. */
	SCMP_SYS(chmod), SCMP_SYS(fchmodat), NR_FCHMODAT2, SCMP_SYS(chown), SCMP_SYS(lchown), SCMP_SYS(fchownat), SCMP_SYS(setxattr),
	SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), NR_SETXATTRAT, SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr),
	NR_REMOVEXATTRAT, NR_OPEN_TREE_ATTR, NR_FILE_SETATTR,
	/* The following change settings of the machine. */
	SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(acct),
	SCMP_SYS(quotactl), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(syslog), SCMP_SYS(vhangup),
};

static const int executes[] = { SCMP_SYS(execve), SCMP_SYS(execveat) };
static const int traces[] = { SCMP_SYS(ptrace), SCMP_SYS(process_vm_writev) };
static const int reads_others[] = { SCMP_SYS(process_vm_readv), SCMP_SYS(pidfd_getfd), SCMP_SYS(kcmp) };
static const int counts[] = { SCMP_SYS(perf_event_open) };
static const int connects[] = { SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen) };
/* These calls change files, or can. The flags of openat2() are behind a pointer, which filters cannot follow, so it is refused
 * altogether. */
static const int changes_files[] = {
	SCMP_SYS(creat), SCMP_SYS(openat2), SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(link), SCMP_SYS(linkat),
	SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(rmdir),
	SCMP_SYS(truncate), SCMP_SYS(utime), SCMP_SYS(utimes), SCMP_SYS(utimensat), SCMP_SYS(futimesat), SCMP_SYS(fchown),
};

#define REFUSE(f, list) refuse(f, list, sizeof(list) / sizeof(list[0]))
static int refuse(scmp_filter_ctx f, const int *list, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = list[i] < 0 ? 0 : seccomp_rule_add(f, REFUSED, list[i], 0); /* a negative number: this processor has no such call */
	return ret;
}

/* Refuse a call if its argument n has one of these bits.  Returns 0 or -errno. */
static int refuse_bits(scmp_filter_ctx f, int call, unsigned n, const unsigned *bit, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = seccomp_rule_add(f, REFUSED, call, 1, SCMP_CMP(n, SCMP_CMP_MASKED_EQ, bit[i], bit[i]));
	return ret;
}

/* Refuse fchmod() calls that let other users write to a file, or execute it with the rights of its owner or group. Landlock does not
 * restrict them, and a descriptor that was opened for reading suffices. */
static int refuse_open_modes(scmp_filter_ctx f)
{
	static const unsigned bits[] = { S_ISUID, S_ISGID, S_IWGRP, S_IWOTH };

	return refuse_bits(f, SCMP_SYS(fchmod), 1, bits, sizeof(bits) / sizeof(bits[0]));
}

static int refuse_opening_to_write(scmp_filter_ctx f)
{
	static const unsigned bits[] = { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC };
	int ret = refuse_bits(f, SCMP_SYS(openat), 2, bits, sizeof(bits) / sizeof(bits[0]));

	return ret ? ret : refuse_bits(f, SCMP_SYS(open), 1, bits, sizeof(bits) / sizeof(bits[0]));
}

/* Refuse TIOCSTI and TIOCLINUX, which put text into the input of the terminal, where the user's shell would execute it. */
static int refuse_typing(scmp_filter_ctx f)
{
	static const unsigned requests[] = { TIOCSTI, TIOCLINUX };
	int ret = 0;

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]) && ret == 0; i++)
		ret = seccomp_rule_add(f, REFUSED, SCMP_SYS(ioctl), 1, SCMP_CMP(1, SCMP_CMP_MASKED_EQ, 0xffffffffu, requests[i]));
	return ret;
}

/* Refuse sockets that are not SOCK_STREAM, which is 1 in the lowest four bits.  The bits above are SOCK_NONBLOCK, SOCK_CLOEXEC, and others
 * that the kernel refuses.  A datagram needs no connection. */
static int refuse_other_types(scmp_filter_ctx f)
{
	static const unsigned bits[] = { 2, 4, 8 };
	int ret = refuse_bits(f, SCMP_SYS(socket), 1, bits, sizeof(bits) / sizeof(bits[0]));

	_Static_assert(SOCK_STREAM == 1, "the type that is permitted");
	return ret ? ret : seccomp_rule_add(f, REFUSED, SCMP_SYS(socket), 1, SCMP_CMP(1, SCMP_CMP_MASKED_EQ, 0xf, 0));
}

/* Refuse MSG_FASTOPEN, which connects a TCP socket without connect(), and sends the data. */
static int refuse_fast_open(scmp_filter_ctx f)
{
	static const unsigned bit[] = { MSG_FASTOPEN };
	int ret = refuse_bits(f, SCMP_SYS(sendto), 3, bit, 1);

	ret = ret ? ret : refuse_bits(f, SCMP_SYS(sendmsg), 2, bit, 1);
	return ret ? ret : refuse_bits(f, SCMP_SYS(sendmmsg), 3, bit, 1);
}

/* Permit only TCP sockets of IPv4, and refuse to connect them, so that they can only listen. Other protocols have larger numbers than TCP,
 * or no SOCK_STREAM. Returns 0 or -errno. */
static int refuse_all_but_listening(scmp_filter_ctx f)
{
	int ret = seccomp_rule_add(f, REFUSED, SCMP_SYS(connect), 0);

	ret = ret ? ret : seccomp_rule_add(f, REFUSED, SCMP_SYS(socket), 1, SCMP_CMP(0, SCMP_CMP_LT, AF_INET, 0));
	ret = ret ? ret : seccomp_rule_add(f, REFUSED, SCMP_SYS(socket), 1, SCMP_CMP(0, SCMP_CMP_GT, AF_INET, 0));
	ret = ret ? ret : seccomp_rule_add(f, REFUSED, SCMP_SYS(socket), 1, SCMP_CMP(2, SCMP_CMP_GT, IPPROTO_TCP, 0));
	ret = ret ? ret : refuse_other_types(f);
	return ret ? ret : refuse_fast_open(f);
}

static int add_rules(scmp_filter_ctx f, unsigned permissions, bool writes_files)
{
	int ret = REFUSE(f, never);

	ret = ret ? ret : refuse_open_modes(f);
	ret = ret ? ret : refuse_typing(f);
	if (ret == 0 && !(permissions & CONFINE_EXEC))
		ret = REFUSE(f, executes);
	if (ret == 0 && !(permissions & CONFINE_PTRACE))
		ret = REFUSE(f, traces);
	if (ret == 0 && !(permissions & CONFINE_OTHERS_MEMORY))
		ret = REFUSE(f, reads_others);
	if (ret == 0 && !(permissions & CONFINE_PERF))
		ret = REFUSE(f, counts);
	if (ret == 0 && permissions & CONFINE_LISTEN)
		ret = refuse_all_but_listening(f);
	else if (ret == 0 && !(permissions & CONFINE_SOCKETS))
		ret = REFUSE(f, connects);
	if (ret == 0 && !writes_files && !(permissions & CONFINE_WRITE)) {
		ret = REFUSE(f, changes_files);
		ret = ret ? ret : refuse_opening_to_write(f);
	}
	return ret;
}

int syscall_filter_load(unsigned permissions, bool writes_files)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int ret;

	if (!f)
		return -ENOMEM;
	seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);
	ret = add_rules(f, permissions, writes_files);
	ret = ret ? ret : seccomp_load(f);
	seccomp_release(f);
	return ret;
}
