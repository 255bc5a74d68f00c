"""A block of seeds that is trained at once, spread over devices."""

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from freqdyna.agents.base import AgentState
from freqdyna.training.training import Metrics, Training


@dataclass(frozen=True)
class Layout:
    """How the seeds of a block lie on devices.

    Each device trains its own share and waits for no other. Where the seeds do not divide
    evenly, the last seed is trained more than once and its copies are dropped.
    """

    seeds: int
    rows: int
    """Seeds and the copies that fill up the last device."""
    mesh: Mesh
    keys: Any
    """The key of each row."""

    @staticmethod
    def of(seeds: np.ndarray, devices: list[jax.Device]) -> "Layout":
        """`seeds` over `devices`."""
        rows = math.ceil(len(seeds) / len(devices)) * len(devices)
        filled = np.append(seeds, np.repeat(seeds[-1:], rows - len(seeds)))
        mesh = Mesh(np.array(devices), ("seeds",))
        keys = jax.vmap(jax.random.key)(jnp.asarray(filled))
        keys = jax.device_put(keys, NamedSharding(mesh, PartitionSpec("seeds")))
        return Layout(len(seeds), rows, mesh, keys)

    def over_seeds(self, function: Callable[..., Any], batched: int, unbatched: int) -> Any:
        """`function` of one seed, for all: `batched` arguments a row a seed, the rest shared."""
        by_seed, shared = PartitionSpec("seeds"), PartitionSpec()

        def plain(*arguments: Any) -> Any:
            # A method is hashed with its object, whose fields may hold arrays.
            return function(*arguments)

        batch = jax.vmap(plain, in_axes=(0,) * batched + (None,) * unbatched)
        return jax.shard_map(
            batch,
            mesh=self.mesh,
            in_specs=(by_seed,) * batched + (shared,) * unbatched,
            out_specs=by_seed,
            check_vma=False,
        )

    def own_rows(self, tree: Any) -> Any:
        """Without the copies that fill the last device."""
        return jax.tree.map(lambda leaf: leaf[: self.seeds], tree)

    def placed(self, tree: Any) -> Any:
        """Rows of the seeds laid out over the devices, with the copies that fill the last one."""
        spare, sharding = self.rows - self.seeds, NamedSharding(self.mesh, PartitionSpec("seeds"))

        def filled(leaf: Any) -> Any:
            leaf = jnp.concatenate([leaf, jnp.repeat(leaf[-1:], spare, axis=0)]) if spare else leaf
            return jax.device_put(leaf, sharding)

        return jax.tree.map(filled, tree)


class Block(abc.ABC):
    """The training of a block of seeds, in the steps that a run takes."""

    def __init__(self, training: Training, layout: Layout) -> None:
        self.training, self.layout = training, layout
        self.messages: list[str] = []
        """What the user must know; whoever tells it empties the list."""
        self._init = self.compiled(training.init, 1, 0)
        self._snapshot = self.compiled(training.snapshot, 2, 1)

    def compiled(
        self, method: Callable[..., Any], batched: int, unbatched: int, donate: bool = False
    ) -> Any:
        """A method of the training for all rows, see `Layout.over_seeds`.

        With `donate` the first argument is used up.
        """
        function = self.layout.over_seeds(method, batched, unbatched)
        return jax.jit(function, donate_argnums=0 if donate else ())

    def init(self) -> AgentState:
        """The states before the first step."""
        return self._init(self.layout.keys)

    @abc.abstractmethod
    def advance(self, state: AgentState, start: int, stop: int) -> AgentState:
        """Take the steps start, ..., stop - 1; the states given are used up."""

    @abc.abstractmethod
    def evaluate(self, state: AgentState, step: int) -> tuple[AgentState, Metrics]:
        """The metrics after `step` steps, a row a seed; the states given are used up."""

    def snapshot(self, state: AgentState, step: int) -> Metrics:
        """What is worth looking at after `step` steps, a row a seed."""
        return self._snapshot(state, self.layout.keys, jnp.int32(step))

    def parameters(self, state: AgentState) -> np.ndarray:
        """What each seed has learned, shape (seeds, p)."""
        flat = jax.vmap(self.training.agent.parameters)(state)
        return np.asarray(flat)[: self.layout.seeds]

    def to_checkpoint(self, state: AgentState) -> Any:
        """What a checkpoint holds of the states."""
        return self.layout.own_rows(state)

    def state_structure(self) -> Any:
        """The shapes of what `saved` returns."""
        keys = jax.vmap(jax.random.key)(jnp.zeros(self.layout.seeds, int))
        return jax.eval_shape(jax.vmap(self.training.init), keys)

    def from_checkpoint(self, saved: Any, facts: dict[str, Any]) -> AgentState:
        """The states of a checkpoint, given also the `facts` that were saved with it."""
        placed: AgentState = self.layout.placed(saved)
        return placed

    def facts(self) -> dict[str, Any]:
        """What is worth keeping with the results, as JSON can hold it."""
        return {}

    def close(self) -> None:
        """Release what the training holds besides memory: nothing, where everything is compiled."""
        return


class CompiledBlock(Block):
    """Everything compiled, the environment too; JAX compiles each function at its first call."""

    def __init__(self, training: Training, layout: Layout) -> None:
        super().__init__(training, layout)
        self._advance = self.compiled(training.advance, 1, 2, donate=True)
        self._evaluate = self.compiled(training.evaluate, 2, 1, donate=True)

    def advance(self, state: AgentState, start: int, stop: int) -> AgentState:
        """In one call, however many steps."""
        return self._advance(state, jnp.int32(start), jnp.int32(stop))

    def evaluate(self, state: AgentState, step: int) -> tuple[AgentState, Metrics]:
        """All episodes in one call."""
        return self._evaluate(state, self.layout.keys, jnp.int32(step))
