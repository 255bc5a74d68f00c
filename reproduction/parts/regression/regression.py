"""Regression of f_sin from noisy points: all settings and seeds are trained in one program.

16×16 tanh units, Adam with step size 0.001, mini-batches of 128, test error every 20 updates (the
paper's reproducibility section). The paper does not state the number of points and of updates.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from freqdyna.agents.networks.activations import Activation
from freqdyna.agents.networks.mlp import OUTPUT_SCALE, init_network, network_from_flat
from freqdyna.agents.networks.tanh import tanh
from freqdyna.core.errors import DamagedFileError
from freqdyna.core.files import set_aside
from freqdyna.training import checkpoint
from freqdyna.training.engines import seed_devices
from reproduction.base import Columns, Unit, Work
from reproduction.parts.regression.f_sin import HIGH, LOW, f_sin

POINTS = 4000
"""The number of training points of every data set."""
TEST_POINTS = 1000
NOISE = 0.1
SIZES = (1, 16, 16, 1)
ACTIVATION: Activation = tanh
OPTIMIZER = optax.adam
BATCH = 128
LEARNING_RATE = 1e-3
EVALUATE_EVERY = 20
EVALUATIONS_A_SLICE = 25
"""Test errors per call of the compiled program; in between, progress and interrupts are handled."""
CHECKPOINT_SECONDS = 15.0
GRID = 10_000
"""The number of grid points from which a density ∝ |f′| or |f″| is sampled."""

Points = Float[Array, " points"]
Draw = Callable[[PRNGKeyArray], Points]
"""Samples the training points of a data set."""


def draw_unbiased(key: PRNGKeyArray) -> Points:
    """Points that are uniform in [−2, 2]."""
    return jax.random.uniform(key, (POINTS,), minval=LOW, maxval=HIGH)


def draw_biased(key: PRNGKeyArray, high_share: float) -> Points:
    """A given share is uniform in the high-frequency region [−2, 0), the rest in [0, 2]."""
    places = jax.random.uniform(key, (POINTS,))
    high = jnp.arange(POINTS) < round(high_share * POINTS)
    return jnp.where(high, LOW * (1 - places), HIGH * places)


def grid_density(derivative: int, grid_points: int = GRID) -> tuple[np.ndarray, np.ndarray]:
    """Evenly spaced points and their probabilities ∝ |f_sin⁽ᵈ⁾|, both in float64."""
    slope: Callable[[Array], Array] = f_sin
    for _ in range(derivative):
        slope = jax.grad(slope)
    grid = np.linspace(LOW, HIGH, grid_points)
    with jax.ensure_compile_time_eval(), jax.enable_x64(True):
        sizes = np.abs(np.asarray(jax.vmap(slope)(jnp.asarray(grid))))
    return grid, sizes / sizes.sum()


def draw_by_norm(
    key: PRNGKeyArray, derivative: int, uniform_share: float, grid_points: int = GRID
) -> Points:
    """A given share is uniform in [−2, 2], the rest is sampled from the grid ∝ |f′| or |f″|."""
    uniform = round(uniform_share * POINTS)
    by_norm = POINTS - uniform
    grid, probabilities = grid_density(derivative, grid_points)
    keys = jax.random.split(key)
    anywhere = jax.random.uniform(keys[0], (uniform,), minval=LOW, maxval=HIGH)
    chosen = jax.random.choice(keys[1], jnp.asarray(grid), (by_norm,), p=jnp.asarray(probabilities))
    return jnp.concatenate([anywhere, chosen])


def described(draws: dict[str, Draw]) -> dict[str, dict[str, Any]]:
    """What determines the data of each setting: the function that samples, and its arguments."""
    return {
        name: {"draw": draw.func.__name__, **draw.keywords}
        if isinstance(draw, partial)
        else {"draw": draw.__name__}
        for name, draw in draws.items()
    }


def noisy(x: Points, key: PRNGKeyArray) -> Points:
    """Targets: f_sin plus Gaussian noise with standard deviation 0.1."""
    return f_sin(x) + NOISE * jax.random.normal(key, x.shape)


class Fit(eqx.Module):
    """The training state of one network."""

    params: Float[Array, " p"]
    optimizer: optax.OptState


class RegressionTask(eqx.Module):
    """One data set, its test set, and the key of its mini-batches."""

    x: Points
    y: Points
    test: Float[Array, " tests"]
    key: PRNGKeyArray


def prepare(draw: Draw, key: PRNGKeyArray) -> tuple[Fit, RegressionTask]:
    """The start of one run; a seed starts identically in all settings, except for its points."""
    keys = jax.random.split(key, 5)
    x = draw(keys[0])
    test = jax.random.uniform(keys[2], (TEST_POINTS,), minval=LOW, maxval=HIGH)
    params = ravel_pytree(init_network(keys[3], SIZES))[0]
    fit = Fit(params, OPTIMIZER(LEARNING_RATE).init(params))
    return fit, RegressionTask(x, noisy(x, keys[1]), test, keys[4])


def predict(params: Float[Array, " p"], x: Float[Array, " b"]) -> Float[Array, " b"]:
    """The network's values."""
    return jax.vmap(network_from_flat(params, SIZES, ACTIVATION))(x[:, None])[:, 0]


Batches = Float[Array, "updates b"]


def batches(task: RegressionTask, number: Int[Array, ""]) -> tuple[Batches, Batches]:
    """Inputs and targets of the updates before evaluation `number`, sampled with replacement.

    They are sampled together: sampling for each update separately takes a tenth more time in total.
    """
    # One random word per point, where `randint` needs two to avoid a bias of 4000 / 2²³.
    key = jax.random.fold_in(task.key, number)
    places = jax.random.uniform(key, (EVALUATE_EVERY, BATCH))
    chosen = (places * POINTS).astype(int)
    return task.x[chosen], task.y[chosen]


