import numpy as np
import pytest
from corridor import Corridor

from freqdyna import FreqdynaError
from freqdyna.agents.models.true import host_model
from freqdyna.envs.gym import space_of

STATES = np.array([[[0.95, 3.0], [0.2, 1.0]], [[0.0, 0.0], [0.5, 9.0]]], np.float32)
ACTIONS = np.array([[1, 0], [1, 1]])


def test_it_says_what_the_environment_says():
    next_states, rewards, terminals = host_model(Corridor, space_of(Corridor())).ask(
        STATES, ACTIONS
    )
    expected = np.array([[[1.0, 4.0], [0.1, 2.0]], [[0.1, 1.0], [0.6, 10.0]]])
    np.testing.assert_allclose(next_states, expected, atol=1e-5)
    np.testing.assert_array_equal(terminals, [[True, False], [False, False]])
    assert (rewards == -1).all()
    assert rewards.shape == (2, 2)


@pytest.mark.parametrize(
    ("part", "wrong", "words"),
    [
        (0, lambda states: states[:, :1], r"next states of shape \(1, 1\) .*; it must be \(1, 2\)"),
        (1, lambda rewards: -1.0, r"rewards of shape \(\) .*; it must be \(1,\)"),
        (2, lambda over: over[:, None], r"terminal flags of shape \(1, 1\) .*; it must be \(1,\)"),
    ],
)
def test_an_outcome_of_another_shape_is_refused(monkeypatch, part, wrong, words):
    simulate = Corridor.simulate

    def misshapen(self, states, actions):
        found = list(simulate(self, states, actions))
        found[part] = wrong(found[part])
        return tuple(found)

    monkeypatch.setattr(Corridor, "simulate", misshapen)
    with pytest.raises(FreqdynaError, match=f"simulate of 'Corridor' returned {words}"):
        host_model(Corridor, space_of(Corridor()))


def test_an_error_in_simulate_keeps_its_class_and_gets_a_note(monkeypatch):
    monkeypatch.setattr(Corridor, "simulate", lambda self, states, actions: {}["table"])
    with pytest.raises(KeyError) as raised:
        host_model(Corridor, space_of(Corridor()))
    assert raised.value.__notes__[0].startswith("simulate")
