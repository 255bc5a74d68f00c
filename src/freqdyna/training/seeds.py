"""The training of seeds: one as a pure function of its key, and many at once, over devices.

`Training` is one seed. `Block` compiles its methods for all seeds of a run and distributes these
over devices. Equal trainings of one process share the compiled programs.
"""

import dataclasses
import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Int, PRNGKeyArray

from freqdyna.agents.dyna.agent import Dyna
from freqdyna.agents.dyna.state import DynaState
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.keys import seed_keys
from freqdyna.envs.base import Environment, evaluate
from freqdyna.results.record import evaluation_steps

Metrics = dict[str, Array]
KEPT_PROGRAMS = 24
"""The number of programs that are kept; the least recently used one is dropped."""
_programs: OrderedDict[Hashable, Any] = OrderedDict()


class Training(eqx.Module):
    """How one seed is trained and evaluated; `jit` and `vmap` compose with every method."""

    agent: Dyna
    eval_episodes: int = eqx.field(static=True)
    eval_exploration: float

    def init(self, key: PRNGKeyArray) -> DynaState:
        """The state of a seed before its first step.

        Training, evaluation and snapshots use separate streams of random numbers.
        """
        return self.agent.init(jax.random.fold_in(key, 0))

    def advance(self, state: DynaState, start: Int[Array, ""], stop: Int[Array, ""]) -> DynaState:
        """Take the steps start, ..., stop - 1, both of shape ()."""
        return jax.lax.fori_loop(start, stop, lambda t, s: self.agent.step(s, t), state)

    def evaluate(
        self, state: DynaState, key: PRNGKeyArray, step: Int[Array, ""]
    ) -> tuple[DynaState, Metrics]:
        """Evaluate the current policy.

        Args:
            state: The state of the seed.
            key: The key of the seed.
            step: The number of steps taken so far, shape ().

        Returns:
            The state with its diagnostics reset, and the metrics by name, each a scalar.

        """
        eval_key = jax.random.fold_in(jax.random.fold_in(key, 1), step)

        def policy(observation: Array, act_key: PRNGKeyArray) -> Array:
            return self.agent.act(state, observation, self.eval_exploration, act_key)

        env = self.agent.env
        assert isinstance(env, Environment)
        metrics = evaluate(env, policy, self.eval_episodes, eval_key)
        metrics |= self.agent.metrics(state)
        return dataclasses.replace(state, diagnostics=state.diagnostics.reset()), metrics

    def snapshot(self, state: DynaState, key: PRNGKeyArray, step: Int[Array, ""]) -> Metrics:
        """The snapshot after `step` steps, by name; see `docs/metrics.md`."""
        key = jax.random.fold_in(jax.random.fold_in(key, 2), step)
        return self.agent.snapshot(state, step, key)

    def parameters(self, state: DynaState) -> Array:
        """The current parameters as one flat vector."""
        return self.agent.parameters(state)

    def run(self, key: PRNGKeyArray, steps: int, eval_every: int) -> tuple[DynaState, Metrics]:
        """The whole training of one seed as one pure function of its key.

        Args:
            key: The key of the seed.
            steps: The number of environment steps.
            eval_every: Steps between evaluations.

        Returns:
            The last state, and the metrics by name, each of shape (evaluations,). They are not
            replaced by NaN if the seed diverged: see `diverged_at`.

        """

        def between_evaluations(state: DynaState, stop: Int[Array, ""]) -> Any:
            start = (stop - 1) // eval_every * eval_every
            return self.evaluate(self.advance(state, start, stop), key, stop)

        return jax.lax.scan(
            between_evaluations, self.init(key), jnp.asarray(evaluation_steps(steps, eval_every))
        )


