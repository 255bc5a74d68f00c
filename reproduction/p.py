"""P: prioritized sampling and its limits, the claims of a second paper in its own setting.

"Understanding and Mitigating the Limitations of Prioritized Experience Replay" (Pan, Mei,
Farahmand, White, Yao, Rohani and Luo, UAI 2022) says, for regression: sampling in proportion to
|error| with the squared loss is sampling uniformly with the cubic loss; it is faster than the
squared loss early in learning; outdated priorities and too few points limit it; and Langevin
dynamics on log |error|, which samples anywhere, has neither limit.

The function, network and noise are those of figure 1. Number of updates, points and step size of
the climbs are our choices, made before the first run. What is sampled anywhere has targets of the
true function with the same noise, which a data set does not have.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freqdyna.agents.networks import init_network
from freqdyna.results.chart import Axis, Chart, Legend, LineStyle, Panel, SeedCurve
from freqdyna.results.statistics import bootstrap_interval
from reproduction import claims
from reproduction.claims import Claim, Statement
from reproduction.comparisons import Comparison, judge, mean_with_interval
from reproduction.curves import SHADED
from reproduction.regression import (
    BATCH,
    EVALUATE_EVERY,
    HIGH,
    LEARNING_RATE,
    LOW,
    NOISE,
    OPTIMIZER,
    SIZES,
    TEST_POINTS,
    Fit,
    f_sin,
    noisy,
    predict,
)
from reproduction.study import Columns, Findings, Part, Stored, Unit

SEEDS, UPDATES = 30, 30_000
MANY, FEW = 4000, 400
STEP = 0.05
"""√α of the Langevin dynamics: the deviation of a step, a fifth of the shorter period of f_sin."""
SMALLEST = 1e-3
"""Is added to |error|, so that every point can be sampled, and the logarithm is finite."""
EARLY = 1 / 3
"""The part of the run that counts as early."""


@dataclass(frozen=True)
class Method:
    """How mini-batches are sampled, and the power of the error in the loss."""

    sampling: str
    """"uniform", "prioritized" (a priority changes when its point is sampled), "up to date" (all
    change before each update), or "Langevin"."""
    points: int = MANY
    power: int = 2
    color: str = "black"


METHODS = {
    "uniform": Method("uniform", color="blue"),
    "uniform, cubic loss": Method("uniform", power=3, color="darkorange"),
    "prioritized": Method("prioritized", color="red"),
    "prioritized, up to date": Method("up to date", color="black"),
    "prioritized, up to date, 400 points": Method("up to date", FEW, color="gray"),
    "uniform, 400 points": Method("uniform", FEW, color="lightblue"),
    "Langevin": Method("Langevin", FEW, color="green"),
}
SAME = Statement(
    "prioritized sampling with the squared loss is uniform sampling with the cubic one"
)
EARLIER = Statement("prioritized sampling is better than uniform sampling early in learning")
OUTDATED = Statement("outdated priorities make prioritized sampling worse")
COVERAGE = Statement("few points make prioritized sampling worse")
CLIMBS = Statement("Langevin dynamics on log |error| is better than prioritized sampling")
NOTES = (
    "The squared and the cubic loss have the same direction of the expected gradient; Adam, which "
    "the first paper used, hardly depends on its length.",
    f"Early is the first third of {UPDATES:,} updates. Langevin dynamics starts at the {FEW} "
    "points, and asks the true function for its targets.",
)


class Sampler(NamedTuple):
    """What sampling remembers."""

    priorities: Float[Array, " points"]
    chains: Float[Array, " batch"]


class Task(NamedTuple):
    """The points and the test set of a seed."""

    x: Float[Array, " points"]
    y: Float[Array, " points"]
    test: Float[Array, " tests"]


def start(points: int, key: PRNGKeyArray) -> tuple[Fit, Sampler, Task]:
    """The start of a seed, the same network for every method."""
    keys = jax.random.split(key, 4)
    x = jax.random.uniform(keys[0], (points,), minval=LOW, maxval=HIGH)
    test = jax.random.uniform(keys[2], (TEST_POINTS,), minval=LOW, maxval=HIGH)
    params = ravel_pytree(init_network(keys[3], SIZES))[0]
    y = noisy(x, keys[1])
    sampler = Sampler(jnp.abs(predict(params, x) - y) + SMALLEST, x[:BATCH])
    return Fit(params, OPTIMIZER.init(params)), sampler, Task(x, y, test)


def langevin(
    params: Float[Array, " p"], x: Float[Array, " b"], key: PRNGKeyArray
) -> Float[Array, " b"]:
    """One step of chains whose stationary density is proportional to |error|, in [-2, 2]."""

    def height(x: Float[Array, ""]) -> Float[Array, ""]:
        error = predict(params, x[None])[0] - f_sin(x)
        return jnp.log(jnp.abs(error) + SMALLEST)

    drift = jnp.clip(STEP**2 / 2 * jax.vmap(jax.grad(height))(x), -STEP, STEP)
    moved = x + drift + STEP * jax.random.normal(key, x.shape)
    moved = jnp.where(moved > HIGH, 2 * HIGH - moved, moved)  # reflected at both ends
    return jnp.where(moved < LOW, 2 * LOW - moved, moved)


def update(
    method: Method, fit: Fit, sampler: Sampler, task: Task, key: PRNGKeyArray
) -> tuple[Fit, Sampler]:
    """One Adam step on a mini-batch that a method samples."""
    sample_key, noise_key = jax.random.split(key)
    indices: Int[Array, " b"] | None = None
    if method.sampling == "Langevin":
        x = langevin(fit.params, sampler.chains, sample_key)
        sampler, y = sampler._replace(chains=x), noisy(x, noise_key)
    else:
        if method.sampling == "up to date":
            errors = jnp.abs(predict(fit.params, task.x) - task.y) + SMALLEST
            sampler = sampler._replace(priorities=errors)
        fractions = jax.random.uniform(sample_key, (BATCH,))
        if method.sampling == "uniform":
            indices = (fractions * method.points).astype(int)
        else:
            sums = jnp.cumsum(sampler.priorities)
            indices = jnp.searchsorted(sums, fractions * sums[-1], side="right")
            indices = jnp.minimum(indices, method.points - 1)
        x, y = task.x[indices], task.y[indices]

    def loss(params: Float[Array, " p"]) -> tuple[Float[Array, ""], Float[Array, " b"]]:
        errors = jnp.abs(predict(params, x) - y)
        return jnp.mean(errors**method.power), errors

    slope, errors = jax.grad(loss, has_aux=True)(fit.params)
    if method.sampling == "prioritized":
        changed = sampler.priorities.at[indices].set(errors + SMALLEST)
        sampler = sampler._replace(priorities=changed)
    step, optimizer = OPTIMIZER.update(slope, fit.optimizer)
    return Fit(fit.params + step, optimizer), sampler


def errors_of(method: Method, updates: int, key: PRNGKeyArray) -> Float[Array, " evaluations"]:
    """The root mean squared test error of a seed after every 20 updates."""
    fit, sampler, task = start(method.points, jax.random.fold_in(key, 0))
    truth = f_sin(task.test)

    def one(carry: tuple[Fit, Sampler], t: Int[Array, ""]) -> tuple[tuple[Fit, Sampler], None]:
        return update(method, *carry, task, jax.random.fold_in(key, t + 1)), None

    def until_evaluation(
        carry: tuple[Fit, Sampler], number: Int[Array, ""]
    ) -> tuple[tuple[Fit, Sampler], Float[Array, ""]]:
        times = number * EVALUATE_EVERY + jnp.arange(EVALUATE_EVERY)
        carry, _ = jax.lax.scan(one, carry, times)
        return carry, jnp.sqrt(jnp.mean((predict(carry[0].params, task.test) - truth) ** 2))

    _, errors = jax.lax.scan(
        until_evaluation, (fit, sampler), jnp.arange(updates // EVALUATE_EVERY)
    )
    return errors


def units(quick: bool) -> list[Unit]:
    """The learning curves of each method."""
    seeds, updates = (3, 400) if quick else (SEEDS, UPDATES)
    common = {
        **{"seeds": seeds, "updates": updates, "noise": NOISE, "layer_sizes": list(SIZES)},
        **{"learning_rate": LEARNING_RATE, "batch": BATCH, "step": STEP, "smallest": SMALLEST},
    }
    found = []
    for name, method in METHODS.items():
        own = {"sampling": method.sampling, "points": method.points, "power": method.power}
        compute: Callable[[], Columns] = partial(_curves, method, seeds, updates)
        found.append(Unit(name.replace(", ", "-").replace(" ", "-"), common | own, compute))
    return found


def _curves(method: Method, seeds: int, updates: int) -> Columns:
    """One row per seed and evaluation."""
    program = jax.jit(jax.vmap(partial(errors_of, method, updates)))
    errors = np.asarray(program(jax.vmap(jax.random.key)(jnp.arange(seeds))))
    at = EVALUATE_EVERY * np.arange(1, errors.shape[1] + 1, dtype=np.int32)
    return {
        "seed": np.repeat(np.arange(seeds, dtype=np.int32), errors.shape[1]),
        "update": np.tile(at, seeds),
        "test_error": errors.astype(np.float16).ravel(),
    }


def gradients_deviate(points: int = 50) -> float:
    """How far the two expected gradients are apart, relative to their length, in float64."""
    with jax.enable_x64(True):
        fit, _, task = start(points, jax.random.key(0))
        params = fit.params.astype(jnp.float64)
        x, y = task.x.astype(jnp.float64), task.y.astype(jnp.float64)

        def errors(params: Float[Array, " p"]) -> Float[Array, " points"]:
            return jnp.abs(predict(params, x) - y)

        weights = errors(params) / errors(params).sum()
        squared = jax.grad(lambda p: (weights * errors(p) ** 2).sum() / 2)(params)
        cubic = jax.grad(lambda p: (errors(p) ** 3).mean() / 3)(params) / errors(params).mean()
        return float(jnp.linalg.norm(squared - cubic) / jnp.linalg.norm(cubic))


def analyse(units: dict[str, Stored]) -> Findings:
    """A curve for each method, and their mean test errors compared."""
    errors: dict[str, np.ndarray] = {}
    for name, stored in zip(METHODS, units.values(), strict=True):
        seeds = len(np.unique(stored.columns["seed"]))
        errors[name] = stored.columns["test_error"].astype(float).reshape(seeds, -1)
        at = stored.columns["update"][: errors[name].shape[1]]
    curves = [
        SeedCurve(at, e, LineStyle(METHODS[name].color), bootstrap_interval(e), label=name)
        for name, e in errors.items()
    ]
    y = Axis("test error (RMSE)", low=0.0, high=0.6)
    panel = Panel("f_sin", Axis("mini-batch updates"), y, curves, legend=Legend())
    chart = Chart(
        [panel], f"P: prioritized sampling, {seeds} seeds, {SHADED}", panel_size=(7.0, 4.2)
    )
    early = round(EARLY * len(at))
    whole = {name: -e.mean(1) for name, e in errors.items()}
    first = {name: -e[:, :early].mean(1) for name, e in errors.items()}
    newest, few = "prioritized, up to date", "prioritized, up to date, 400 points"
    what, paper = "mean test error, the sign changed: {} − {}", "above 0"

    def compared(
        statement: Statement, values: dict[str, np.ndarray], better: str, worse: str, which: str
    ) -> Comparison:
        sentence = f"{which}, {what.format(better, worse)}"
        return Comparison(statement, sentence, paper, 1000 * values[better], 1000 * values[worse])

    comparisons = [
        compared(EARLIER, first, newest, "uniform", "early, in thousandths"),
        compared(EARLIER, first, "uniform, cubic loss", "uniform", "early, in thousandths"),
        compared(OUTDATED, whole, newest, "prioritized", "in thousandths"),
        compared(COVERAGE, whole, newest, few, "in thousandths"),
        compared(CLIMBS, whole, "Langevin", "prioritized", "in thousandths"),
        compared(CLIMBS, whole, "Langevin", newest, "in thousandths"),
        compared(CLIMBS, whole, "Langevin", few, "in thousandths"),
    ]
    deviation, what_is = gradients_deviate(), "relative difference of the expected gradients"
    exact: list[Claim] = [claims.accuracy(SAME, what_is, "0", f"{deviation:.1g}", deviation, 1e-9)]
    table = [["sampling", "mean error early", "mean error", "error at the end"]]
    for name, e in errors.items():
        ends = e[:, -len(at) // 10 :].mean(1)
        cells = [mean_with_interval(v, 3) for v in (-first[name], -whole[name], ends)]
        table.append([name, *cells])
    return Findings(chart, [*exact, *judge(comparisons)], table, NOTES)


PART = Part(
    "P", "prioritized sampling and its limits (a second paper)", "ten minutes", units, analyse
)
