"""A block of seeds that are trained at once, distributed over devices."""

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from freqdyna.agents.base import AgentState
from freqdyna.training.programs import shared
from freqdyna.training.training import Metrics, Training


@dataclass(frozen=True)
class Layout:
    """How the seeds of a block are distributed over devices.

    Each device trains its own seeds and does not wait for the others. If the seeds do not divide
    evenly, the last seed is trained more than once and its copies are dropped.
    """

    seeds: int
    rows: int
    """The number of seeds, including the copies that pad the last device."""
    mesh: Mesh
    keys: Any
    """The key of each row."""

    @staticmethod
    def of(seeds: np.ndarray, devices: list[jax.Device]) -> "Layout":
        """Distribute seeds, an array of shape (seeds,), over devices."""
        rows = math.ceil(len(seeds) / len(devices)) * len(devices)
        filled = np.append(seeds, np.repeat(seeds[-1:], rows - len(seeds)))
        mesh = Mesh(np.array(devices), ("seeds",))
        keys = jax.vmap(jax.random.key)(jnp.asarray(filled))
        keys = jax.device_put(keys, NamedSharding(mesh, PartitionSpec("seeds")))
        return Layout(len(seeds), rows, mesh, keys)

    def over_seeds(self, function: Callable[..., Any], batched: int, unbatched: int) -> Any:
        """Apply a function of one seed to all seeds.

        Args:
            function: A function of `batched` + `unbatched` arguments for one seed.
            batched: The number of leading arguments that have the seeds as first axis.
            unbatched: The number of other arguments, which all seeds share.

        """
        by_seed, shared = PartitionSpec("seeds"), PartitionSpec()

        def plain(*arguments: Any) -> Any:
            # A method is hashed with its object, whose fields may contain arrays.
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
        """The arrays without the copies that pad the last device."""
        return _first_rows(tree, self.seeds)

    def placed(self, tree: Any) -> Any:
        """Distribute arrays over the devices, with copies that pad the last one."""
        spare, sharding = self.rows - self.seeds, NamedSharding(self.mesh, PartitionSpec("seeds"))
        return jax.device_put(_with_copies(tree, spare) if spare else tree, sharding)


# Compiled for all arrays at once: otherwise a checkpoint compiles a program for each shape.
@partial(jax.jit, static_argnames="rows")
def _first_rows(tree: Any, rows: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[:rows], tree)


@partial(jax.jit, static_argnames="spare")
def _with_copies(tree: Any, spare: int) -> Any:
    """The arrays with `spare` copies of their last row at the end."""
    return jax.tree.map(
        lambda leaf: jnp.concatenate([leaf, jnp.repeat(leaf[-1:], spare, axis=0)]), tree
    )


class Block(abc.ABC):
    """The training of a block of seeds, as the operations that a run needs."""

    def __init__(self, training: Training, layout: Layout) -> None:
        self.training, self.layout = training, layout
        self.messages: list[str] = []
        """Warnings for the user; whoever shows them empties the list."""
        self._init = self.compiled(training.init, 1, 0)
        self._snapshot = self.compiled(training.snapshot, 2, 1)

    def compiled(
        self, method: Callable[..., Any], batched: int, unbatched: int, donate: bool = False
    ) -> Any:
        """A compiled method of the training for all seeds; see `Layout.over_seeds`.

        Equal trainings share it; see `programs`.

        Args:
            method: A method of `Training`.
            batched: The number of leading arguments that have the seeds as first axis.
            unbatched: The number of other arguments.
            donate: Whether the memory of the first argument may be reused.

        """

        def make() -> Any:
            function = self.layout.over_seeds(method, batched, unbatched)
            return jax.jit(function, donate_argnums=0 if donate else ())

        return shared(self.training, self.layout.mesh, method.__name__, make)

    def init(self) -> AgentState:
        """The states before the first step."""
        return self._init(self.layout.keys)

    @abc.abstractmethod
    def advance(self, state: AgentState, start: int, stop: int) -> AgentState:
        """Take the steps start, ..., stop - 1; `state` must not be used afterwards."""

    @abc.abstractmethod
    def evaluate(self, state: AgentState, step: int) -> tuple[AgentState, Metrics]:
        """Evaluate all seeds after `step` steps; `state` must not be used afterwards.

        Returns:
            The new states, and the metrics with the seeds as first axis.

        """

    def snapshot(self, state: AgentState, step: int) -> Metrics:
        """The snapshot after `step` steps, with the seeds as first axis."""
        return self._snapshot(state, self.layout.keys, jnp.int32(step))

    def parameters(self, state: AgentState) -> np.ndarray:
        """The parameters of each seed, shape (seeds, p)."""
        flat = jax.vmap(self.training.agent.parameters)(state)
        return np.asarray(flat)[: self.layout.seeds]

    def with_parameters(self, state: AgentState, parameters: np.ndarray) -> AgentState:
        """The states with other parameters, shape (seeds, p)."""
        replaced = self.layout.over_seeds(self.training.agent.with_parameters, 2, 0)
        found: AgentState = jax.jit(replaced)(state, self.layout.placed(jnp.asarray(parameters)))
        return found

    def to_checkpoint(self, state: AgentState) -> Any:
        """What a checkpoint stores: a pytree of arrays."""
        return self.layout.own_rows(state)

    def state_structure(self) -> Any:
        """The shapes of what `to_checkpoint` returns."""
        keys = jax.vmap(jax.random.key)(jnp.zeros(self.layout.seeds, int))
        return jax.eval_shape(jax.vmap(self.training.init), keys)

    def from_checkpoint(self, saved: Any, facts: dict[str, Any]) -> AgentState:
        """The states stored in a checkpoint.

        Args:
            saved: What `to_checkpoint` returned.
            facts: What `facts` returned when the checkpoint was written.

        """
        placed: AgentState = self.layout.placed(saved)
        return placed

    def facts(self) -> dict[str, Any]:
        """What to store with the results, in types that JSON can represent."""
        return {}

    def close(self) -> None:
        """Release resources other than memory; there are none if everything is compiled."""
        return


class CompiledBlock(Block):
    """A block in which everything is compiled, including the environment."""

    def __init__(self, training: Training, layout: Layout) -> None:
        super().__init__(training, layout)
        self._advance = self.compiled(training.advance, 1, 2, donate=True)
        self._evaluate = self.compiled(training.evaluate, 2, 1, donate=True)

    def advance(self, state: AgentState, start: int, stop: int) -> AgentState:
        """Take all steps in one call; see `Block.advance`."""
        return self._advance(state, jnp.int32(start), jnp.int32(stop))

    def evaluate(self, state: AgentState, step: int) -> tuple[AgentState, Metrics]:
        """Run all episodes in one call; see `Block.evaluate`."""
        return self._evaluate(state, self.layout.keys, jnp.int32(step))
