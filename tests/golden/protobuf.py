# SPDX-License-Identifier: MIT
"""The wire format of protocol buffers (protobuf.dev/programming-guides/encoding), as far as profiles use it: numbers, and bytes."""


def varints(data):
    """Numbers that stand one behind the other, as those of a packed field do."""
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def fields(data):
    """(number, value) of a message's fields; a value is a number, or bytes."""
    at = 0

    def varint():
        nonlocal at
        begin = at
        while data[at] >= 128:
            at += 1
        at += 1
        return next(varints(data[begin:at]))
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            n = varint()
            at += n
            yield key >> 3, data[at - n:at]
        else:
            raise ValueError(f"wire type {key & 7}")


def numbers(message, number):
    """The values of a repeated number, packed or not."""
    return [v for n, value in fields(message) if n == number for v in ([value] if isinstance(value, int) else varints(value))]
