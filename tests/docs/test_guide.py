"""The code of the README and of the guide runs, with one small training; its commands parse."""

import re
import shlex
import sys
import tomllib
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import freqdyna
from freqdyna import Config
from freqdyna.agents.algorithms import completed
from freqdyna.cli.main import _parse
from freqdyna.sweeps.sweep import Sweep

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FIRST = ["README.md", "docs/index.md", "docs/first-run.md", "docs/settings.md"]
SMALL = {
    **{"seeds": 4, "steps": 40, "warmup_steps": 10, "eval_every": 20, "env.episode_limit": 20},
    **{"planning_steps": 1, "learner.hidden": (4,), "batch_size": 4, "snapshot_steps": (40,)},
}


def blocks(name, language):
    text = (ROOT / name).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def python_of(name):
    return blocks(name, "python")


def commands_of(page):
    """Indented lines, and those of shell blocks."""
    text = page.read_text().replace("\\\n", " ")
    lines = re.findall(r"^    (.*)$", text, re.MULTILINE)
    for block in re.findall(r"^```shell\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        lines += block.splitlines()
    words = [shlex.split(line, comments=True) for line in lines if line.startswith("freqdyna ")]
    return [command[1:] for command in words if "--help" not in command]


@pytest.fixture(scope="module")
def trained():
    """The result that stands for those of the pages."""
    return freqdyna.train("MountainCar-v0", "dyna-uniform", progress=False, **SMALL)


@pytest.mark.parametrize("name", FIRST)
def test_the_first_examples_run(name, trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def checked(*arguments, **settings):
        freqdyna.check(*arguments, **settings)
        return trained

    monkeypatch.setattr(freqdyna, "train", checked)
    monkeypatch.setattr(freqdyna, "load", lambda path: trained)
    monkeypatch.syspath_prepend(ROOT / "examples")
    exec("\n".join(python_of(name)).replace("[5_000]", "[40]"), {})


def test_the_comparison_of_the_guide_runs(trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("er", "df"):
        trained.save(f"runs/{name}")
    (code,) = python_of("docs/compare.md")
    exec(code, {})
    assert Path("table.csv").is_file()


def test_the_environment_of_the_guide_has_steps(monkeypatch):
    scope = {}
    monkeypatch.setattr(freqdyna, "train", lambda *_, **__: None)
    exec(python_of("docs/your-own-environment.md")[-1], scope)
    env, key = scope["Corridor"](), jax.random.key(0)
    after, reward, terminal = env.transition(env.reset(key), jnp.int32(1), key)
    assert (after.shape, reward, terminal) == ((1,), -1, False)


def test_the_files_of_the_guide_are_read():
    (file,) = blocks("docs/settings.md", "toml")
    config = completed(Config.of(tomllib.loads(file)))
    assert config["search_control.step_size"] == 0.02
    for file in blocks("docs/sweeps.md", "toml"):
        assert Sweep.parse(file).settings["env"] == "MountainCar-v0"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_have_only_options_that_exist(page, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    for command in commands_of(page):
        # A name that stands for the reader's own, and an environment of an extra.
        if "my_module:MyEnv" not in command and "LunarLander-v3" not in command:
            _parse(command)
    for name in ("my_model", "td_error"):
        sys.modules.pop(name, None)
