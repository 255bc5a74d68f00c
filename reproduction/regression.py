"""Regression of f_sin (the paper's equation 1) from noisy points, for F1 and F2.

16×16 tanh units, Adam with step size 0.001, mini-batches of 128, test error every 20 updates (the
paper's reproducibility section). The paper does not state the number of points and of updates.
All data sets and seeds are trained in one program.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from freqdyna.agents.networks import OUTPUT_SCALE, init_network, network_from_flat, tanh
from freqdyna.results.chart import Axis, Chart, Legend, Line, LineStyle, Panel, SeedCurve
from freqdyna.results.statistics import bootstrap_interval
from freqdyna.training.engines import seed_devices
from reproduction import claims
from reproduction.claims import Claim, Statement
from reproduction.study import Columns, Findings, Unit

LOW, HIGH = -2.0, 2.0
"""The interval of interest; the high frequency is below zero."""
POINTS = 4000
TEST_POINTS = 1000
NOISE = 0.1
SEEDS = 50
UPDATES = 40_000
"""Not stated in the paper. With half as many updates, the data sets do not yet differ."""
SIZES = (1, 16, 16, 1)
BATCH = 128
LEARNING_RATE = 1e-3
OPTIMIZER = optax.adam(LEARNING_RATE)
EVALUATE_EVERY = 20
GRID = 10_000
"""The number of grid points from which a density ∝ |f′| or |f″| is sampled."""
PLATEAU = 0.5
"""Test error of a network that has only learned the low-frequency half: √(½ · ½)."""
THRESHOLDS = (0.48, 0.45, 0.42)
"""Below the plateau: less or more of the high-frequency half has been learned. The choice is
arbitrary and the verdict may depend on it, so there are several."""
LISTED = ", ".join(f"{threshold:g}" for threshold in THRESHOLDS)
TRUNCATED = (1 / 8, 1 / 4, 1 / 2, 3 / 4, 1)
"""Where runs are truncated to see how verdicts depend on their length, as fractions of it."""
SHADED = "shaded: standard error"
NOTES = (
    f"A network that has only learned the low-frequency half has a test error of {PLATEAU:g}. "
    f"Speed is measured by the first evaluation below {LISTED}, thresholds that we chose. A seed "
    "that never reaches a threshold counts with all updates of the run. The intervals of single "
    "data sets are at 95% each, not corrected for their number; nothing is decided by them.",
    "The paper does not state the length of a run, on which the verdict on its mean error may "
    "depend: the last table truncates runs, with intervals at 95% for the whole table together "
    "(Bonferroni).",
)

Points = Float[Array, " points"]
Batches = Float[Array, "updates b"]
Draw = Callable[[PRNGKeyArray], Points]
"""Samples the training points of a data set."""


def f_sin(x: Float[Array, "*d"]) -> Float[Array, "*d"]:
    """sin(8πx) below zero, sin(πx) from zero on, elementwise."""
    return jnp.where(x < 0, jnp.sin(8 * jnp.pi * x), jnp.sin(jnp.pi * x))


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
    grid, probabilities = grid_density(derivative, grid_points)
    keys = jax.random.split(key)
    anywhere = jax.random.uniform(keys[0], (uniform,), minval=LOW, maxval=HIGH)
    number = (POINTS - uniform,)
    chosen = jax.random.choice(keys[1], jnp.asarray(grid), number, p=jnp.asarray(probabilities))
    return jnp.concatenate([anywhere, chosen])


def described(draws: dict[str, Draw]) -> dict[str, dict[str, Any]]:
    """What determines the points of each data set: the function that samples, and its arguments."""
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
    return Fit(params, OPTIMIZER.init(params)), RegressionTask(x, noisy(x, keys[1]), test, keys[4])


def predict(params: Float[Array, " p"], x: Float[Array, " b"]) -> Float[Array, " b"]:
    """The network's values."""
    return jax.vmap(network_from_flat(params, SIZES, tanh))(x[:, None])[:, 0]


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
    step, optimizer = OPTIMIZER.update(slope, fit.optimizer)
    return Fit(fit.params + step, optimizer)


