"""Compiled programs are kept, where the user lets them be."""

from pathlib import Path

import jax
import pytest

from freqdyna.training.engines import keep_compiled_programs


@pytest.fixture
def setting():
    before = jax.config.values["jax_compilation_cache_dir"]
    yield
    jax.config.update("jax_compilation_cache_dir", before)


@pytest.mark.usefixtures("setting")
def test_the_folder_is_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jax.config.update("jax_compilation_cache_dir", None)
    keep_compiled_programs()
    assert Path(jax.config.values["jax_compilation_cache_dir"]).parent == tmp_path / "freqdyna"


@pytest.mark.usefixtures("setting")
def test_a_folder_that_the_user_chose_stays(tmp_path):
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    keep_compiled_programs()
    assert jax.config.values["jax_compilation_cache_dir"] == str(tmp_path)


@pytest.mark.usefixtures("setting")
def test_a_user_without_a_home_keeps_nothing(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    jax.config.update("jax_compilation_cache_dir", None)
    keep_compiled_programs()
    assert jax.config.values["jax_compilation_cache_dir"] is None
