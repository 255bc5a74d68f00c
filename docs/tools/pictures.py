"""Draws the pictures of docs/concepts.md: `python docs/tools/pictures.py RUN`.

RUN is a run folder of MountainCar with a snapshot, such as the one of docs/start.md.
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

import freqdyna
from freqdyna import envs
from freqdyna.agents.snapshot import axes
from freqdyna.experiments.parts.regression.f_sin import HIGH, LOW, f_sin
from freqdyna.results.plot_snapshots import frame

IMAGES = Path(__file__).parent.parent / "images"


def draw_f_sin() -> Figure:
    """The paper's f_sin, and the local frequency of it."""
    x = np.linspace(LOW, HIGH, 1600)
    g = jax.vmap(lambda y: freqdyna.local_frequency(lambda z: f_sin(z)[0], y))(
        jnp.asarray(x)[:, None]
    )
    figure = Figure(figsize=(7, 3.6), dpi=110, layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.plot(x, f_sin(jnp.asarray(x)), linewidth=1)
    upper.set_ylabel("f(x)")
    lower.plot(x, g, linewidth=1, color="C3")
    lower.set_yscale("log")
    lower.set_ylabel("g(x)")
    lower.set_xlabel("x")
    for panel in (upper, lower):
        panel.spines[["top", "right"]].set_visible(False)
    return figure


def draw_run(folder: Path) -> Figure:
    """V, g, and states of the replay and of the queue, of the first seed at the last snapshot."""
    result = freqdyna.load(folder)
    env = envs.make(result.config.env)
    step = max(result.snapshots)
    found = {name: values[0] for name, values in result.snapshots[step].items()}
    figure = Figure(figsize=(8.4, 7), dpi=110, layout="constrained")
    figure.suptitle(
        f"{result.config.algorithm} on {env.name}, seed {result.seeds[0]}, step {step:,}"
    )
    panels = figure.subplots(2, 2)
    for panel, name, title in zip(
        panels[0], ("value", "frequency"), ("value V(s)", "local frequency g(s)"), strict=True
    ):
        surface = found[name]
        scale = LogNorm(surface.max() * 1e-6, surface.max()) if name == "frequency" else None
        frame(panel, env, filled=False)
        image = panel.pcolormesh(
            *axes(env, surface.shape), surface.T, shading="nearest", rasterized=True, norm=scale
        )
        figure.colorbar(image, ax=panel)
        panel.set_title(title)
    for panel, name, color in zip(panels[1], ("replay", "queue"), ("0.35", "red"), strict=True):
        frame(panel, env)
        panel.scatter(*found[name].T, s=2, color=color, alpha=0.5, linewidths=0, zorder=3)
        panel.set_title(f"states of the {name}")
    return figure


if __name__ == "__main__":
    draw_f_sin().savefig(IMAGES / "f-sin.png")
    draw_run(Path(sys.argv[1])).savefig(IMAGES / "mountain-car.png")
