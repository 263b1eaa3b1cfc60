/* SPDX-License-Identifier: MIT */
/*
 * A fault that a file can use: what is written in it is done, with all rights that the process has.  Acts are separated by commas and end
 * with ';':
 *
 *	planted:PARSER:write=PATH,read=PATH,mode=PATH,exec=PATH,connect=PORT,send=PORT,fastopen=PORT,ptrace=PID;
 *
 * Each is done once by a process, and its result is a line on stderr: "planted PARSER ACT=ARGUMENT: done", or the error.
 */
#include "jitreg/base/planted.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ACTS_BYTES 2048

static int act_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	return fd < 0 || write(fd, "x", 1) != 1 || close(fd) ? -1 : 0;
}

static int act_read(const char *path)
{
	int fd = open(path, O_RDONLY);
	char byte;

	return fd < 0 || read(fd, &byte, 1) != 1 || close(fd) ? -1 : 0;
}

static int act_mode(const char *path)
{
	return chmod(path, 0777);
}

/* The child's error comes back by its status. */
static int act_exec(const char *path)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		execl(path, path, (char *)NULL);
		_exit(errno);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	errno = WEXITSTATUS(status);
	return status ? -1 : 0;
}

static struct sockaddr_in loopback(const char *port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)),
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
}

static int act_connect(const char *port)
{
	struct sockaddr_in a = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) || close(fd) ? -1 : 0;
}

static int send_byte(const char *port, int type, int flags)
{
	struct sockaddr_in a = loopback(port);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	return fd < 0 || sendto(fd, "x", 1, flags, (struct sockaddr *)&a, sizeof(a)) != 1 || close(fd) ? -1 : 0;
}

/* A datagram needs no connection. */
static int act_send(const char *port)
{
	return send_byte(port, SOCK_DGRAM, 0);
}

/* TCP Fast Open connects without connect(). */
static int act_fastopen(const char *port)
{
	return send_byte(port, SOCK_STREAM, MSG_FASTOPEN | MSG_NOSIGNAL);
}

static int act_ptrace(const char *pid)
{
	if (ptrace(PTRACE_SEIZE, (pid_t)atoi(pid), NULL, NULL))
		return -1;
	ptrace(PTRACE_DETACH, (pid_t)atoi(pid), NULL, NULL);
	return 0;
}

static const struct {
	const char *name;
	int (*act)(const char *argument);
} acts[] = { { "write", act_write }, { "read", act_read }, { "mode", act_mode }, { "exec", act_exec }, { "connect", act_connect },
	     { "send", act_send }, { "fastopen", act_fastopen }, { "ptrace", act_ptrace } };

static void do_act(const char *parser, char *text)
{
	char *argument = strchr(text, '=');

	if (!argument)
		return;
	*argument++ = 0;
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		if (strcmp(acts[i].name, text) == 0)
			dprintf(STDERR_FILENO, "planted %s %s=%s: %s\n", parser, text, argument,
				acts[i].act(argument) ? strerror(errno) : "done");
}

void planted_fault(const char *parser, const void *bytes, size_t nr)
{
	static int done[256]; /* by the parser's first letter: the PID that did it */
	char mark[64], text[ACTS_BYTES], *rest = text, *one;
	const char *at, *end;

	snprintf(mark, sizeof(mark), "planted:%s:", parser);
	at = nr ? memmem(bytes, nr, mark, strlen(mark)) : NULL;
	if (!at || done[(unsigned char)*parser] == getpid())
		return;
	at += strlen(mark);
	end = memchr(at, ';', nr - (size_t)(at - (const char *)bytes));
	if (!end || (size_t)(end - at) >= sizeof(text))
		return;
	done[(unsigned char)*parser] = getpid();
	snprintf(text, sizeof(text), "%.*s", (int)(end - at), at);
	while ((one = strsep(&rest, ",")))
		do_act(parser, one);
}
