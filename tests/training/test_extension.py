"""A run that is extended equals one with that number of steps from the start."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hand_made import result
from test_runs import assert_same_outcome

import freqdyna
from freqdyna import Config, FreqdynaError
from freqdyna.cli.main import main
from freqdyna.results import rewriting
from freqdyna.training.extension import extended_config

SETTINGS = {
    "env": "GridWorld",
    "algorithm": "prioritized-er",
    "seeds": 1,
    "steps": 15,
    "planning_steps": 1,
    "hidden": (4,),
    "batch_size": 4,
    "warmup_steps": 5,
    "eval_every": 10,
    "episode_limit": 8,
    "snapshot_steps": (12,),
    "progress": False,
}
"""Its last evaluation, at step 15, is not one of a longer run; nor is its buffer of 15 rows."""


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extended") / "short"
    return freqdyna.train(out=folder, **SETTINGS), folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "whole"
    freqdyna.train(out=folder, **SETTINGS | {"steps": 34})
    return folder


def test_an_extended_run_equals_a_longer_one_to_the_bit(short, whole, tmp_path, capsys):
    result, folder = short
    assert result.steps.tolist() == [10, 15]
    shutil.copytree(folder, tmp_path / "run")
    main(["resume", str(tmp_path / "run"), "--steps", "34"])
    assert "extended from 15 to 34 steps" in capsys.readouterr().out
    extended = freqdyna.load(tmp_path / "run")
    assert extended.steps.tolist() == [10, 20, 30, 34]
    assert_same_outcome(tmp_path / "run", whole)
    assert extended.config == freqdyna.load(whole).config
    # Twice is as good as once, and the same number of steps changes nothing.
    again = freqdyna.resume(tmp_path / "run", steps=34, progress=False)
    np.testing.assert_array_equal(again.returns, extended.returns)


def test_a_run_is_not_shortened_and_no_schedule_is_stretched(short, tmp_path):
    _, folder = short
    with pytest.raises(FreqdynaError, match="steps is 14; it must be 15 or greater"):
        freqdyna.resume(folder, steps=14, progress=False)
    with pytest.raises(FreqdynaError, match="steps is 0; it must be an integer, 1 or greater"):
        freqdyna.resume(folder, steps=0, progress=False)
    scheduled = Config(steps=100, exploration_fraction=0.1)
    with pytest.raises(FreqdynaError, match=r"exploration_fraction is 0\.1: the schedule"):
        extended_config(scheduled, 200)
    assert extended_config(scheduled, 100) == scheduled


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


class Killed(BaseException):
    """What happens instead of a kill."""


@pytest.fixture
def killed_at_the_second_file(monkeypatch):
    """A context in which files are replaced until the second one, where the process is killed."""
    written, write = [], rewriting.write_atomically

    def killed_at_the_second(path: Path, content):
        if written:
            raise Killed
        written.append(path)
        write(path, content)

    @contextmanager
    def patched():
        with monkeypatch.context() as context:
            context.setattr(rewriting, "write_atomically", killed_at_the_second)
            with pytest.raises(Killed):
                yield

    return patched


def test_a_run_whose_extension_was_killed_is_told_until_it_is_resumed(
    tmp_path, killed_at_the_second_file, capsys
):
    run, longer = (
        result([returns]).save(tmp_path / name)
        for name, returns in (("run", [1.0, 2.0]), ("longer", [1.0, 2.0, 3.0]))
    )
    with killed_at_the_second_file(), rewriting.rewritten(run) as staged:
        shutil.copytree(longer, staged, dirs_exist_ok=True)
    told = rf"was interrupted .* complete it with: freqdyna resume {run}"
    with pytest.raises(FreqdynaError, match=told):
        freqdyna.load(run)
    for command in ("plot", "compare"):
        with pytest.raises(SystemExit, match="2"):
            main([command, str(run), str(longer)])
        assert "was interrupted" in capsys.readouterr().err
    rewriting.finish_rewriting(run)  # what resume does first
    assert freqdyna.load(run).steps.tolist() == [10, 20, 30]


def test_a_killed_process_leaves_the_old_run_or_the_new_one(tmp_path, killed_at_the_second_file):
    run, figure = tmp_path / "run", b"not a file of the run"
    run.mkdir()
    old = {"config.toml": b"1", "snapshot-0000000001.npz": b"2", "metrics.npz": b"3"}
    for name, content in (old | {"curves.png": figure}).items():
        (run / name).write_bytes(content)
    new = {"config.toml": b"4", "checkpoint-0000000001.npz": b"5", "metrics.parquet": b"6"}

    def rewrite(files, killed=False):
        with rewriting.rewritten(run) as staged:
            for name, content in files.items():
                (staged / name).write_bytes(content)
            if killed:
                raise Killed

    with pytest.raises(Killed):
        rewrite(new, killed=True)
    assert files(run) == old | {"curves.png": figure}

    with killed_at_the_second_file():
        rewrite(new)
    rewriting.finish_rewriting(run)
    assert files(run) == new | {"curves.png": figure}
    assert sorted(path.name for path in run.iterdir()) == sorted(files(run))


def test_a_checkpoint_after_an_evaluation_that_longer_runs_lack_is_refused(short, tmp_path):
    """As version 0.1 and the development of 0.2 wrote them."""
    from freqdyna.training import checkpoint
    from freqdyna.training.extension import _ends_with_own_evaluation

    config = Config(steps=15, eval_every=10)
    rows = [{"return": np.zeros(1)}] * 2
    for kept, own in ((1, False), (2, True)):
        saved = checkpoint.RunCheckpoint(15, None, rows[:kept], {}, "cpu", 1)
        assert _ends_with_own_evaluation(saved, config) == own
