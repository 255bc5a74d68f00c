"""The outcome of a run: curves of every seed, trained parameters, configuration and provenance."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsInt

import numpy as np

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.results import run_folder
from freqdyna.results.statistics import seeds_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Result:
    """What `freqdyna.train` returns and `freqdyna.load` reads back."""

    config: Config
    provenance: dict[str, Any]
    """Versions, commit, machine and date of the run."""
    seeds: np.ndarray
    """The seeds, shape (seeds,)."""
    steps: np.ndarray
    """The environment steps at which each seed was evaluated, shape (evaluations,)."""
    metrics: dict[str, np.ndarray]
    """Each metric by name, shape (seeds, evaluations); `docs/metrics.md` defines them."""
    parameters: np.ndarray
    """The trained parameters, one flat vector a seed, shape (seeds, parameters)."""
    layer_sizes: tuple[int, ...]
    """Widths of the network's layers, from the observation size to the number of outputs."""
    snapshots: dict[int, dict[str, np.ndarray]] = field(default_factory=dict)
    """What was recorded after each of `snapshot_steps`; `docs/metrics.md` says what is in it."""

    @property
    def returns(self) -> np.ndarray:
        """The evaluation returns, shape (seeds, evaluations)."""
        return self.metrics["return"]

    def mean_return(self, first_step: int = 0) -> np.ndarray:
        """Each seed's mean evaluation return from `first_step` on, shape (seeds,)."""
        return self.returns[:, self.steps >= first_step].mean(axis=1)

    def rows(self, config: Config, first: int) -> "Result":
        """The rows from `first` on as a result of `config`, for runs of several configurations."""
        chosen = slice(first, first + config.seeds)
        return Result(
            config=config,
            provenance=self.provenance,
            seeds=np.arange(config.first_seed, config.first_seed + config.seeds),
            steps=self.steps,
            metrics={name: values[chosen] for name, values in self.metrics.items()},
            parameters=self.parameters[chosen],
            layer_sizes=self.layer_sizes,
        )

    def network(self, seed: SupportsInt) -> Any:
        """The trained network of one seed: a function from a state to its outputs.

        They are the action values, or for NAF V, μ before its bounds, and the entries of L. A state
        is an observation as the agent has it: with `normalize`, scaled by the numbers under
        "scaling" in `provenance`. For actions see `policy`.
        """
        import jax.numpy as jnp

        from freqdyna.agents.networks.mlp import network_from_flat

        row = self._row(seed)
        if not self.layer_sizes:
            raise FreqdynaError(f"{self!r} was stored without a network")
        return network_from_flat(jnp.asarray(self.parameters[row]), self.layer_sizes)

    def policy(self, seed: SupportsInt, *, env: Any = None) -> Callable[[Any], Any]:
        """The greedy policy of one seed, from an observation to an action of its environment.

        `env` is needed only for a run that was given an environment in Python.
        """
        from freqdyna.results.policy import policy_of

        return policy_of(self, seed, env)

    def seed_parameters(self, seed: SupportsInt) -> np.ndarray:
        """The trained parameters of one seed, shape (p,)."""
        row = self._row(seed)
        if self.parameters.shape[1] == 0:
            raise FreqdynaError(f"{self!r} was stored without its parameters")
        return self.parameters[row]

    def plot(self, path: str | os.PathLike[str] | None = None) -> "Figure":
        """The learning curve as a Matplotlib figure, also written to `path` if one is given."""
        from freqdyna.results.plot import plot_curves

        figure = plot_curves([self])
        if path is not None:
            figure.savefig(path)
        return figure

    def watch(
        self,
        path: str | os.PathLike[str],
        seed: SupportsInt | None = None,
        episodes: int = 3,
        *,
        env: Any = None,
        progress: bool = False,
    ) -> np.ndarray:
        """Film `episodes` of a seed's greedy policy as a GIF; returns the return of each.

        Without `seed` it is the first one's. `env` is needed only for a run that was given an
        environment in Python: an `Environment` with a `painter`, or a Gymnasium environment, or a
        function that makes one, with render_mode="rgb_array".
        """
        from freqdyna.results.film import check_path, write_film
        from freqdyna.results.playback import film_policy

        file, tell = Path(path), print if progress else _say_nothing
        check_path(file)
        film, returns = film_policy(self, seed, episodes, env, tell)
        data = film.encoded()
        write_film(file, data)
        faster = f", {film.speed:.1f} times as fast" if film.speed > 1 else ""
        tell(
            f"film: {file} ({len(film.frames)} frames, {sum(film.durations) / 1000:.0f} s{faster}, "
            f"{len(data) / 1000:.0f} kB)"
        )
        return returns

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write a new run folder; an existing one is refused."""
        path = run_folder.create(folder, self.config)
        run_folder.write_result(path, self)
        return path

    def _row(self, seed: SupportsInt) -> int:
        rows = np.flatnonzero(self.seeds == int(seed))
        if len(rows) == 0:
            raise FreqdynaError(f"seed is {seed}; it must be one of {self.seeds.tolist()}")
        return int(rows[0])

    def __repr__(self) -> str:
        last = self.returns[:, -1]
        there = np.isfinite(last)
        mean = f"{last[there].mean():.1f}" if there.any() else "none: every seed ended or diverged"
        return (
            f"Result({self.config.algorithm} on {self.config.env}, {seeds_text(there)} seeds, "
            f"{self.steps[-1]:,} steps, last mean return {mean})"
        )


def _say_nothing(text: str) -> None:
    """Keep quiet."""


def load(folder: str | os.PathLike[str]) -> Result:
    """Read a run folder."""
    return Result(**run_folder.read_result(Path(folder)))
