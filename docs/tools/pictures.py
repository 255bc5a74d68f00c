"""Draws the pictures of docs/concepts.md: `python docs/tools/pictures.py RUN`.

RUN is a run folder of MountainCar with a snapshot, such as the one of docs/start.md.
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import freqdyna
from freqdyna import envs
from freqdyna.agents.snapshot import axes
from freqdyna.experiments.parts.regression.f_sin import HIGH, LOW, f_sin
from freqdyna.results.chart import Chart, Mesh, Points
from freqdyna.results.draw_matplotlib import draw
from freqdyna.results.plot_snapshots import STORES
from freqdyna.results.state_map import map_panel

IMAGES = Path(__file__).parent.parent / "images"


def draw_f_sin() -> Figure:
    """The paper's f_sin and its local frequency."""
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
    """V, g, and states of the replay buffer and the queue, for the first seed and last snapshot."""
    result = freqdyna.load(folder)
    env = envs.make(result.config.env)
    step = max(result.snapshots)
    found = {name: values[0] for name, values in result.snapshots[step].items()}
    value, frequency = found["value"], found["frequency"]
    x, y = axes(env, value.shape)
    greatest = float(frequency.max())
    surfaces = {
        "value V(s)": Mesh(x, y, value.T, (float(value.min()), float(value.max()))),
        "local frequency g(s)": Mesh(x, y, frequency.T, (greatest * 1e-6, greatest), log=True),
    }
    states = {
        f"states of the {name}": Points(
            found[name][:, 0], found[name][:, 1], color, size=2, opacity=0.5
        )
        for name, color in STORES.items()
    }
    panels = [map_panel(env, title, [mesh], filled=False) for title, mesh in surfaces.items()]
    panels += [map_panel(env, title, [points]) for title, points in states.items()]
    title = f"{result.config.algorithm} on {env.name}, seed {result.seeds[0]}, step {step:,}"
    return draw(Chart(panels, title, columns=2, panel_size=(4.2, 3.5)))


if __name__ == "__main__":
    draw_f_sin().savefig(IMAGES / "f-sin.png")
    draw_run(Path(sys.argv[1])).savefig(IMAGES / "mountain-car.png", dpi=110)
