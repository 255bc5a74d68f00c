"""Settings that an algorithm does not have are refused before anything is created."""

import pytest

from freqdyna import Config, FreqdynaError, envs
from freqdyna.agents import algorithms
from freqdyna.envs.resolve import resolved


@pytest.mark.parametrize(
    ("setting", "value"),
    [("activation", "relu"), ("double", True), ("loss", "huber"), ("max_gradient_norm", 1.0)],
)
def test_a_table_has_no_settings_of_networks(setting, value):
    env = envs.make("DynaMaze")
    config = Config.of({"algorithm": "tabular-dyna-q", "env": env.name, **{setting: value}})
    message = f"{setting} is {value!r}, but algorithm 'tabular-dyna-q' has no network; omit it"
    with pytest.raises(FreqdynaError, match=message):
        algorithms.build(resolved(config, env), env)


def test_double_q_learning_needs_discrete_actions():
    env = envs.make("Pendulum-v1")
    config = Config.of({"algorithm": "naf", "env": env.name, "learner": {"double": True}})
    message = "double is True, but the actions of 'Pendulum-v1' are continuous; it must be False"
    with pytest.raises(FreqdynaError, match=message):
        algorithms.build(resolved(config, env), env)