@dataclasses.dataclass(frozen=True)
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
        keys = jax.device_put(seed_keys(filled), NamedSharding(mesh, PartitionSpec("seeds")))
        return Layout(len(seeds), rows, mesh, keys)

    def over_seeds(self, function: Callable[..., Any], batched: int, unbatched: int) -> Any:
        """Apply a function of one seed to all seeds.

        The first `batched` arguments have the seeds as first axis; all seeds share the others.
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

    def without_copies(self, tree: Any) -> Any:
        """The arrays without the copies that pad the last device."""
        return _first_rows(tree, self.seeds) if self.rows > self.seeds else tree

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


class Block:
    """The training of a block of seeds, with everything compiled, including the environment."""

    def __init__(self, training: Training, layout: Layout) -> None:
        self.training, self.layout = training, layout
        self.messages: list[str] = []
        """Warnings for the user; whoever shows them empties the list."""
        self._init = self.compiled(training.init, 1, 0)
        self._advance = self.compiled(training.advance, 1, 2, donate=True)
        self._evaluate = self.compiled(training.evaluate, 2, 1, donate=True)
        self._snapshot = self.compiled(training.snapshot, 2, 1)
        self._parameters = self.compiled(training.parameters, 1, 0)

    def compiled(
        self, function: Callable[..., Any], batched: int, unbatched: int, donate: bool = False
    ) -> Any:
        """A function of one seed, compiled for all seeds; equal trainings share it.

        It depends on nothing but the training, and its name identifies it. See `over_seeds` for its
        arguments; `donate` says whether the memory of the first one may be reused.
        """
        identity = _identity(self.training)
        key = identity, self.layout.mesh, function.__name__
        program = _programs.pop(key, None) if identity is not None else None
        if program is None:
            program = jax.jit(
                self.layout.over_seeds(function, batched, unbatched),
                donate_argnums=0 if donate else (),
                compiler_options=_compiler_options(function.__name__, self.training.agent),
            )
        if identity is not None:
            _programs[key] = program
            if len(_programs) > KEPT_PROGRAMS:
                _programs.popitem(last=False)
        return program

    def init(self) -> DynaState:
        """The states before the first step."""
        return self._init(self.layout.keys)

    def advance(self, state: DynaState, start: int, stop: int) -> DynaState:
        """Take the steps start, ..., stop - 1; `state` must not be used afterwards."""
        return self._advance(state, jnp.int32(start), jnp.int32(stop))

    def evaluate(self, state: DynaState, step: int) -> tuple[DynaState, Metrics]:
        """The states after an evaluation, and its metrics; `state` must not be used afterwards."""
        return self._evaluate(state, self.layout.keys, jnp.int32(step))

    def snapshot(self, state: DynaState, step: int) -> Metrics:
        """The snapshot after `step` steps, with the seeds as first axis."""
        return self._snapshot(state, self.layout.keys, jnp.int32(step))

    def parameters(self, state: DynaState) -> np.ndarray:
        """The parameters of each seed, shape (seeds, p)."""
        return np.asarray(self._parameters(state))[: self.layout.seeds]

    def with_parameters(self, state: DynaState, parameters: np.ndarray) -> DynaState:
        """The states with other parameters, shape (seeds, p)."""
        replaced = jax.jit(self.layout.over_seeds(self.training.agent.with_parameters, 2, 0))
        states: DynaState = replaced(state, self.layout.placed(jnp.asarray(parameters)))
        return states

    def trace(self) -> None:
        """Trace all that a training compiles; this raises the errors in classes of the user."""
        key = jax.eval_shape(lambda keys: keys[0], self.layout.keys)
        state = jax.eval_shape(self.training.init, key)
        state = jax.eval_shape(self.training.advance, state, 0, 1)
        jax.eval_shape(self.training.evaluate, state, key, 1)
        jax.eval_shape(self.training.snapshot, state, key, 1)

    def to_checkpoint(self, state: DynaState) -> Any:
        """What a checkpoint stores: a pytree of arrays."""
        return self.layout.without_copies(state)

    def state_structure(self) -> Any:
        """The shapes of what `to_checkpoint` returns."""
        keys = jax.eval_shape(lambda keys: keys[: self.layout.seeds], self.layout.keys)
        return jax.eval_shape(jax.vmap(self.training.init), keys)

    def from_checkpoint(self, saved: Any, facts: dict[str, Any]) -> DynaState:
        """The states of a checkpoint, given what `to_checkpoint` and `facts` returned then."""
        placed: DynaState = self.layout.placed(saved)
        return placed

    def facts(self) -> dict[str, Any]:
        """What to store with the results, in types that JSON can represent."""
        return {}

    def close(self) -> None:
        """Release resources other than memory; there are none if everything is compiled."""


class VariedBlock(Block):
    """A block of several trainings that differ only in numbers, each with as many rows.

    The result of a row does not depend on what the other rows are, but its last digits may depend
    on how many there are.
    """

    def __init__(self, trainings: list[Training], layout: Layout) -> None:
        if len({jax.tree.structure(training) for training in trainings}) > 1:
            raise FreqdynaError("trainings of one program must differ only in numbers")
        each = layout.seeds // len(trainings)
        rows = jax.tree.map(
            lambda *values: jnp.repeat(jnp.asarray(values), each, axis=0), *trainings
        )
        self._rows = layout.placed(rows)
        super().__init__(trainings[0], layout)

    def compiled(
        self, function: Callable[..., Any], batched: int, unbatched: int, donate: bool = False
    ) -> Any:
        """See `Block.compiled`; each row has its own numbers."""
        name = function.__name__

        def call(training: Training, *arguments: Any) -> Any:
            return getattr(training, name)(*arguments)

        program = jax.jit(
            self.layout.over_seeds(call, 1 + batched, unbatched),
            donate_argnums=1 if donate else (),
            compiler_options=_compiler_options(name, self.training.agent),
        )
        return lambda *arguments: program(self._rows, *arguments)


def _compiler_options(name: str, agent: Dyna) -> dict[str, str | int] | None:
    """How to compile a method of `Training` with this name."""
    backend, planning = jax.default_backend(), agent.planning
    if backend == "cpu" and name == "init":
        return {"xla_backend_optimization_level": 0}  # it is computed only once
    differentiates = planning is not None and planning.search_control.takes_derivatives
    if backend == "gpu" and agent.learner.layer_norm and differentiates:
        # This pass also matches layer norms; in their third derivatives, which climbs of g need, it
        # searches for over ten minutes.
        return {"xla_disable_hlo_passes": "triton-softmax-rewriter"}
    return None


def _identity(training: Training) -> Hashable | None:
    """Equal for trainings that share programs: they have the same structure and numbers.

    None for one with a class from outside this package: it is traced every time, so that a change
    to what that class uses takes effect.
    """
    leaves, structure = jax.tree.flatten(training)
    if any(type(part).__module__.partition(".")[0] != "freqdyna" for part in _modules(training)):
        return None
    numbers = tuple((type(leaf), *_exactly(np.asarray(leaf))) for leaf in leaves)
    try:
        hash((structure, numbers))
    except TypeError:  # a static field that cannot be hashed
        return None
    return structure, numbers


def _exactly(array: np.ndarray) -> tuple[str, tuple[int, ...], bytes]:
    return array.dtype.str, array.shape, array.tobytes()


def _modules(value: Any) -> Iterator[eqx.Module]:
    """The module and all modules in its fields, static ones included."""
    if isinstance(value, eqx.Module):
        yield value
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, tuple | list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _modules(item)


def require_memory(training: Training, seeds: int, devices: list[jax.Device]) -> None:
    """Raise an error if the states of all seeds do not fit into the free memory.

    Without this check, Linux promises more memory than there is, and kills the process later.
    """
    state = jax.eval_shape(training.init, jax.random.key(0))
    one = sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))
    needed, where = one * math.ceil(seeds / len(devices)), "each device"
    if devices[0].platform == "cpu":
        needed, where = needed * len(devices), "this machine"
        free = _free_memory()
    else:
        stats = devices[0].memory_stats() or {}
        free = stats["bytes_limit"] - stats["bytes_in_use"] if "bytes_limit" in stats else None
    if free is not None and needed > free:
        raise FreqdynaError(
            f"this run needs {needed / 2**30:,.1f} GiB of memory and {where} has "
            f"{free / 2**30:,.1f} GiB; reduce seeds, buffer_size, queue_size or hidden"
        )


def _free_memory() -> int | None:
    """The bytes that this process can still allocate; None if that is not known."""
    limits = []
    with suppress(OSError, ValueError, KeyError):
        lines = (line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        sizes = {name: int(size.split()[0]) * 1024 for name, size in lines}
        limits.append(sizes["MemAvailable"] + sizes["SwapFree"])
    with suppress(OSError, ValueError, KeyError):  # a container may have less
        group = Path("/sys/fs/cgroup")
        used = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        limits.append(int((group / "memory.max").read_text()) - int(used["anon"]))
    return min(limits, default=None)
