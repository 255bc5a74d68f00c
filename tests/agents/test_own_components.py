"""A user's own search-control and model, whose fields are settings without being registered."""

import jax
import jax.numpy as jnp
import pytest

from freqdyna import Config, FreqdynaError, SearchControl, envs
from freqdyna.agents import algorithms
from freqdyna.agents.models import Model
from freqdyna.config import values_of
from freqdyna.core.files import parse_toml
from freqdyna.search_control import Proposal

ENV = envs.make("GridWorld")


class Around(SearchControl):
    """States around the centre."""

    number: int = 3
    width: float = 0.1

    def propose(self, search, key):
        return Proposal.of(0.5 + self.width * jax.random.normal(key, (self.number, 2)))


class Drifts(Model):
    """Every state moves by the same amount."""

    drift: float = 0.25

    def query(self, state, s, action, noise):
        return s + self.drift, jnp.asarray(-1.0), jnp.zeros((), bool)


def planning_of(config, components=None):
    agent = algorithms.build(config, ENV, components=components)
    state = jax.eval_shape(agent.dry_step, jax.random.key(0))
    assert state.queue.rows.shape == (100_000, 2)
    return agent


@pytest.mark.slow
def test_they_are_set_in_python_by_name_and_in_files():
    objects = {"search_control": Around(width=0.2), "model": Drifts(drift=0.5)}
    base = Config.of({"algorithm": "dyna", "env": "GridWorld"})
    config = algorithms.complete(base, planning_of(base, objects))
    names = {"search_control": f"{__name__}:Around", "model": f"{__name__}:Drifts"}
    assert {name: config[name] for name in names} == names
    own = {"search_control.number": 3, "search_control.width": 0.2, "model.drift": 0.5}
    assert {name: config[name] for name in own} == own

    again = Config.of(parse_toml(config.to_toml(), "a run"))
    assert again == config
    for settings in (again, Config.of({"algorithm": "dyna", "env": "GridWorld", **names, **own})):
        planning = planning_of(settings).planning
        assert values_of(planning.search_control) == {"number": 3, "width": 0.2}
        assert values_of(planning.model) == {"drift": 0.5}
    for name, wrong in {"search_control.number": 1.5, "model.drift": "far"}.items():
        with pytest.raises(FreqdynaError, match=name.rpartition(".")[2]):
            planning_of(again.changed({name: wrong}))
