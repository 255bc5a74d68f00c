"""Names such as module:Class in run folders, sweeps and configuration files."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import freqdyna
from freqdyna.cli.main import main
from freqdyna.cli.user_modules import current_folder_on_path
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.results import run_folder
from freqdyna.results.result import Result
from freqdyna.training import api

SEARCH = MODEL = "evil:Evil"
ENV = "evil:Evil-v0"
CONFIG = Config(
    *("dyna-uniform", "GridWorld"), seeds=1, steps=40, eval_every=20, planning_steps=1, hidden=(4,)
).resolved()
OF_CODE = {
    "search_control": replace(CONFIG, algorithm="dyna", search_control=SEARCH),
    "env": replace(CONFIG, algorithm="er", env=ENV),
    "model": replace(CONFIG, model=MODEL),
}
NEW_RUN, RUN, SWEEP = "new", "run", "sweep"


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
    with run_folder.new_folder(NEW_RUN, config):
        pass
    Result(
        config=config,
        provenance={},
        seeds=np.arange(1),
        steps=np.array([20, 40]),
        metrics={"return": np.zeros((1, 2), np.float32)},
        parameters=np.zeros((1, 32), np.float32),
        layer_sizes=(2, 4, 4),
    ).save(RUN)
    name, value = request.param, getattr(config, request.param)
    settings = f'algorithm = "{config.algorithm}"\n{name} = "{value}"\n'
    (tmp_path / "config.toml").write_text(settings)
    (tmp_path / SWEEP).mkdir()
    (tmp_path / SWEEP / "sweep.toml").write_text(f"[settings]\n{settings}")
    return request.param


IMPORTING = [
    ["resume", NEW_RUN],
    ["train", "--config", "config.toml"],
    ["sweep", f"{SWEEP}/sweep.toml", "--out", "out"],
]


@pytest.mark.parametrize("command", IMPORTING, ids=lambda command: command[0])
def test_code_in_files_is_imported_only_if_the_user_allows_it(foreign, command, capsys):
    assert exit_code(*command) == 2
    told = capsys.readouterr().err
    assert f"{foreign} is 'evil:Evil" in told
    assert "which would import the module 'evil'; if you trust it, allow that with" in told
    assert "--allow-code" in told
    assert told.count("\n") == 1
    if command[0] == "sweep" and foreign != "env":
        return  # its workers import the class
    assert exit_code(*command, "--allow-code") == 2
    assert "importing 'evil' fails (evil.py, line 1): SystemExit: it ran" in capsys.readouterr().err


@pytest.mark.parametrize("foreign", ["env"], indirect=True)
def test_watching_a_policy_imports_its_environment_only_if_allowed(foreign, capsys):
    assert exit_code("watch", RUN) == 2
    assert "env is 'evil:Evil-v0', which would import the module 'evil'" in capsys.readouterr().err
    assert exit_code("watch", RUN, "--allow-code") == 2
    assert "SystemExit: it ran" in capsys.readouterr().err
    result = freqdyna.load(RUN)
    for use in (result.policy, lambda seed, **how: result.watch("policy.gif", seed, **how)):
        with pytest.raises(FreqdynaError, match=r"allow that with .*in Python: allow_code=True"):
            use(0)
        sys.path.insert(0, "")  # as in an interactive session
        with pytest.raises(FreqdynaError, match="SystemExit: it ran"):
            use(0, allow_code=True)
        sys.path.remove("")


@pytest.mark.usefixtures("foreign")
def test_commands_that_read_results_import_nothing(tmp_path, capsys):
    main(["plot", RUN])
    main(["report", RUN, "--out", "report.html"])
    main(["status", SWEEP])
    assert freqdyna.load_sweep(SWEEP) == {}
    assert "evil" not in sys.modules
    assert "it ran" not in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("options", "imports"),
    [
        (["--search-control=uniform"], False),
        (["--search-control", "evil:Evil"], True),
        (["--search_control=evil:Evil"], True),
        (["--search-control=evil:Other"], True),
        (["--search-control=uniform", "--model=evil:Evil"], True),
    ],
)
@pytest.mark.parametrize("foreign", ["search_control"], indirect=True)
def test_names_typed_as_options_need_no_permission(foreign, options, imports, monkeypatch, capsys):
    """The option takes precedence over the file, and the user has typed it."""
    trained = []
    if not imports:
        monkeypatch.setattr(api, "train", lambda **settings: trained.append(settings))
        monkeypatch.setattr("freqdyna.results.table.print_table", lambda rows: None)
        main(["train", "--config", "config.toml", *options])
        assert trained[0]["search_control"] == "uniform"
        return
    assert exit_code("train", "--config", "config.toml", *options) == 2
    assert "SystemExit: it ran" in capsys.readouterr().err


@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize(("options", "importable"), [([], False), (["--allow-code"], True)])
def test_the_current_folder_is_importable_only_if_code_is_allowed(
    options, importable, monkeypatch, capsys
):
    """A foreign folder may contain a module of any name that some package tries to import."""
    seen = []

    def resume(*_, **__):
        seen.append("" in sys.path)
        raise FreqdynaError("seen")

    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.setattr(api, "resume", resume)
    assert exit_code("resume", NEW_RUN, *options) == 2
    assert seen == [importable]
    assert "" not in sys.path


def test_a_class_that_is_imported_already_needs_no_permission(monkeypatch):
    """Nothing runs by finding it; so a notebook can resume a run of a class that it defines."""
    from freqdyna import search_control

    strategy = search_control.find("uniform")
    name = f"freqdyna.search_control.uniform:{strategy.__name__}"
    assert search_control.find(name) is strategy
    monkeypatch.delitem(sys.modules, "freqdyna.search_control.uniform")
    with pytest.raises(FreqdynaError, match=r"would import the module 'freqdyna\.search_con"):
        search_control.find(name)


def test_the_current_folder_comes_after_everything_that_is_installed(monkeypatch):
    before = [path for path in sys.path if path]
    monkeypatch.setattr(sys, "path", list(before))
    with current_folder_on_path(True):
        assert sys.path == [*before, ""]
    with current_folder_on_path(False):
        assert sys.path == before
    assert sys.path == before
