"""Names such as module:Class in run folders, sweeps and configuration files."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import freqdyna
from freqdyna.cli.main import main
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import encode_toml
from freqdyna.results.folder import begin, new_folder
from freqdyna.results.result import Result
from freqdyna.training import api

SEARCH = MODEL = "evil:Evil"
ENV = "evil:Evil-v0"
SMALL = {
    **{"planning_steps": 1, "learner.hidden": (4,)},
    **{"learner.activation": "tanh", "learner.layer_norm": False},
}
CONFIG = Config("dyna-uniform", "GridWorld", seeds=1, steps=40, eval_every=20, settings=SMALL)
OF_CODE = {
    "search_control": replace(CONFIG, algorithm="dyna", search_control=SEARCH),
    "env": replace(CONFIG, algorithm="er", env=ENV),
    "model": replace(CONFIG, model=MODEL),
}
NEW_RUN, RUN, OTHER, SWEEP = "new", "run", "other", "sweep"


def exit_code(*arguments):
    with pytest.raises(SystemExit) as exited:
        main([str(argument) for argument in arguments])
    return exited.value.code


@pytest.fixture(params=OF_CODE)
def foreign(request, tmp_path, monkeypatch):
    """The current folder: a module that must not be imported, and files that name it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text("raise SystemExit('it ran')")
    config = OF_CODE[request.param]
    with new_folder(NEW_RUN) as folder:
        begin(folder, config, {})
    run = Result(
        config=config,
        provenance={},
        seeds=np.arange(1),
        steps=np.array([20, 40]),
        metrics={"return": np.zeros((1, 2), np.float32)},
        parameters=np.zeros((1, 32), np.float32),
        layer_sizes=(2, 4, 4),
    )
    run.save(RUN)
    replace(run, config=config.changed({"batch_size": 8})).save(OTHER)
    name, value = request.param, getattr(config, request.param)
    settings = f'algorithm = "{config.algorithm}"\n{name} = "{value}"\n'
    (tmp_path / "config.toml").write_text(settings)
    (tmp_path / SWEEP).mkdir()
    (tmp_path / SWEEP / "sweep.toml").write_bytes(encode_toml(f"[settings]\n{settings}", ""))
    return request.param


READING = [
    ["compare", RUN, OTHER],
    ["report", RUN, "--out", "report.html"],
    ["status", SWEEP],
]
TRAINING = [
    ["resume", NEW_RUN],
    ["train", "--config", "config.toml"],
    ["sweep", f"{SWEEP}/sweep.toml", "--out", "out"],
]


def refused(foreign, capsys):
    """Check that nothing was imported, and that the sentence says how to allow it."""
    assert f"{foreign} is 'evil:Evil" in capsys.readouterr().err
    assert "evil" not in sys.modules


def test_commands_that_train_import_code_only_if_it_is_allowed(foreign, capsys):
    for command in TRAINING:
        assert exit_code(*command) == 2
        refused(foreign, capsys)
        assert exit_code(*command, "--allow-code") == "it ran"


@pytest.mark.parametrize("foreign", ["env"], indirect=True)
def test_commands_that_create_the_environment_import_it_only_if_allowed(foreign, capsys):
    for command in (["watch", RUN], ["export", RUN]):
        assert exit_code(*command) == 2
        refused(foreign, capsys)
        assert exit_code(*command, "--allow-code") == "it ran"


@pytest.mark.parametrize("foreign", ["env"], indirect=True)
def test_a_loaded_result_imports_its_environment_only_if_allowed(foreign, monkeypatch):
    monkeypatch.setattr(sys, "path", ["", *sys.path])  # as in an interactive session
    result = freqdyna.load(RUN)
    for use in (result.policy, lambda seed: result.watch("policy.gif", seed)):
        with pytest.raises(FreqdynaError, match="evil"):
            use(0)
    assert "evil" not in sys.modules
    with pytest.raises(SystemExit, match="it ran"):
        freqdyna.load(RUN, allow_code=True)
    with pytest.raises(FreqdynaError, match=f"{foreign} is .*evil"):
        freqdyna.resume(NEW_RUN, progress=False)


@pytest.mark.slow
@pytest.mark.usefixtures("foreign")
def test_commands_that_read_results_import_nothing(capsys):
    for command in READING:
        main(command)
    assert freqdyna.load_sweep(SWEEP) == {}
    assert "evil" not in sys.modules
    assert "it ran" not in "".join(capsys.readouterr())


@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize("foreign", ["search_control"], indirect=True)
def test_names_typed_as_options_need_no_permission(monkeypatch):
    """The option takes precedence over the file, and the user has typed it."""
    train = ["train", "--config", "config.toml"]
    for options in (["--search_control=evil:Evil"], ["--search-control=uniform", "--model=evil:E"]):
        assert exit_code(*train, *options) == "it ran"
    trained = []
    monkeypatch.setattr(api, "train", lambda **settings: trained.append(settings))
    monkeypatch.setattr("freqdyna.cli.train._show", lambda folder, result: None)
    main([*train, "--search-control=uniform"])
    assert trained[0]["search_control"] == "uniform"


@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize("foreign", ["env"], indirect=True)
def test_the_current_folder_is_importable_only_if_code_is_allowed(monkeypatch):
    """A foreign folder may contain a module of any name that some package tries to import."""
    seen = []

    def resume(*_, **__):
        seen.append("" in sys.path)
        raise FreqdynaError("seen")

    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.setattr(api, "resume", resume)
    assert exit_code("resume", NEW_RUN) == exit_code("resume", NEW_RUN, "--allow-code") == 2
    assert seen == [False, True]
    assert "" not in sys.path
