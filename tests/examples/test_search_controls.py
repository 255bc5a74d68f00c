"""The search-controls in examples/ that combine others or use an ensemble."""

import importlib
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from searches import found, make_search, with_error

import freqdyna
from freqdyna import envs
from freqdyna.search_control import FromReplay, Uniform

KEY = jax.random.key(0)
EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = {
    **{"seeds": 2, "steps": 40, "planning_steps": 1, "learner.hidden": (4,), "batch_size": 4},
    **{"eval_every": 20, "warmup_steps": 0, "env.episode_limit": 30, "progress": False},
}


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)


@pytest.mark.parametrize("name", ["Mixture", "Bandit", "ParallelValue", "Disagreement"])
def test_each_trains(name):
    module = importlib.import_module({"ParallelValue": "parallel_value"}.get(name, name.lower()))
    components = {"search_control": f"{module.__name__}:{name}"}
    if name in ("Mixture", "Bandit"):  # by default they contain climbs, which take long to compile
        components = {"search_control": getattr(module, name)((FromReplay(5), Uniform(5)))}
    if name == "Disagreement":
        components["model"] = {"name": "ensemble", "size": 2}
    result = freqdyna.train("GridWorld", "dyna", **components, **SMALL)
    assert result.complete_seeds.kept.all()
    assert (result.metrics["search_states"] > 0).all()
    assert (result.metrics["search_non_finite"] == 0).all()


def test_a_mixture_has_the_states_and_the_memory_of_every_part():
    from mixture import Mixture
    from parallel_value import ParallelValue

    climbers = ParallelValue(states=3, persistent=True, noise=0.0)
    control = Mixture((FromReplay(5), Uniform(40), climbers))
    memory = control.init(envs.make("GridWorld"), KEY)
    assert [part if part is None else part.states.shape for part in memory] == [None, None, (3, 2)]
    search = make_search(lambda s: s[0], [(-1.0, 0.0)], terminal=lambda s: s[0] > 0)
    propose = jax.jit(lambda key: control.propose(replace(search, memory=memory), key))
    proposal = propose(KEY)
    states = found(proposal)
    assert (states[:5] == (-1, 0)).all()
    # Half of the uniform ones are terminal, and dropped.
    assert 8 + 5 < len(states) < 8 + 35
    assert (states[:, 0] <= 0).all()
    np.testing.assert_allclose(states[-3:, 0], -0.9, atol=1e-5)
    assert int(proposal.iterations) == 30


def test_a_bandit_listens_to_the_part_at_whose_states_the_error_falls():
    from bandit import LEAST_SHARE, Bandit

    steps, m = 120, 20
    # `replay` proposes −1, and `uniform` states above 0.
    control = Bandit((FromReplay(m), Uniform(m)), states=m, period=1)
    base = make_search(lambda s: s[0], [(-1.0, 0.5)], low=(0.0, 0.0), high=(1.0, 1.0))

    def step(memory, t):
        search = with_error(base, lambda s: jnp.where(s[0] < 0, 200.0 - t, 50.0))
        proposal = control.propose(
            replace(search, memory=memory, t=t), jax.random.fold_in(jax.random.key(1), t)
        )
        of_first = (proposal.states[:, 0] < 0).sum()
        return proposal.memory, (proposal.memory.shares(), of_first, proposal.count)

    memory = control.init(envs.make("GridWorld"), KEY)
    _, (shares, of_first, count) = jax.jit(
        lambda memory: jax.lax.scan(step, memory, jnp.arange(steps))
    )(memory)
    assert (count == m).all()
    # Gains tend to (1, 0), and their mean size is 1/2, so that shares tend to softmax(2, 0).
    best = np.exp(2) / (np.exp(2) + 1)
    np.testing.assert_allclose(shares[0], 0.5)
    expected = LEAST_SHARE + (1 - 2 * LEAST_SHARE) * best
    np.testing.assert_allclose(shares[-1, 0], expected, atol=1e-3)
    # The states of a step follow the shares before it, up to rounding.
    assert (np.abs(of_first[1:] - m * shares[:-1, 0]) < 1.001).all()
    assert control.snapshot(memory)["shares"].tolist() == [0.5, 0.5]


def test_pairs_are_sampled_in_proportion_to_the_disagreement():
    from disagreement import Disagreement

    search = make_search(lambda s: s[0], [(0.0,)], low=(-1.0,), high=(1.0,))

    def disagreement(s, action):  # about action 1, to the right of the centre
        return jnp.where((action == 1) & (s[0] > 0), s[0], 0.0)

    search = replace(search, disagreement=disagreement, num_actions=2)
    control = Disagreement(states=1000, candidates=4000)
    proposal = jax.jit(lambda key: control.propose(search, key))(KEY)
    states = found(proposal)
    assert len(states) == 1000
    assert (proposal.actions == 1).all()
    # The density is 2s on (0, 1), with variance 1/18; five standard errors, of the sample and of
    # the 1,000 candidates that it is taken from.
    assert abs(states.mean() - 2 / 3) < 5 * np.sqrt((1 / 1000 + 1 / 1000) / 18)
    assert states.min() > 0