def advance(
    fit: Fit, task: RegressionTask, evaluations: int
) -> tuple[Fit, Float[Array, " evaluations"]]:
    """Train; also returns the root mean squared test error every 20 updates."""
    truth = f_sin(task.test)

    def until_evaluation(fit: Fit, number: Int[Array, ""]) -> tuple[Fit, Float[Array, ""]]:
        fit, _ = jax.lax.scan(
            lambda fit, batch: (update(fit, *batch), None), fit, batches(task, number)
        )
        return fit, jnp.sqrt(jnp.mean((predict(fit.params, task.test) - truth) ** 2))

    return jax.lax.scan(until_evaluation, fit, jnp.arange(evaluations))


def curves_unit(draws: dict[str, Draw], quick: bool) -> Unit:
    """The learning curves of all data sets and seeds, as one unit of work."""
    seeds, updates = (4, 2000) if quick else (SEEDS, UPDATES)
    settings = {
        **{"data_sets": described(draws), "interval": [LOW, HIGH], "points": POINTS},
        **{"noise": NOISE, "seeds": seeds, "updates": updates, "layer_sizes": list(SIZES)},
        **{"activation": "tanh", "output_scale": OUTPUT_SCALE, "optimizer": optax.adam.__name__},
        **{"learning_rate": LEARNING_RATE, "batch": BATCH, "test_points": TEST_POINTS},
        "evaluate_every": EVALUATE_EVERY,
    }
    return Unit("curves", settings, partial(learning_curves, draws, seeds, updates))


def learning_curves(draws: dict[str, Draw], seeds: int, updates: int) -> Columns:
    """One row per data set, seed and evaluation, in this order."""

    @jax.jit
    def start(keys: Key[Array, " seeds"]) -> tuple[Fit, RegressionTask]:
        runs = [jax.vmap(partial(prepare, draw))(keys) for draw in draws.values()]
        return jax.tree.map(lambda *rows: jnp.concatenate(rows), *runs)

    runs, evaluations = len(draws) * seeds, updates // EVALUATE_EVERY
    devices = seed_devices(runs)
    devices = devices[: max(k for k in range(1, len(devices) + 1) if runs % k == 0)]
    train = jax.jit(
        jax.shard_map(
            jax.vmap(partial(advance, evaluations=evaluations)),
            mesh=Mesh(np.array(devices), ("runs",)),
            in_specs=PartitionSpec("runs"),
            out_specs=PartitionSpec("runs"),
            check_vma=False,
        )
    )
    _, errors = train(*start(jax.vmap(jax.random.key)(jnp.arange(seeds))))
    at = EVALUATE_EVERY * np.arange(1, evaluations + 1, dtype=np.int32)
    return {
        "setting": np.repeat(list(draws), seeds * evaluations),
        "seed": np.tile(np.repeat(np.arange(seeds, dtype=np.int32), evaluations), len(draws)),
        "update": np.tile(at, runs),
        # Three digits are much finer than the spread over seeds, and halve the file size.
        "test_error": np.asarray(errors, np.float16).ravel(),
    }


