import pytest
from flips import refused

from freqdyna.config import Config
from freqdyna.core.checksums import (
    check_toml,
    json_with_checksum,
    json_without_checksum,
    toml_with_checksum,
)
from freqdyna.core.errors import DamagedFileError

FACTS = {"command": "freqdyna train", "devices": 2, "versions": {"jax": "0.8"}, "preset": None}


def test_no_flipped_bit_is_read_as_other_facts():
    contents = json_with_checksum(FACTS).encode()
    assert json_without_checksum(contents) == FACTS
    assert refused(contents, 3000, json_without_checksum, lambda found: found == FACTS) > 1000


def test_no_flipped_bit_is_read_as_other_settings(tmp_path):
    config, path = Config(seeds=3, hidden=(4,), discount=0.5), tmp_path / "config.toml"

    def read(contents):
        path.write_bytes(contents)
        check_toml(contents.decode(errors="replace"))
        return Config.load(path)

    contents = toml_with_checksum(config.to_toml()).encode()
    assert read(contents) == config
    assert refused(contents, 300, read, lambda found: found == config) > 200


def test_a_text_that_lost_its_end_is_refused():
    text = toml_with_checksum('version = "0.2.0"\nseeds = 2\n[vary]\ndiscount = [0.9, 0.99]\n')
    assert toml_with_checksum(text) == text
    assert check_toml(text)
    for length in range(len(text) - 1):
        with pytest.raises(DamagedFileError):
            check_toml(text[:length])


def test_texts_of_version_0_1_have_no_checksum():
    assert json_without_checksum(b'{"devices": 2}') == {"devices": 2}
    check_toml("seeds = 2\n")


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"[" * 100_000, b"\xff", b"9" * 5_000])
def test_what_is_no_json_object_is_refused(text):
    with pytest.raises(DamagedFileError, match=r"it is not (a JSON object|JSON)"):
        json_without_checksum(text)
