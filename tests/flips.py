"""Files in which one bit is wrong."""

import random
from collections.abc import Callable, Iterator
from typing import Any

from freqdyna.core.errors import FreqdynaError


def flips(contents: bytes, number: int) -> Iterator[bytes]:
    """Copies of `contents`, each with one other bit flipped."""
    bits = 8 * len(contents)
    for bit in random.Random(0).sample(range(bits), min(number, bits)):
        damaged = bytearray(contents)
        damaged[bit // 8] ^= 1 << bit % 8
        yield bytes(damaged)


def refused(
    contents: bytes, number: int, read: Callable[[bytes], Any], is_same: Callable[[Any], bool]
) -> int:
    """How many of `number` flipped bits are refused; with the others, what is read is the same.

    Args:
        contents: The contents of a file.
        number: The number of bits to flip, one at a time.
        read: Reads the contents; may raise a FreqdynaError of one line, and nothing else.
        is_same: Whether what was read is what was written.

    """
    count = 0
    for damaged in flips(contents, number):
        try:
            found = read(damaged)
        except FreqdynaError as error:
            count += len(str(error).splitlines()) == 1
        else:
            assert is_same(found), "read silently, but not what was written"
    return count
