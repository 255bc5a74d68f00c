"""What is read from a table is what was written, or the file is refused."""

import io
import json
import sys

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from flips import refused

from freqdyna.core import tables
from freqdyna.core.errors import DamagedFileError
from freqdyna.core.tables import decode_table, encode_table

FACTS = {"settings": {"steps": 60, "hidden": [4, None]}, "provenance": {"machine": "é"}}


def columns():
    rng = np.random.default_rng(0)
    return {
        "seed": np.repeat(np.arange(3), 20),
        "return": rng.normal(size=60).astype(np.float32),
        "loss": np.zeros(60),
        "error": rng.normal(size=60).astype(np.float16),
        "count": np.arange(60, dtype=np.int32),
        "over": np.arange(60) % 2 == 0,
        "kind": np.repeat(["curve", "queue", "b"], 20),
    }


def is_same(found):
    table, facts = found
    return (
        facts == FACTS
        and list(table) == list(columns())
        and all(
            table[name].tolist() == values.tolist()
            and (name == "kind" or table[name].dtype == values.dtype)
            for name, values in columns().items()
        )
    )


@pytest.mark.parametrize("has_pyarrow", [True, False])
def test_no_flipped_bit_is_read_as_other_data(has_pyarrow, monkeypatch):
    if not has_pyarrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    contents = encode_table(columns(), FACTS)
    assert (contents[:4] == b"PAR1") == has_pyarrow
    assert is_same(decode_table(contents))
    assert refused(contents, 800, decode_table, is_same) > 300


def test_tables_of_version_0_1_have_no_checksum():
    for metadata, facts in (({b"freqdyna": json.dumps(FACTS).encode()}, FACTS), (None, {})):
        table = pyarrow.table(columns()).replace_schema_metadata(metadata)
        file = io.BytesIO()
        pyarrow.parquet.write_table(table, file)
        found, told = decode_table(file.getvalue())
        assert is_same((found, FACTS))
        assert told == facts


def test_a_table_without_its_checksum_is_refused():
    """Not taken for one of version 0.1, which had none."""
    contents = encode_table(columns(), FACTS)
    for name in (b"freqdyna.sha256", b"freqdyna.facts"):
        assert name in contents
        with pytest.raises(DamagedFileError, match="its checksum is missing"):
            decode_table(contents.replace(name, name[:-1] + b"_"))
    other = encode_table(columns() | {"loss": np.ones(60)}, FACTS)
    digest = contents[contents.index(b"freqdyna.sha256") :][16:90]
    assert digest not in other


def test_a_small_file_that_declares_a_huge_table_is_refused(monkeypatch):
    monkeypatch.setattr(tables, "_LARGEST_TABLE", 10_000)
    contents = encode_table({"seed": np.zeros(100_000)}, {})
    assert len(contents) < 1_000
    monkeypatch.setattr(tables, "_LARGEST_RATIO", 8e5 / len(contents) + 1)
    assert len(decode_table(contents)[0]["seed"]) == 100_000
    monkeypatch.setattr(tables, "_LARGEST_RATIO", 8e5 / len(contents) - 1)
    with pytest.raises(DamagedFileError, match="it has 100,000 rows"):
        decode_table(contents)
