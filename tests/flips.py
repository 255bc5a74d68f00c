"""Files in which one bit is wrong."""

import random
from collections.abc import Callable
from typing import Any

from freqdyna.core.errors import FreqdynaError


def refused(
    contents: bytes, number: int, read: Callable[[bytes], Any], is_same: Callable[[Any], bool]
) -> int:
    """How many of `number` flipped bits, one at a time, are refused.

    With the others, what is read must be the same. A refusal is a FreqdynaError of one line.
    """
    count, bits = 0, 8 * len(contents)
    for bit in random.Random(0).sample(range(bits), min(number, bits)):
        damaged = bytearray(contents)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            found = read(bytes(damaged))
        except FreqdynaError as error:
            count += len(str(error).splitlines()) == 1
        else:
            assert is_same(found), "read silently, but not what was written"
    return count
