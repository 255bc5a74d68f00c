"""What is kept of the states in queue and replay buffer of a training in the maze.

A few numbers for each seed, and the states of the median seed, which figures show.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.stats import rankdata

from freqdyna.agents.networks import ACTIVATIONS, StateValue, network_from_flat
from freqdyna.envs import MazeGridWorld
from freqdyna.results.record import Record

MAZE = "MazeGridWorld"
STATES = 1000
"""States of each seed and store that count: as many as the paper shows (figure 5)."""
RADIUS = 0.1
"""A state is near a hole if it is within this distance of its centre, as in the paper."""
GOAL_AREA = 0.8
"""The paper says "near the goal area"; here: both coordinates are above this."""
GOAL_ROOM = 0.8  # beyond this x
CELLS = 10
"""Cells of the state space along each coordinate, for the distance of distributions."""
SPLITS = 20
"""How often states of both stores are mixed and divided at random."""
STORES = ("queue", "replay")
MEASURES = (
    *("queue_near_hole", "replay_near_hole", "queue_near_goal", "replay_near_goal"),
    *("replay_in_goal_room", "distance_of_stores", "value_lead_of_queue"),
)
"""Percentages for each seed, at the steps of which a training has snapshots; NaN at others.

The shares of states near a hole, near the goal, and in the goal room; the distance between the
distributions of both stores; and how much more likely than 50% it is that a state of the queue has
a greater value than one of the replay buffer.
"""


def columns_of(record: Record) -> dict[str, np.ndarray]:
    """The measures of a training, and the states of its median seed in the row of its last step."""
    seeds, evaluations = record.returns.shape
    columns = {name: np.full((seeds, evaluations), np.nan) for name in MEASURES}
    for step, snapshot in record.snapshots.items():
        drawn = {store: snapshot[store][:, :STATES].astype(np.float16) for store in STORES}
        measured = _measures(record, *(drawn[store].astype(np.float64) for store in STORES))
        for name, values in measured.items():
            columns[name][:, record.steps == step] = values[:, None]
    flat = {name: values.ravel() for name, values in columns.items()}
    row = median_seed(record) * evaluations + evaluations - 1
    for store in STORES:
        flat[store] = np.full(seeds * evaluations, None, object)
        flat[store][row] = drawn[store][median_seed(record)].ravel()
    return flat


def median_seed(record: Record) -> int:
    """The row of the seed with the median area; of two in the middle, the better one."""
    kept = np.flatnonzero(record.complete_seeds.kept)
    returns = record.returns[kept].astype(np.float32).astype(np.float64)
    areas = returns[:, record.after_warmup].mean(axis=1)
    return int(kept[np.argsort(areas)[len(areas) // 2]])


def _measures(record: Record, queue: np.ndarray, replay: np.ndarray) -> dict[str, np.ndarray]:
    measures = {
        "queue_near_hole": near_holes(queue),
        "replay_near_hole": near_holes(replay),
        "queue_near_goal": near_goal(queue),
        "replay_near_goal": near_goal(replay),
        "replay_in_goal_room": 100 * (replay[..., 0] > GOAL_ROOM).mean(axis=1),
        "distance_of_stores": distance(queue, replay),
    }
    if record.parameters.shape[1]:
        parameters = jnp.asarray(record.parameters.astype(np.float16), jnp.float32)
        network = record.layer_sizes, record.config["learner.activation"]
        both = (_values(parameters, jnp.asarray(s, jnp.float32), *network) for s in (queue, replay))
        measures["value_lead_of_queue"] = lead(*map(np.asarray, both))
    return measures


def near_holes(drawn: np.ndarray) -> np.ndarray:
    """The percentage of states near a hole: from shape (..., states, 2) to (...)."""
    centers = np.array([wall.hole_center for wall in MazeGridWorld.walls])
    distances = np.linalg.norm(drawn[..., None, :] - centers, axis=-1)
    return 100 * (distances <= RADIUS).any(-1).mean(-1)


def near_goal(drawn: np.ndarray) -> np.ndarray:
    """The percentage of states in the corner around the goal: from (..., states, 2) to (...)."""
    return 100 * (drawn > GOAL_AREA).all(-1).mean(-1)


def distance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The total variation between two samples, in percent, beyond that of mixed samples.

    Both have states in [0, 1]², shape (seeds, states, 2); the result has shape (seeds,).
    """
    generator = np.random.default_rng(0)
    number = first.shape[1]
    shares = []
    for pair in zip(map(_counts, first), map(_counts, second), strict=True):
        pooled = np.sum(pair, axis=0)
        drawn = generator.multivariate_hypergeometric(pooled, number, size=SPLITS)
        by_chance = np.abs(2 * drawn - pooled).sum(axis=1).mean()
        shares.append((np.abs(pair[0] - pair[1]).sum() - by_chance) / (2 * number))
    return 100 * np.array(shares)


def _counts(drawn: np.ndarray) -> np.ndarray:
    """The number of states in each cell, shape (CELLS²,)."""
    places = np.clip((drawn * CELLS).astype(int), 0, CELLS - 1)
    return np.bincount(places[:, 0] * CELLS + places[:, 1], minlength=CELLS**2)


def lead(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The probability that a number of the first sample is greater, minus 50, in percent.

    From shapes (seeds, numbers) and (seeds, other numbers) to (seeds,); equal numbers count half.
    """
    n, m = first.shape[1], second.shape[1]
    ranks = rankdata(np.concatenate([first, second], axis=1), axis=1)[:, :n].sum(axis=1)
    return 100 * ((ranks - n * (n + 1) / 2) / (n * m) - 0.5)


@partial(jax.jit, static_argnames=("sizes", "activation"))
def _values(
    parameters: Float[Array, "seeds p"],
    drawn: Float[Array, "seeds states 2"],
    sizes: tuple[int, ...],
    activation: str,
) -> Float[Array, "seeds states"]:
    """V at the states of each seed."""

    def of_seed(flat: Float[Array, " p"], own: Float[Array, "states 2"]) -> Float[Array, " states"]:
        return jax.vmap(StateValue(network_from_flat(flat, sizes, ACTIVATIONS[activation])))(own)

    return jax.vmap(of_seed)(parameters, drawn)
