import jax.numpy as jnp
import numpy as np

from freqdyna import envs
from freqdyna.agents.base import Diagnostics
from freqdyna.search_control import Proposal

SPACE, RULES = envs.make("GridWorld"), ("frequency", "value")


def searched(diagnostics, by_rule):
    """The diagnostics after a search of so many iterations and vanished steps of each rule."""
    iterations, vanished = jnp.asarray(by_rule).sum(axis=0)
    found = Proposal(
        states=jnp.full((1, 2), 0.5),
        count=jnp.asarray(1),
        iterations=iterations,
        restarts=jnp.asarray(0),
        vanished=vanished,
        by_rule=jnp.asarray(by_rule),
    )
    return diagnostics.after_search(found, SPACE, jnp.asarray(1))


def test_vanished_directions_are_a_share_of_the_steps_of_their_rule():
    both = searched(searched(Diagnostics.zero(2), [[4, 3], [6, 0]]), [[4, 1], [2, 1]])
    metrics = both.metrics(True, False, climb_rules=RULES)
    assert metrics["climb_vanished_frequency"] == 4 / 8
    assert metrics["climb_vanished_value"] == 1 / 8
    assert metrics["climb_vanished"] == 5 / 16
    again = searched(both.reset(), [[0, 0], [5, 1]]).metrics(True, False, climb_rules=RULES)
    assert np.isnan(again["climb_vanished_frequency"])
    np.testing.assert_allclose(again["climb_vanished_value"], 0.2)


def test_one_rule_has_one_share():
    metrics = searched(Diagnostics.zero(), [[4, 3]]).metrics(True, False)
    assert [name for name in metrics if name.startswith("climb_vanished")] == ["climb_vanished"]
    assert metrics["climb_vanished"] == 3 / 4
