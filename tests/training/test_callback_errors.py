"""A failure of the user's code in a callback is told in one sentence."""

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from freqdyna.cli.listing import ListNames
from freqdyna.cli.main import main
from freqdyna.config import Config
from freqdyna.core.errors import RunFailedError
from freqdyna.training.callback_errors import callback_errors_explained


def simulator(x):
    raise ValueError("the simulator failed\nbecause of its memory")


def compiled(x):
    return jax.pure_callback(simulator, x, x)


def test_the_class_whose_code_failed_is_named_with_file_and_line():
    config = Config(algorithm="dyna", search_control="os:sep", model=f"{__name__}:Mine")
    with pytest.raises(RunFailedError) as told, callback_errors_explained(config):
        jax.block_until_ready(jax.jit(compiled)(jnp.zeros(3)))
    line = simulator.__code__.co_firstlineno + 1
    before, _, after = str(told.value).partition(Path(__file__).name)
    assert before.startswith(f"model is '{__name__}:Mine', which fails while it runs (")
    assert after == f", line {line}): ValueError: the simulator failed"


def test_the_command_line_tells_one_sentence(monkeypatch, capsys, caplog):
    def run(self):
        with callback_errors_explained(Config()):
            jax.block_until_ready(jax.jit(compiled)(jnp.zeros(2)))

    monkeypatch.setattr(ListNames, "run", run)
    with pytest.raises(SystemExit) as exited:
        main(["list"])
    assert exited.value.code == 1
    told = capsys.readouterr().err
    assert told.endswith("): ValueError: the simulator failed\n")
    assert (told.count("\n"), caplog.text) == (1, "")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "the environment, search-control or model fails"),
        ({"env": "a:A"}, "env is 'a:A', which fails"),
        (
            {"search_control": "b:B", "model": "c:C"},
            "search_control is 'b:B' or model is 'c:C', wh",
        ),
    ],
)
def test_whatever_may_have_failed_is_named(settings, told):
    settings = {"algorithm": "dyna", "search_control": "uniform"} | settings
    text = 'INTERNAL: Traceback:\n  File "/x/lib.py", line 3, in f\n    f()\nKeyError: 1'
    with (
        pytest.raises(RunFailedError, match=rf"^{told}.* \(/x/lib\.py, line 3\): KeyError: 1$"),
        callback_errors_explained(Config(**settings)),
    ):
        raise RuntimeError(text)


def test_other_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="another"), callback_errors_explained(Config()):
        raise RuntimeError("another")
