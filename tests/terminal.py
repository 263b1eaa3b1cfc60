# SPDX-License-Identifier: MIT
"""What a command writes to a terminal."""
import os
import pty


def on_terminal(command, environment):
    """All bytes of it, escape sequences and carriage returns as well; environment: all that it has."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(command[0], command, environment)
    text = b""
    try:
        while chunk := os.read(fd, 65536):
            text += chunk
    except OSError:  # the terminal's other end is closed
        pass
    os.waitpid(pid, 0)
    return text
