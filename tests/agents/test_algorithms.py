"""Settings that an algorithm does not have are refused before anything is created."""

import pytest

from freqdyna import Config, FreqdynaError, envs
from freqdyna.agents import algorithms


@pytest.mark.parametrize(
    ("env", "algorithm", "setting", "value"),
    [
        ("Pendulum-v1", "naf", "learner.double", True),
        ("GridWorld", "er", "planning.queue_size", 10),
        ("GridWorld", "dyna-value", "search_control", "uniform"),
        ("GridWorld", "er", "planning_steps", 0),
    ],
)
def test_what_an_algorithm_does_not_have_is_refused(env, algorithm, setting, value):
    config = Config.of({"algorithm": algorithm, "env": env, setting: value})
    with pytest.raises(FreqdynaError, match=setting.replace(".", "|")):
        algorithms.build(config, envs.make(env))
