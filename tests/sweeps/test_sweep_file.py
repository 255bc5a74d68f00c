"""The sweep file: presets, unset values, equal units, and what is refused."""

import itertools

import pytest
from small import SWEEP

import freqdyna
from freqdyna import FreqdynaError
from freqdyna.core.files import encode_toml
from freqdyna.sweeps.sweep import Sweep


def test_a_preset_gives_what_the_file_does_not():
    text = """
        preset = "published"
        settings = {algorithm = "dyna-frequency", search_control.limit = 5}
        vary = {env = ["GridWorld", "MountainCar-v0"]}
    """
    maze, car = Sweep.parse(text).configs()
    assert (car["env.goal_reward"], maze["env.goal_reward"]) == (1.0, 0.0)
    for setting, value in (("limit", 5), ("boundary", "project")):
        assert {config[f"search_control.{setting}"] for config in (car, maze)} == {value}


def test_agents_that_differ_in_several_settings():
    agents = [{"algorithm": "er"}, {"algorithm": "dyna", "search_control.states": 5}]
    text = """
        [[agents]]
        algorithm = "er"
        [[agents]]
        algorithm = "dyna"
        search_control = {states = 5}
    """
    assert Sweep.parse(text).varied() == agents
    both = Sweep.parse(f"{text}\n[vary]\nsteps = [100, 200]")
    assert both.varied() == [agent | {"steps": n} for agent in agents for n in (100, 200)]
    assert [config["steps"] for config in both.configs()] == [100, 200, 100, 200]
    assert both.configs()[2]["search_control.states"] == 5


def test_an_unset_setting_can_be_varied_and_searched():
    name = "learner.max_gradient_norm"
    sweep = Sweep.parse(f'[vary]\n{name} = ["None", 10]')
    assert [config[name] for config in sweep.configs()] == [None, 10.0]
    searched = Sweep.parse(f'[search.space]\n{name} = {{choices = ["None", 10]}}')
    assert searched.config({name: "None"})[name] is None


def test_numbers_that_are_equal_are_one_unit():
    def names(values):
        text = SWEEP.replace(
            "learner.learning_rate = [0.001, 0.003]", f"learner.discount = {values}"
        )
        return [unit.name for unit in Sweep.parse(text).units()]

    assert names([1]) == names([1.0]) == names([1, 1.0])
    assert names([0.0]) == names([-0.0]) != names([1])


def test_code_in_a_sweep_file_is_not_imported(tmp_path, monkeypatch):
    text = '[search]\n[search.space]\nenv = {choices = ["GridWorld", "evil:Env-v0"]}'
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "sweep.toml"
    file.write_bytes(encode_toml(text, ""))
    with pytest.raises(FreqdynaError, match="evil"):
        Sweep.read(file, allow_code=False)
    # Whoever reads results, or their state, imports nothing.
    assert freqdyna.load_sweep(str(tmp_path)) == {}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("= 1", "TOML"),
        ("[grid]", "grid"),
        ("[seeds]\nnumber = 0", "number"),
        ("[settings]\nseeds = 2", "seeds"),
        ("[vary]\nsteps = 5", "steps"),
        ("[settings]\nsteps = 5\n[vary]\nsteps = [5]", "steps"),
        ('[settings]\nalgorithm = "ex"', "ex"),
        ('[search]\nspace = {algorithm = {choices = ["er", "ex"]}}', "ex"),
        ('[search]\nobjective = "best"\nspace = {batch_size = {low = 1, high = 2}}', "objective"),
        ("[search.space]\nlearning_rate = {low = 0.0, high = 1.0, log = true}", "learning_rate"),
        ("[settings]\nhidden = [4]\n[search.space]\nhidden = {choices = [[4]]}", "hidden"),
        ("[vary]\nmodel = ['true']\n[search.space]\nbatch_size = {low = 1, high = 2}", "vary"),
        ("preset = 3", "preset"),
        ("agents = 3", "agents"),
        ("[settings]\nsteps = 5\n[[agents]]\nsteps = 6", "steps"),
        ('[[agents]]\nalgorithm = "ex"', "ex"),
        # Also for an environment that is not created before a worker does.
        (
            '[settings]\nenv = "FrozenLake-v1"\n[vary]\nalgorithm = ["er", "dyna"]\n'
            'search_control = ["value"]',
            "search_control",
        ),
    ],
    ids=itertools.count(),
)
def test_bad_sweep_files_are_refused(tmp_path, text, name):
    file = tmp_path / "sweep.toml"
    file.write_text(text)
    with pytest.raises(FreqdynaError, match=name):
        Sweep.read(file, allow_code=False)
