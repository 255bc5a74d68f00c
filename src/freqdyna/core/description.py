"""Descriptions of components as text, for checking later whether another one is the same."""

import dataclasses
import re
import zlib
from typing import Any

import equinox as eqx
import jax
import numpy as np

_ADDRESS = re.compile(" at 0x[0-9a-fA-F]+")
"""A memory address in the `repr` of a function or object, which differs between processes."""


def describe(value: Any) -> str:
    """The class of a dataclass instance, the value of every field, and a checksum of its arrays."""
    values = [
        f"{field.name}={_ADDRESS.sub('', repr(getattr(value, field.name)))}"
        for field in dataclasses.fields(value)
    ]
    # The `repr` of an array in an equinox module has its shape only.
    for leaf in jax.tree.leaves(eqx.filter(value, eqx.is_array)):
        values.append(f"crc32={zlib.crc32(np.asarray(leaf).tobytes()):08x}")
    return f"{type(value).__name__}({', '.join(values)})"