@dataclass(frozen=True)
class Curves:
    """Test errors of each data set, shape (seeds, evaluations), and the updates before them."""

    updates: np.ndarray
    errors: dict[str, np.ndarray]

    @staticmethod
    def of(columns: Columns) -> "Curves":
        """The curves of a stored unit."""
        updates = np.unique(columns["update"])
        names = list(dict.fromkeys(columns["setting"].tolist()))
        errors = columns["test_error"].astype(np.float64).reshape(len(names), -1, len(updates))
        return Curves(updates, dict(zip(names, errors, strict=True)))

    def panel(
        self, title: str, colors: dict[str, str], share: str = "", first: bool = True
    ) -> Panel:
        """Means and standard errors of some data sets, whose names may end in a share.

        The errors of the first updates are outside the plot: they do not differ between data sets.
        """
        marks = []
        for name, color in colors.items():
            values = self.errors.get(f"{name}{share}", self.errors["Unbiased"])
            mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
            style, shaded = LineStyle(color), (mean - error, mean + error)
            marks.append(SeedCurve(self.updates, values, style, shaded, label=name))
        style, ends = LineStyle("0.5", "dotted"), self.updates[[0, -1]]
        plateau = Line(ends, np.full(2, PLATEAU), style, label="low-frequency half only")
        y = Axis("test error (RMSE)" if first else "", high=1.2 * PLATEAU)
        legend = Legend("upper right") if first else None
        return Panel(title, Axis("mini-batch updates"), y, [*marks, plateau], legend=legend)

    def updates_to(self, name: str, threshold: float) -> np.ndarray:
        """The update of each seed's first error below the threshold; infinite if there is none."""
        below = self.errors[name] < threshold
        return np.where(below.any(axis=1), self.updates[below.argmax(axis=1)], np.inf)

    def compared(
        self,
        speed: Statement,
        error: Statement,
        name: str,
        other: str,
        paper: str,
        better: bool = True,
        *,
        comparisons: int,
    ) -> list[Claim]:
        """The claims that a data set is learned better, or worse, than another, paired by seed.

        They are about the updates to the thresholds, and about the error over the run and at its
        end. Intervals are corrected for the number of such comparisons in the figure.
        """
        difference = self.errors[name] - self.errors[other]
        end = self.updates[-1]
        what = f"{name} − {other}"
        if paper == "-":
            what += f" (own check: {'below' if better else 'above'} 0)"
        over, rows = f"{what}, test error over the whole run of {end:,} updates", 3 * comparisons
        faster = [self._within_run(name, t) - self._within_run(other, t) for t in THRESHOLDS]
        until = f"{what}, updates until the test error is below {LISTED}"
        late = difference[:, self.updates > 0.9 * end].mean(axis=1)
        last = f"{what}, test error in the last tenth"
        return [
            claims.agreeing(speed, until, paper, faster, negative=better, form="+,.0f", rows=rows),
            claims.difference(error, over, paper, difference.mean(axis=1), better, rows=rows),
            claims.difference(error, last, paper, late, better, rows=rows),
        ]

    def _within_run(self, name: str, threshold: float) -> np.ndarray:
        """Like `updates_to`, but the length of the run if the threshold is never reached."""
        return np.minimum(self.updates_to(name, threshold), self.updates[-1])

    def speed_table(self) -> list[list[str]]:
        """One row per data set, with 95% intervals of means over seeds."""
        until = "mean updates until the error is below {:g}; seeds that never get there"
        rows = [["data", *(until.format(t) for t in THRESHOLDS), "mean error at the end"]]
        for name, errors in self.errors.items():
            cells = [name]
            for threshold in THRESHOLDS:
                never = int(np.isinf(self.updates_to(name, threshold)).sum())
                reached = _with_interval(self._within_run(name, threshold), ",.0f")
                cells.append(f"{reached}, {never} of {len(errors)}")
            rows.append([*cells, _with_interval(errors[:, -1], ".3f")])
        return rows

    def length_table(self, statement: Statement, names: Sequence[str]) -> list[list[str]]:
        """Differences from unbiased data in the mean error of truncated runs, paired by seed."""
        ends = [max(1, round(part * len(self.updates))) for part in TRUNCATED]
        header = [f"up to update {self.updates[end - 1]:,}" for end in ends]
        rows = [["difference of the mean test error", *header]]
        for name in names:
            what, cells = f"{name} − Unbiased", []
            difference = self.errors[name] - self.errors["Unbiased"]
            for end in ends:
                mean = difference[:, :end].mean(axis=1)
                claim = claims.difference(statement, what, "", mean, rows=len(names) * len(ends))
                word = {"holds": "better", "does not hold": "worse"}.get(claim.verdict, "undecided")
                cells.append(f"{claim.ours} {claim.interval}: {word}")
            rows.append([what, *cells])
        return rows

    def findings(
        self,
        title: str,
        panels: list[Panel],
        judged: list[Claim],
        statement: Statement,
        biased: Sequence[str],
        notes: Sequence[str],
    ) -> Findings:
        """Claims and panels, with the tables and notes that F1 and F2 have in common."""
        seeds = len(self.errors["Unbiased"])
        chart = Chart(panels, f"{title}, {seeds} seeds, {SHADED}", share_y=title.startswith("F1"))
        further = [self.length_table(statement, biased)]
        return Findings(chart, judged, self.speed_table(), [*notes, *NOTES], further)


def _with_interval(values: np.ndarray, form: str) -> str:
    low, high = map(float, bootstrap_interval(values))
    return f"{values.mean():{form}} [{low:{form}}, {high:{form}}]"
