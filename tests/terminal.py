# SPDX-License-Identifier: MIT
"""What a command writes to a terminal."""
import fcntl
import os
import pty
import select
import struct
import termios
import time


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


class Screen:
    """A command on a terminal of the simplest kind that has a cursor (a VT52): what is on its screen, and who types."""

    def __init__(self, command, environment, lines=24, columns=80):
        self.lines, self.columns = lines, columns
        self.at = [0, 0]
        self.rest = b""
        self.cell = [[" "] * columns for _ in range(lines)]
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.execve(command[0], command, dict(environment, TERM="vt52"))

    def text(self):
        return [("".join(line)).rstrip() for line in self.cell]

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def is_cooked(self):
        """Does it show what is typed, and wait for the end of a line, as shells want it?"""
        flags = termios.tcgetattr(self.fd)[3]
        return bool(flags & termios.ICANON and flags & termios.ECHO)

    def wait(self, wanted, seconds):
        """Until wanted(lines of the screen) holds; False: it did not in that time, or the command ended."""
        end = time.monotonic() + seconds
        while not wanted(self.text()):
            if time.monotonic() > end or not self._read(0.2):
                return wanted(self.text())
        return True

    def wait_for_end(self, seconds):
        """The exit status as waitpid() has it; None: it still runs."""
        end = time.monotonic() + seconds
        while self.status is None and time.monotonic() < end:
            self._read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if pid else None
        return self.status

    def _read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self._show(self.rest + data)
        return bool(data)

    def _put(self, character):
        if self.at[1] >= self.columns:
            self.at[1] = self.columns - 1
        self.cell[self.at[0]][self.at[1]] = character
        self.at[1] += 1

    def _clear(self, screen):
        line, column = self.at
        self.cell[line][column:] = [" "] * (self.columns - column)
        for below in range(line + 1, self.lines if screen else 0):
            self.cell[below] = [" "] * self.columns

    def _obey(self, code, text):
        """An escape sequence; how many bytes it has, 0: more are to come."""
        if code == "Y":
            if len(text) < 4:
                return 0
            self.at = [min(text[2] - 32, self.lines - 1), min(text[3] - 32, self.columns - 1)]
            return 4
        moves = {"A": (-1, 0), "B": (1, 0), "C": (0, 1), "D": (0, -1), "I": (-1, 0)}
        if code in moves:
            self.at = [max(0, min(self.lines - 1, self.at[0] + moves[code][0])), max(0, min(self.columns - 1, self.at[1] + moves[code][1]))]
        elif code == "H":
            self.at = [0, 0]
        elif code in "JK":
            self._clear(code == "J")
        return 2

    def _show(self, text):
        i = 0
        while i < len(text):
            byte = text[i]
            if byte == 27:
                used = self._obey(chr(text[i + 1]), text[i:]) if i + 1 < len(text) else 0
            elif byte in (8, 10, 13):
                used = 1
                self.at = [self.at[0], max(0, self.at[1] - 1)] if byte == 8 else [self.at[0], 0] if byte == 13 else \
                    [min(self.lines - 1, self.at[0] + 1), self.at[1]]
            elif byte == 9:
                used, self.at[1] = 1, min(self.columns - 1, self.at[1] // 8 * 8 + 8)
            elif byte < 32:
                used = 1
            else:
                used = 1 if byte < 0x80 else 2 if byte < 0xe0 else 3 if byte < 0xf0 else 4
                if i + used > len(text):
                    used = 0
                else:
                    self._put(text[i:i + used].decode(errors="replace"))
            if not used:
                break
            i += used
        self.rest = text[i:]
