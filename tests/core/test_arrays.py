"""What is read from an archive is what was written, and nothing crafted does harm."""

import io
import itertools
import json
import os
import zipfile

import jax.numpy as jnp
import numpy as np
import pytest
from flips import refused

from freqdyna.core.arrays import decode_arrays, encode_arrays, load_arrays
from freqdyna.core.errors import DamagedFileError

ARRAYS = {
    "x": np.arange(6, dtype=np.float32).reshape(2, 3),
    "n": np.array(7, np.int32),
    "key": np.array([1, 2], np.uint32),
    "short": np.array([1.5, -0.25], jnp.bfloat16),
}
NOTE = {"step": 18, "config": {"discount": 0.99}}


def is_same(found):
    arrays, note = found
    return (
        note == NOTE
        and arrays.keys() == ARRAYS.keys()
        and all(
            np.array_equal(arrays[name], values) and arrays[name].dtype == values.dtype
            for name, values in ARRAYS.items()
        )
    )


def test_no_flipped_bit_is_read_as_other_data():
    contents = encode_arrays(ARRAYS, NOTE)
    assert is_same(decode_arrays(contents))
    assert refused(contents, 1000, decode_arrays, is_same) > 500


def archive(members, compression=zipfile.ZIP_STORED):
    """An archive with these members, whatever they are."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as zipped:
        for name, contents in members.items():
            zipped.writestr(name, contents)
    return file.getvalue()


def member(header, data=b""):
    """An array with this header and this data, which need not agree."""
    text = header.encode() + b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def plain(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def shaped(shape, dtype="<f4"):
    return f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}"


def note(text):
    return {"note.json.npy": plain(np.frombuffer(text, np.uint8))}


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (archive({"x.npy": plain(np.zeros(10_000))}, zipfile.ZIP_DEFLATED), "larger than the file"),
        (archive({"x.npy": plain(np.arange(2))}, zipfile.ZIP_BZIP2), "'x' is compressed"),
        (archive({"x.npy": member(shaped("(99999999999,)"))}), "not have the size of its shape"),
        (archive({"x.npy": member(shaped("(2,)"), bytes(12))}), "not have the size of its shape"),
        (archive({"x.npy": member(shaped("(-1,)"))}), "not have the size of its shape"),
        (archive({"x.npy": member(shaped("(2,)", "|O"), bytes(16))}), "has the type object"),
        (archive({"x.npy": member(shaped("(2,)", "<M8[s]"), bytes(16))}), "has the type datetime"),
        (archive({"x.npy": member(shaped("(10**9,)", "<U0"))}), "ValueError"),
        (archive({"x.npy": b"no array"}), "ValueError"),
        (archive(note(b"[" * 100_000)), "RecursionError"),
        (archive(note(b'{"step": ' + b"9" * 5_000 + b"}")), "ValueError"),
        (archive(note(b"[]")), "its note is not a JSON object"),
        (b"", "BadZipFile"),
        (b"PK rubbish", "BadZipFile"),
    ],
    ids=itertools.count(),
)
def test_crafted_archives_are_refused(contents, message):
    with pytest.raises(DamagedFileError, match=message):
        decode_arrays(contents)


def members_of(contents):
    with zipfile.ZipFile(io.BytesIO(contents)) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def test_an_archive_that_was_edited_is_refused():
    members = members_of(encode_arrays(ARRAYS, NOTE))
    assert is_same(decode_arrays(archive(members)))
    listed = json.loads(bytes(np.load(io.BytesIO(members["contents.json.npy"]))))
    other_note, other_type = (
        plain(np.frombuffer(json.dumps(listed | change).encode(), np.uint8))
        for change in ({"note": NOTE | {"step": 19}}, {"types": {"short": "float16"}})
    )
    for changes, message in (
        ({"x.npy": plain(ARRAYS["x"] + 1)}, "its arrays are not those that were written"),
        ({"more.npy": plain(np.zeros(3))}, "its arrays are not those that were written"),
        ({"contents.json.npy": other_note}, "its note is not the one that was written"),
        ({"contents.json.npy": other_type}, "its note is not the one that was written"),
    ):
        with pytest.raises(DamagedFileError, match=message):
            decode_arrays(archive(members | changes))
    del members["n.npy"]
    with pytest.raises(DamagedFileError, match="its arrays are not those that were written"):
        decode_arrays(archive(members))


def test_what_is_no_regular_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")  # opening it would wait for a writer
    (tmp_path / "folder.npz").mkdir()
    for name in ("pipe.npz", "folder.npz"):
        with pytest.raises(DamagedFileError, match=f"{name} is damaged .it is not a regular file"):
            load_arrays(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        load_arrays(tmp_path / "none.npz")
