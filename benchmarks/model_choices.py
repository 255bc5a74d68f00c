"""What each choice in the learned model brings: the ensemble, and the same without one of them.

`python benchmarks/model_choices.py` collects the transitions of `er` on six domains, lets every
model predict each of them before it learns from it, and writes and prints
`results/model_choices.json`: about an hour on two cores. Errors are those of steps 1,000 to
4,000, relative to a trivial prediction: that nothing moves, the mean reward, and the mean rate of
terminations. "calibration" is the rank correlation of the variance of two members with the squared
error, which the weights of planned transitions need.
"""

import json
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from development_domains import Landing, Tanks
from jax.flatten_util import ravel_pytree
from jaxtyping import Array
from samples import origin
from scipy.stats import spearmanr

import freqdyna.agents.models.ensemble as ensemble
from freqdyna import envs
from freqdyna.agents.algorithms import build
from freqdyna.agents.models import Learned
from freqdyna.agents.models.ensemble import Ensemble, EnsembleState, Moments, Scales
from freqdyna.agents.networks import init_xavier
from freqdyna.config import Config
from freqdyna.envs.space import Transition

STORED = Path(__file__).parents[1] / "results" / "model_choices.json"
SEEDS, STEPS, FIRST = 2, 4_000, 1_000
DOMAINS: dict[str, Any] = {
    **{name: envs.make(name) for name in ("Acrobot-v1", "CartPole-v1", "MountainCar-v0")},
    **{"GridWorld": envs.make("GridWorld"), "Landing": Landing(), "Tanks": Tanks()},
}


measured_scales = Moments.scales


def no_scales(moments: Moments) -> Scales:
    """All units are 1; terminations keep their weight."""
    n, zero, one = len(moments.mean) // 2 - 1, jnp.zeros(()), jnp.ones(())
    unit = jnp.ones(n)
    return measured_scales(moments)._replace(
        state=(jnp.zeros(n), unit), change=unit, reward=(zero, one)
    )


class RandomHeads(Ensemble):
    """Output layers that do not begin with zero."""

    def init(self, key: Array) -> EnsembleState:
        """As in `Ensemble`, with Xavier's initial values in all layers."""
        keys = jax.random.split(key, self.size)
        params = jax.vmap(lambda k: ravel_pytree(init_xavier(k, self._sizes, jax.nn.silu))[0])(keys)
        return eqx.tree_at(lambda state: state.params, super().init(key), params)


def everything_once(rows: Array, members: int) -> Array:
    """Every member learns from all transitions."""
    return jnp.ones((members, len(rows)))


def squared(errors: Array, targets: Array) -> Array:
    """The squared loss, as large as Huber's for small errors."""
    return (errors - targets) ** 2 / 2


MODELS: dict[str, tuple[Any, dict[tuple[Any, str], Any], int]] = {
    # The model, what is replaced in which module, and updates per step.
    "ensemble": (Ensemble(), {}, 1),
    "no running deviations": (Ensemble(), {(Moments, "scales"): no_scales}, 1),
    "output layers not zero at first": (RandomHeads(), {}, 1),
    "squared loss of changes": (Ensemble(), {(optax, "huber_loss"): squared}, 1),
    "no greater weight of terminations": (Ensemble(), {(ensemble, "GREATEST_WEIGHT"): 1.0}, 1),
    "no bootstrap": (Ensemble(), {(ensemble, "bootstrap_weights"): everything_once}, 1),
    "two members": (Ensemble(size=2), {}, 1),
    "two updates per step": (Ensemble(), {}, 2),
    "four updates per step": (Ensemble(), {}, 4),
    "one network, without deviations": (Learned(), {}, 1),
}


def transitions(env: Any) -> Transition:
    """What `er` sees in its first steps, of shape (seeds, steps, ...)."""
    config = Config.of({"algorithm": "er", "env": env.name, "replay.capacity": STEPS})
    agent = build(config, env)

    def run(key: Array) -> Array:
        state = jax.lax.fori_loop(0, STEPS, lambda t, s: agent.step(s, t), agent.init(key))
        return state.replay.rows

    rows = jax.jit(jax.vmap(run))(jax.random.split(jax.random.key(5000), SEEDS))
    return jax.vmap(jax.vmap(Transition.unpack))(rows)


