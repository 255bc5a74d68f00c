"""Files are whole, are read as plain data, and one wrong bit is never read as other data."""

import os

import ml_dtypes
import numpy as np
import pytest
from flips import refused

from freqdyna.core import files
from freqdyna.core.errors import DamagedFileError, FreqdynaError

ARRAYS = {
    "x": np.random.default_rng(0).normal(size=(3, 4)),
    "a/b.c": np.arange(5, dtype=np.int8),
    "short": np.array([0.5, -3.0], ml_dtypes.bfloat16),
    "one": np.array(7),
    "none": np.zeros((0, 2), np.float32),
}
NOTE = {"step": 3, "name": "é"}
COLUMNS = {
    "seed": np.arange(50),
    "return": np.random.default_rng(1).normal(size=50).astype(np.float32),
    "ended": np.arange(50) % 2 == 0,
}


def same(one, other):
    return one[1] == other[1] and (
        [(name, a.dtype, a.shape, a.tobytes()) for name, a in one[0].items()]
        == [(name, a.dtype, a.shape, a.tobytes()) for name, a in other[0].items()]
    )


def test_arrays_come_back_with_their_types_and_no_flipped_bit_changes_them():
    contents = files.encode_arrays(ARRAYS, NOTE)
    assert same(files.decode_arrays(contents), (ARRAYS, NOTE))
    # A bit of a date in the archive carries no data.
    assert refused(contents, 700, files.decode_arrays, lambda r: same(r, (ARRAYS, NOTE))) > 233
    for end in (0, 100, -1):
        with pytest.raises(DamagedFileError):
            files.decode_arrays(contents[:end])


def test_pickles_are_not_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    np.savez(tmp_path / "trap.npz", **{"note.json": np.array([Trap()], object)})
    with pytest.raises(DamagedFileError):
        files.load_arrays(tmp_path / "trap.npz")
    assert not (tmp_path / "executed").exists()


def test_tables_come_back_and_every_flipped_bit_is_noticed():
    contents = files.encode_table(COLUMNS)
    assert same((files.decode_table(contents), {}), (COLUMNS, {}))
    assert refused(contents, 400, files.decode_table, lambda read: False) == 400


def test_every_flipped_bit_in_a_text_is_noticed():
    contents = files.encode_json(NOTE)
    assert files.decode_json(contents) == NOTE
    assert refused(contents, 400, files.decode_json, lambda read: False) == 400
    text = files.encode_toml("steps = 3\n", "A run")
    assert files.encode_toml(text.decode(), "A run") == text  # a copy is sealed again
    assert files.parse_toml(text.decode(), "") == {"steps": 3}
    assert refused(text, 400, files.check_seal, lambda read: False) == min(400, 8 * len(text))


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    files.write_atomically(path, b"old")

    def fail(file):
        file.write(b"new")
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        files.write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_one_process_at_a_time_holds_a_folder(tmp_path):
    with files.locked_folder(tmp_path / "run") as before:
        assert before is None
        with pytest.raises(FreqdynaError, match="out"), files.locked_folder(tmp_path / "run"):
            pass
    (tmp_path / "run" / files.OWNER).write_text("process 123 on there")  # it was killed
    for ended in ("process 123 on there", None):
        with files.locked_folder(tmp_path / "run") as before:
            assert before == ended
