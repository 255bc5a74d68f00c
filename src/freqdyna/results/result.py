"""The data of a training with operations on it: plot, act, watch, save."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsInt

import numpy as np

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.plugins import import_code
from freqdyna.results.folder import encode, new_folder, read_record, write
from freqdyna.results.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Result(Record):
    """What `freqdyna.train` returns and `freqdyna.load` reads back."""

    def network(self, seed: SupportsInt) -> Any:
        """The trained network of one seed: a function from a state of shape (n,) to its outputs.

        The outputs are the action values. For NAF they are V, μ before tanh, and the entries of L;
        for SAC μ before tanh, and log σ.
        A state is an observation: the scale of `scale_observations` is part of the first layer.
        To get actions, use `policy`.
        """
        parameters = self.seed_parameters(seed)
        if not self.layer_sizes:
            raise FreqdynaError(f"{self!r} was stored without a network")
        return network_of(self.config, parameters, self.layer_sizes)

    def policy(self, seed: SupportsInt, *, env: Any = None) -> Callable[[Any], Any]:
        """The greedy policy of one seed.

        Args:
            seed: The seed.
            env: Needed only for a stored run whose environment was passed to `train` in Python.

        Returns:
            A function from an observation of shape (n,) to an action of the environment, or from a
            batch of observations of shape (batch, n) to an array of actions.

        """
        from freqdyna.results.policy import policy_of

        self.require_agent()
        return policy_of(self, seed, env)

    def export_policy(
        self,
        path: str | os.PathLike[str],
        seed: SupportsInt | None = None,
        *,
        env: Any = None,
    ) -> None:
        """Write the greedy policy of one seed as NumPy arrays, for use without JAX.

        Args:
            path: The file, which must end in .npz; `freqdyna.results.policy` describes its arrays.
            seed: The seed; None for the first one.
            env: Needed only for a stored run whose environment was passed to `train` in Python.

        """
        from freqdyna.results.policy import export_policy

        network = self.network(self.seeds[0] if seed is None else seed)
        export_policy(self, network, Path(path), env)

    def plot(self, path: str | os.PathLike[str] | None = None, *, x: str = "steps") -> "Figure":
        """The learning curve as a Matplotlib figure.

        Args:
            path: A file to write it to as well: PNG, PDF or SVG, depending on its ending.
            x: "steps", or "seconds" for the wall-clock time of training.

        """
        from freqdyna.results.draw import save_figure
        from freqdyna.results.plot import plot_curves

        figure = plot_curves([self], x=x)
        if path is not None:
            save_figure(figure, Path(path))
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
        """Write an animation of a seed's greedy policy as a GIF.

        Args:
            path: The file, which must end in .gif.
            seed: The seed; None for the first one.
            episodes: The number of episodes.
            env: Needed only if an environment was passed to `train` in Python: an `Environment`
                with a `painter`, or a Gymnasium environment, or a function that creates one, with
                render_mode="rgb_array".
            progress: Whether to print what happens.

        Returns:
            The return of each episode, shape (episodes,).

        """
        from freqdyna.results.watch import write_animation

        self.require_agent()
        say = print if progress else lambda text: None
        return write_animation(self, Path(path), seed, episodes, env, say)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write a new run folder; it must not exist yet. Returns its path."""
        with new_folder(folder) as path:
            write(path, encode(self))
        return path


def network_of(config: Config, parameters: np.ndarray, layer_sizes: tuple[int, ...]) -> Any:
    """The network with a flat vector of parameters, shape (p,); see `Result.network`."""
    import jax.numpy as jnp

    from freqdyna.agents.networks import ACTIVATIONS, network_from_flat

    activation, layer_norm = config["learner.activation"], config["learner.layer_norm"]
    flat = jnp.asarray(parameters)
    return network_from_flat(flat, layer_sizes, ACTIVATIONS[activation], layer_norm)


def load(folder: str | os.PathLike[str], *, allow_code: bool = False) -> Result:
    """Load a run folder.

    Args:
        folder: The folder, written by `train(..., out=folder)`, `Result.save` or `freqdyna import`.
        allow_code: Whether to import the module of an environment such as `module:id`, so that
            `policy` and `watch` can create it; use it only if you trust the folder.

    """
    result = read_record(Path(folder), Result)
    if allow_code and result.imported_from is None:
        import_code(env=result.config.env)
    return result