def predicted(model: Any, updates: int, seen: Transition, key: Array) -> Any:
    """Predict every transition of a seed, then learn from those so far."""
    size = model.learn_batch

    def step(state: Any, t: Array) -> tuple[Any, Any]:
        now = jax.tree.map(lambda x: x[t], seen)
        step_key = jax.random.fold_in(key, t)
        both = model.two_outcomes(state, now.state, now.action, step_key)
        mean = model.query(state, now.state, now.action, jnp.zeros(model.noise_size))

        def learn(i: Array, state: Any) -> Any:
            places = jax.random.randint(jax.random.fold_in(step_key, i), (size,), 0, t + 1)
            return model.learn(state, jax.tree.map(lambda x: x[places], seen))

        state = jax.lax.fori_loop(0, jnp.where(t + 1 < size, 0, updates), learn, state)
        return state, (mean, both[0])

    return jax.lax.scan(step, model.init(key), jnp.arange(STEPS))[1]


def scores(seen: Transition, answers: Any) -> dict[str, float]:
    """Errors relative to trivial predictions, and calibration; means over seeds."""
    (next_state, reward, end), both = jax.tree.map(lambda x: np.asarray(x)[:, FIRST:], answers)
    real = jax.tree.map(lambda x: np.asarray(x)[:, FIRST:], seen)
    size = np.sqrt(((real.next_state - real.state) ** 2).mean((0, 1)))
    size = np.where(size > 0, size, 1)
    error = ((next_state - real.next_state) / size) ** 2
    result = {"change": float(np.sqrt(error.mean()))}
    if (deviation := real.reward.std()) > 0:
        result["reward"] = float(np.sqrt(((reward - real.reward) ** 2).mean()) / deviation)
    if real.terminal.sum() > 0:
        chance = np.clip(end.astype(float), 1e-4, 1 - 1e-4)
        log_loss = -np.where(real.terminal, np.log(chance), np.log(1 - chance)).mean()
        rate = real.terminal.mean()
        trivial = -rate * np.log(rate) - (1 - rate) * np.log(1 - rate)
        result["termination"] = float(log_loss / trivial)
    variance = (both / size).var(2).mean(-1)
    if variance.max() > 0:
        ranks = [spearmanr(v, e.mean(-1))[0] for v, e in zip(variance, error, strict=True)]
        result["calibration"] = float(np.mean(ranks))
    return result


def main() -> None:
    """Measure what is missing, and print the table."""
    stored: dict[str, Any] = json.loads(STORED.read_text()) if STORED.exists() else {"scores": {}}
    for env_name, env in DOMAINS.items():
        missing = [name for name in MODELS if f"{name}, {env_name}" not in stored["scores"]]
        if not missing:
            continue
        seen = transitions(env)
        for name in missing:
            model, replaced, updates = MODELS[name]
            before = {place: getattr(*place) for place in replaced}
            for place, value in replaced.items():
                setattr(*place, value)
            of_seed = jax.jit(jax.vmap(partial(predicted, model.bind(env), updates)))
            answers = of_seed(seen, jax.random.split(jax.random.key(0), SEEDS))
            stored["scores"][f"{name}, {env_name}"] = scores(seen, answers)
            for place, value in before.items():
                setattr(*place, value)
            stored["origin"] = origin()
            print(name, env_name, stored["scores"][f"{name}, {env_name}"], flush=True)
            STORED.write_text(json.dumps(stored, indent=1) + "\n")
    print(table(stored["scores"]))


def table(stored: dict[str, dict[str, float]]) -> str:
    """Geometric means over the domains, in Markdown; of the calibration the mean."""
    lines = ["| model | change | reward | termination | calibration |", "|---|---|---|---|---|"]
    for name in MODELS:
        cells = []
        for kind in ("change", "reward", "termination", "calibration"):
            of_kind = [stored[f"{name}, {env}"].get(kind) for env in DOMAINS]
            values = [value for value in of_kind if value is not None]
            if not values:
                cells.append("")
                continue
            mean = np.mean(values) if kind == "calibration" else np.exp(np.mean(np.log(values)))
            cells.append(f"{mean:.2f}")
        lines.append("| " + " | ".join([name, *cells]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
