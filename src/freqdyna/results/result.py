"""A training's data with what one does with them: plot, act, watch, save."""

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsInt

import numpy as np

from freqdyna.core.errors import FreqdynaError
from freqdyna.results import run_folder
from freqdyna.results.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Result(Record):
    """What `freqdyna.train` returns and `freqdyna.load` reads back."""

    @staticmethod
    def of(record: Record) -> "Result":
        """The same data as a result."""
        return Result(**{field.name: getattr(record, field.name) for field in fields(record)})

    def network(self, seed: SupportsInt) -> Any:
        """The trained network of one seed: a function from a state to its outputs.

        They are the action values, or for NAF V, μ before its bounds, and the entries of L. A state
        is an observation as the agent has it: with `normalize`, scaled by the numbers under
        "scaling" in `provenance`. For actions see `policy`.
        """
        import jax.numpy as jnp

        from freqdyna.agents.networks.mlp import network_from_flat

        row = self.row(seed)
        if not self.layer_sizes:
            raise FreqdynaError(f"{self!r} was stored without a network")
        return network_from_flat(jnp.asarray(self.parameters[row]), self.layer_sizes)

    def policy(self, seed: SupportsInt, *, env: Any = None) -> Callable[[Any], Any]:
        """The greedy policy of one seed, from an observation to an action of its environment.

        `env` is needed only for a run that was given an environment in Python.
        """
        from freqdyna.results.policy import policy_of

        return policy_of(self, seed, env)

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
        run_folder.write_record(path, self)
        return path


def _say_nothing(text: str) -> None:
    """Keep quiet."""


def load(folder: str | os.PathLike[str]) -> Result:
    """Read a run folder."""
    return Result.of(run_folder.read_record(Path(folder)))