def update(fit: Fit, x: Float[Array, " b"], y: Float[Array, " b"]) -> Fit:
    """One Adam step on a mini-batch."""
    slope = jax.grad(lambda params: jnp.mean((predict(params, x) - y) ** 2))(fit.params)
    step, optimizer = OPTIMIZER(LEARNING_RATE).update(slope, fit.optimizer)
    return Fit(fit.params + step, optimizer)


def advance(
    fit: Fit, task: RegressionTask, first: Int[Array, ""], evaluations: int
) -> tuple[Fit, Float[Array, " evaluations"]]:
    """Continue training; also returns the root mean squared test error every 20 updates."""
    truth = f_sin(task.test)

    def until_evaluation(fit: Fit, number: Int[Array, ""]) -> tuple[Fit, Float[Array, ""]]:
        fit, _ = jax.lax.scan(
            lambda fit, batch: (update(fit, *batch), None), fit, batches(task, number)
        )
        return fit, jnp.sqrt(jnp.mean((predict(fit.params, task.test) - truth) ** 2))

    return jax.lax.scan(until_evaluation, fit, first + jnp.arange(evaluations))


def curves_unit(draws: dict[str, Draw], seeds: int, updates: int) -> Unit:
    """The learning curves of all settings and seeds, as one unit of work."""
    settings = {
        "data_sets": described(draws),
        "interval": [LOW, HIGH],
        "points": POINTS,
        "noise": NOISE,
        "seeds": seeds,
        "updates": updates,
        "layer_sizes": list(SIZES),
        "activation": ACTIVATION.__name__,
        "output_scale": OUTPUT_SCALE,
        "optimizer": OPTIMIZER.__name__,
        "learning_rate": LEARNING_RATE,
        "batch": BATCH,
        "test_points": TEST_POINTS,
        "evaluate_every": EVALUATE_EVERY,
    }
    return Unit("curves", settings, partial(learning_curves, draws, seeds, updates), True)


def learning_curves(draws: dict[str, Draw], seeds: int, updates: int, work: Work) -> Columns:
    """One row per setting, seed and evaluation, in this order."""
    keys = jax.vmap(jax.random.key)(jnp.arange(seeds))

    @jax.jit
    def start(keys: Key[Array, " seeds"]) -> tuple[Fit, RegressionTask]:
        runs = [jax.vmap(partial(prepare, draw))(keys) for draw in draws.values()]
        return jax.tree.map(lambda *rows: jnp.concatenate(rows), *runs)

    runs = len(draws) * seeds
    devices = seed_devices(runs)
    devices = devices[: max(k for k in range(1, len(devices) + 1) if runs % k == 0)]
    by_run, shared = PartitionSpec("runs"), PartitionSpec()
    advance_all = jax.jit(
        jax.shard_map(
            jax.vmap(partial(advance, evaluations=EVALUATIONS_A_SLICE), in_axes=(0, 0, None)),
            mesh=Mesh(np.array(devices), ("runs",)),
            in_specs=(by_run, by_run, shared),
            out_specs=by_run,
            check_vma=False,
        )
    )
    fit, task = start(keys)
    done, curves = 0, np.zeros((runs, 0), np.float16)
    path, saved_at = work.folder / "checkpoint.npz", time.monotonic()
    if path.exists():
        try:
            fit, curves, done = _resumed(path, fit, runs)
        except DamagedFileError as error:
            work.display.warn(f"{error}; {set_aside(path)}; starting from the first update")
    evaluations = updates // EVALUATE_EVERY
    while done < evaluations:
        fit, errors = advance_all(fit, task, jnp.int32(done))
        # Three digits are much finer than the spread over seeds, and halve the file size.
        curves = np.concatenate([curves, np.asarray(errors, np.float16)], axis=1)
        done += EVALUATIONS_A_SLICE
        work.report(min(done, evaluations) * EVALUATE_EVERY, updates)
        if work.stop_requested.is_set() or time.monotonic() - saved_at > CHECKPOINT_SECONDS:
            checkpoint.save(path, fit, {"error": curves}, {"evaluations": done})
            saved_at = time.monotonic()
        if work.stop_requested.is_set():
            raise KeyboardInterrupt
    curves = curves[:, :evaluations]
    at = EVALUATE_EVERY * np.arange(1, evaluations + 1, dtype=np.int32)
    return {
        "setting": np.repeat(list(draws), seeds * evaluations),
        "seed": np.tile(np.repeat(np.arange(seeds, dtype=np.int32), evaluations), len(draws)),
        "update": np.tile(at, runs),
        "test_error": curves.ravel(),
    }


def _resumed(path: Path, fit: Any, runs: int) -> tuple[Any, np.ndarray, int]:
    """The state, the test errors and the number of evaluations in a checkpoint."""
    saved, curves, note = checkpoint.load(path, jax.eval_shape(lambda: fit))
    done, errors = note.get("evaluations"), curves.get("error", np.zeros(0))
    if not isinstance(done, int) or errors.shape != (runs, done) or errors.dtype != np.float16:
        raise DamagedFileError(f"{path} is damaged (its test errors have another shape)")
    return saved, errors, done


def curves_by_setting(columns: Columns) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The updates, and each setting's test errors of shape (seeds, evaluations)."""
    updates = np.unique(columns["update"])
    names = list(dict.fromkeys(columns["setting"].tolist()))
    errors = columns["test_error"].astype(np.float64).reshape(len(names), -1, len(updates))
    return updates, dict(zip(names, errors, strict=True))
