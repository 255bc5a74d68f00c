from dataclasses import fields

import pytest

import freqdyna
from freqdyna.cli.main import main
from freqdyna.cli.train import BASIC, GROUPS, Train
from freqdyna.config import Config


@pytest.fixture
def trained(monkeypatch):
    """What is trained with the options of the command line, without training."""
    commands = []
    monkeypatch.setattr(Train, "run", lambda self: commands.append(self))

    def train(*options):
        main(["train", *options])
        return commands.pop()

    return train


def test_every_setting_is_in_one_group():
    named = [*BASIC, *(name for names in GROUPS.values() for name in names)]
    assert sorted(named) == sorted(field.name for field in fields(Config))


def test_options_become_settings_of_every_group(trained):
    options = ["--algorithm=dyna-value", "--hidden", "8", "4", "--search-states=3", "--out=a"]
    options += ["--climb-noise", "0.5", "--model=learned", "--episode-limit=9", "--eval-every=7"]
    expected = Config.of(
        {
            "algorithm": "dyna-value",
            "model": "learned",
            "eval_every": 7,
            "learner": {"hidden": (8, 4)},
            "search_control": {"states": 3, "noise": 0.5},
            **{"env.episode_limit": 9},
        }
    )
    command = trained(*options)
    assert command.settings == expected
    assert (str(command.out), command.typed_names) == ("a", ("learned",))
    assert trained().settings == Config()
    paper = trained("--preset=paper", "--algorithm=er")
    assert paper.settings == Config.of({"algorithm": "er"}, "paper")


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--total-timesteps=70"], {"steps": 70}),
        (["--total_timesteps", "70"], {"steps": 70}),
        (["--gamma=0.5", "--lr=0.25"], {"learner.discount": 0.5, "learner.learning_rate": 0.25}),
        (["--seed=3"], {"first_seed": 3, "seeds": 1}),
        (["--seed", "3", "--seeds", "5"], {"first_seed": 3, "seeds": 5}),
        (["--first-seed=3"], {"first_seed": 3}),
        (["--algorithm=dqn"], {"algorithm": "er"}),
        (
            ["--env=Pendulum-v1", "--env-kwargs", "g=3.0"],
            {"env": "Pendulum-v1", "env_kwargs": {"g": 3.0}},
        ),
    ],
)
def test_names_of_other_libraries_are_known(trained, options, settings):
    assert trained(*options).settings == Config.of({**settings})


def test_the_help_has_groups_with_the_basic_settings_first(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit, match="0"):
        main(["train", "--help"])
    shown = capsys.readouterr().out
    order = ["--algorithm", "--steps", "--out", "learning options", "--learning-rate"]
    order += ["search-control options", "climbing options", "model options", "evaluation options"]
    places = [shown.index(text) for text in order]
    assert places == sorted(places)
    assert "The discount factor (gamma)" in shown


def test_the_version_is_printed(capsys):
    main(["--version"])
    assert capsys.readouterr().out == f"freqdyna {freqdyna.__version__}\n"
