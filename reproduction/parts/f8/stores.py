"""How the states in the queue differ from those in the replay buffer: their places and values."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.stats import rankdata

from freqdyna.agents.networks.activations import ACTIVATIONS
from freqdyna.agents.networks.mlp import network_from_flat
from freqdyna.agents.networks.state_value import StateValue
from reproduction import claims
from reproduction.base import Stored
from reproduction.claims import Claim
from reproduction.parts import maze
from reproduction.stored_trainings import states, training_of, unlearned

CELLS = 10
"""Cells of the state space along each coordinate."""
SPLITS = 20
"""How often states of both stores are mixed and divided at random."""
HOW = (
    "Distance of the distributions: total variation over 10 × 10 cells (the share of states that "
    "would have to move to make the samples equal), minus that of samples of the same size in "
    "which the states of both stores are mixed at random: 0 means that they do not differ. Value: "
    "the probability that V of a state in the queue is greater than V of one in the replay buffer, "
    "minus 50%, with the network at the end, for seeds that learned; the value of the others is "
    "constant. Values need stored parameters."
)


class Difference(NamedTuple):
    """A claim that numbers, one per seed, are above zero."""

    what: str
    paper: str
    numbers: np.ndarray


def judge(differences: Sequence[Difference], rows: int) -> list[Claim]:
    """A verdict on each, by intervals corrected for a number of rows."""
    return [claims.difference(*one, negative=False, form="+.1f", rows=rows) for one in differences]


def of_places(found: dict[str, Stored]) -> list[Difference]:
    """Whether the distributions of queue and replay buffer differ, for each algorithm."""
    return [
        Difference(
            f"{name}: distance between the distributions of queue and replay buffer, percentage",
            "above 0 (very different)",
            distance(states(found[name], "queue"), states(found[name], "replay")),
        )
        for name in maze.BOTH
    ]


def of_values(found: dict[str, Stored]) -> list[Difference]:
    """Whether states in the queue have a relatively high value, for each algorithm."""
    return [
        Difference(
            f"{name}: states in the queue have a higher value than those in the replay buffer, "
            "percentage points",
            "above 0 (relatively high)",
            lead(values(found[name], "queue"), values(found[name], "replay")),
        )
        for name in maze.BOTH
    ]


def has_values(found: dict[str, Stored]) -> bool:
    """Whether the parameters of both algorithms are stored, and some seeds learned."""
    return all(
        training_of(found[name]).parameters.shape[1] and not unlearned(found[name]).all()
        for name in maze.BOTH
    )


def distance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The total variation between two samples, in percent, beyond that of mixed samples.

    Args:
        first: States in [0, 1]², shape (seeds, states, 2).
        second: As many states of the other sample.

    Returns:
        Shape (seeds,).

    """
    generator = np.random.default_rng(0)
    number = first.shape[1]
    found = []
    for pair in zip(map(_counts, first), map(_counts, second), strict=True):
        pooled = np.sum(pair, axis=0)
        drawn = generator.multivariate_hypergeometric(pooled, number, size=SPLITS)
        by_chance = np.abs(2 * drawn - pooled).sum(axis=1).mean()
        found.append((np.abs(pair[0] - pair[1]).sum() - by_chance) / (2 * number))
    return 100 * np.array(found)


def _counts(drawn: np.ndarray) -> np.ndarray:
    """The number of states in each cell, shape (CELLS²,)."""
    places = np.clip((drawn * CELLS).astype(int), 0, CELLS - 1)
    return np.bincount(places[:, 0] * CELLS + places[:, 1], minlength=CELLS**2)


def lead(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The probability that a number of the first sample is greater, minus 50, in percent.

    Args:
        first: Shape (seeds, numbers); equal numbers count half.
        second: Shape (seeds, other numbers).

    Returns:
        Shape (seeds,).

    """
    n, m = first.shape[1], second.shape[1]
    ranks = rankdata(np.concatenate([first, second], axis=1), axis=1)[:, :n].sum(axis=1)
    return 100 * ((ranks - n * (n + 1) / 2) / (n * m) - 0.5)


def values(stored: Stored, store: str) -> np.ndarray:
    """V at the states of "queue" or "replay" at the end, of seeds that learned, (seeds, states)."""
    record = training_of(stored)
    parameters = jnp.asarray(record.parameters[record.complete_seeds.kept], jnp.float32)
    drawn = jnp.asarray(states(stored, store), jnp.float32)
    # Of all seeds, so that all trainings have the same shapes and share one compiled program.
    found = _values(parameters, drawn, record.layer_sizes, record.config.activation)
    return np.asarray(found)[~unlearned(stored)]


@partial(jax.jit, static_argnames=("sizes", "activation"))
def _values(
    parameters: Float[Array, "seeds p"],
    drawn: Float[Array, "seeds states 2"],
    sizes: tuple[int, ...],
    activation: str,
) -> Float[Array, "seeds states"]:
    def of_seed(flat: Float[Array, " p"], own: Float[Array, "states 2"]) -> Float[Array, " states"]:
        return jax.vmap(StateValue(network_from_flat(flat, sizes, ACTIVATIONS[activation])))(own)

    return jax.vmap(of_seed)(parameters, drawn)
