import pytest

from freqdyna.agents import presets
from freqdyna.cli.main import main
from freqdyna.config import Config
from freqdyna.training import api


@pytest.fixture
def trained(monkeypatch):
    """The settings that are trained with some options, without training."""
    commands = []
    monkeypatch.setattr(api, "train", lambda **settings: commands.append(settings))
    monkeypatch.setattr("freqdyna.cli.train._show", lambda folder, result: None)
    others = {"preset", "out", "tensorboard", "wandb", "checkpoint_seconds", "init_from"}

    def train(*options):
        main(["train", *options])
        return Config.of({k: v for k, v in commands.pop().items() if k not in others})

    return train


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--total-timesteps=70"], {"steps": 70}),
        (["--gamma=0.5", "--lr", "0.25"], {"learner.discount": 0.5, "learner.learning_rate": 0.25}),
        (["--seed=3"], {"first_seed": 3, "seeds": 1}),
        (["--seed", "3", "--seeds", "5"], {"first_seed": 3, "seeds": 5}),
        (["--algorithm=dqn"], {"algorithm": "er"}),
        (
            ["--env=CartPole-v0", "--env.sutton-barto-reward", "True"],
            {"env.sutton_barto_reward": True},
        ),
        (
            ["--env=Pendulum-v1", "--algorithm=naf", "--env.g=3.0", "--env.episode-limit", "9"],
            {"env.g": 3.0, "env.episode_limit": 9, "learner.target_rate": 0.005},
        ),
        (
            ["--algorithm=dyna-value", "--learner.hidden", "8", "4", "--search-control.noise=0.5"],
            {"learner.hidden": (8, 4), "search_control.noise": 0.5, "search_control.limit": 200},
        ),
        (
            ["--algorithm=dyna", "--search-control", "frequency", "--model=ensemble"],
            {"search_control.probability": 0.5, "model.size": 5},
        ),
        (["--preset=paper", "--env=MazeGridWorld"], {"learner.hidden": (64, 64)}),
    ],
)
def test_options_are_settings_of_the_chosen_components(trained, options, settings):
    config = trained(*options)
    assert {name: config.get(name) for name in settings} == settings


def test_options_of_other_components_are_refused(capsys):
    learned = ["--algorithm=dyna", "--model=learned", "--model.size=3"]
    for options in (["--search-control.noise=1"], learned):
        with pytest.raises(SystemExit, match="2"):
            main(["train", *options])
    assert "size" in capsys.readouterr().err


def test_options_win_over_the_file_which_wins_over_the_preset(trained, tmp_path):
    file = tmp_path / "config.toml"
    stored = presets.config({"algorithm": "dyna-frequency", "search_control.noise": 0.3}, "paper")
    stored.save(file)
    config = trained("--config", str(file), "--preset=published", "--steps=7")
    assert (config.steps, config["search_control.noise"]) == (7, 0.3)
    assert config["planning.queue_size"] == 100_000
    other = trained("--config", str(file), "--algorithm=dyna", "--search-control=uniform")
    assert other.get("search_control.noise") is None
    plain = trained(f"--config={file}", "--algorithm", "er")
    assert (plain.algorithm, plain["learn_in_warmup"]) == ("er", True)


@pytest.mark.parametrize("part", ["trust = 'always'", "model = 'true'", "search_control = 'value'"])
def test_a_file_must_not_name_parts_that_the_algorithm_does_not_have(part, capsys, tmp_path):
    file = tmp_path / "config.toml"
    file.write_text(f"algorithm = 'er'\n{part}\n")
    with pytest.raises(SystemExit, match="2"):
        main(["train", "--config", str(file)])
    assert f"freqdyna: {part.partition(' ')[0]} is " in capsys.readouterr().err


def test_arguments_of_gymnasiums_environments_are_read_from_a_file(trained, tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('env = {name = "CartPole-v0", sutton_barto_reward = true, episode_limit = 9}')
    for options in ([], ["--algorithm=dyna-uniform"]):
        config = trained("--config", str(file), *options)
        assert (config["env.sutton_barto_reward"], config["env.episode_limit"]) == (True, 9)


def test_an_environment_gets_the_arguments_that_it_requires(trained, tmp_path, monkeypatch):
    (tmp_path / "sized.py").write_text(
        "from gymnasium import Env, spaces\n"
        "class Sized(Env):\n"
        "    action_space = spaces.Discrete(2)\n"
        "    def __init__(self, size):\n"
        "        self.observation_space = spaces.Box(0.0, 1.0, (size,))\n"
    )
    monkeypatch.chdir(tmp_path)
    assert trained("--env=sized:Sized", "--env.size=3")["env.size"] == 3


def test_the_help_shows_the_chosen_components_only(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    for options, named, missing in (
        ([], "--learner.double", "--search-control.states"),
        (["--algorithm=dyna"], "--search-control.candidates", "--search-control.noise"),
        (["--algorithm=dyna-value"], "--search-control.noise", "--search-control.candidates"),
    ):
        with pytest.raises(SystemExit, match="0"):
            main(["train", *options, "--help"])
        printed = capsys.readouterr().out
        assert named in printed
        assert missing not in printed
