import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from searches import found, make_search

from freqdyna import Config, FreqdynaError, envs
from freqdyna.search_control import SEARCH_CONTROLS, MixtureSearch
from freqdyna.search_control.mixture import apportioned

KEY = jax.random.key(0)


@pytest.mark.parametrize(
    ("total", "shares", "counts"),
    [
        (20, (0.8, 0.2), [16, 4]),
        (20, (0.7, 0.2, 0.1), [14, 4, 2]),
        (10, (1.0, 1.0, 1.0), [4, 3, 3]),
        (7, (5.0, 3.0, 2.0), [4, 2, 1]),  # exactly 3.5, 2.1 and 1.4
        (3, (0.4, 0.4, 0.2), [1, 1, 1]),  # exactly 1.2, 1.2 and 0.6
        (1, (1.0, 1.0), [1, 0]),
        (5, (2.0,), [5]),
    ],
)
def test_states_are_shared_out_by_the_largest_remainders(total, shares, counts):
    assert apportioned(total, shares) == counts


def test_every_part_proposes_its_share():
    search = make_search(lambda s: s[0], [(-1.0, 0.0)], terminal=lambda s: s[0] > 0)
    config = Config(
        mixture=("replay", "uniform", "value"),
        mixture_shares=(0.5, 0.4, 0.1),
        search_states=100,
        climb_limit=30,
        climb_noise=0.0,
    )
    control = MixtureSearch.from_config(config)
    assert [getattr(part, "states", None) for part in control.parts[:2]] == [50, 40]
    search = replace(search, memory=control.init(envs.make("GridWorld"), KEY))
    proposal = jax.jit(lambda key: control.propose(search, key))(KEY)
    states = found(proposal)
    assert (states[:50] == (-1, 0)).all()
    # About half of the uniform ones are terminal, and dropped; the climb finds all of its own.
    np.testing.assert_allclose(states[-10:, 0], -1 + 0.01 * np.arange(1, 11), atol=1e-5)
    assert 60 + 10 < len(states) < 60 + 30
    assert (states[:, 0] <= 0).all()
    assert (int(proposal.iterations), int(proposal.restarts), int(proposal.vanished)) == (10, 0, 0)


def test_every_part_has_its_own_memory():
    config = Config(
        mixture=("parallel-value", "uniform", "td-climb"), climb_persistent=True, search_states=7
    )
    control = MixtureSearch.from_config(config)
    memory = control.init(envs.make("GridWorld"), KEY)
    assert [part if part is None else part.states.shape for part in memory] == [
        (3, 2),
        None,
        (2, 2),
    ]


def test_a_part_without_a_state_is_omitted():
    config = Config(mixture=("uniform", "replay", "value"), search_states=2)
    assert len(MixtureSearch.from_config(config).parts) == 2


@pytest.mark.parametrize("name", ["mixture", "bandit"])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mixture": ("uniform", "mixture")}, "mixture names 'mixture'; its parts must"),
        ({"mixture": ("bandit",)}, "mixture names 'bandit'; its parts must"),
        ({"mixture": ("disagreement",)}, "parts must propose states without actions"),
        ({"mixture": ("uniforn",)}, "unknown search-control in mixture 'uniforn'; known, nearest"),
        ({"mixture": ("no_such_module:Mine",)}, "unknown search-control in mixture"),
    ],
)
def test_what_cannot_be_a_part_is_refused(name, settings, message):
    with pytest.raises(FreqdynaError, match=message):
        SEARCH_CONTROLS[name].from_config(Config(**settings, search_states=20))


def test_no_code_is_imported_by_the_name_of_a_part(tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text("raise SystemExit('it ran')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(FreqdynaError, match="unknown search-control in mixture 'evil:Evil'"):
        MixtureSearch.from_config(Config(mixture=("evil:Evil",), search_states=20))
    assert "evil" not in sys.modules


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mixture_shares": (1.0,)}, "mixture_shares has 1 shares, but mixture names 2"),
        ({"mixture_shares": (1.0, 0.0)}, r"mixture_shares is 0\.0; it must be"),
        ({"mixture": ()}, r"mixture is \(\); it must be one name or more"),
        ({"mixture": "uniform"}, "mixture is 'uniform'; it must be one name or more"),
    ],
)
def test_impossible_shares_are_refused(settings, message):
    with pytest.raises(FreqdynaError, match=message):
        MixtureSearch.from_config(Config(**settings, search_states=20))


def test_states_of_one_part_are_those_of_that_search_control():
    search = make_search(lambda s: s[0], [(0.0, 0.0)])
    control = MixtureSearch.from_config(Config(mixture=("uniform",), search_states=5))
    proposal = control.propose(replace(search, memory=(None,)), KEY)
    alone = SEARCH_CONTROLS["uniform"].from_config(Config(search_states=5))
    same_key = jax.random.split(KEY, 1)[0]
    np.testing.assert_array_equal(proposal.states, alone.propose(search, same_key).states)
    assert jnp.asarray(proposal.count) == 5
