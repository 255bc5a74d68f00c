"""Draws pictures of the documentation, and writes the tables of docs/compare.md from stored runs.

Run `COLUMNS=80 python docs/tools/pictures.py [RUN]`.

Without RUN, those that need no run. RUN is a run folder of MountainCar with a snapshot, such as the
one of docs/first-run.md.
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.figure import Figure

import freqdyna
from freqdyna import envs
from freqdyna.agents.dyna.view import axes
from freqdyna.results.chart import (
    STORE_COLORS,
    Axis,
    Chart,
    Mesh,
    Panel,
    dots,
)
from freqdyna.results.draw import draw
from freqdyna.results.maps import map_panel
from reproduction.regression import HIGH, LOW, f_sin
from reproduction.store import runs

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
        f"states of the {name}": dots(found[name][:, 0], found[name][:, 1], color)
        for name, color in STORE_COLORS.items()
    }
    panels = [map_panel(env, title, [mesh], filled=False) for title, mesh in surfaces.items()]
    panels += [map_panel(env, title, [points]) for title, points in states.items()]
    title = f"{result.config.algorithm} on {env.name}, seed {result.seeds[0]}, step {step:,}"
    return draw(Chart(panels, title, columns=2, panel_size=(4.2, 3.5)))


def draw_environments() -> Figure:
    """The rewards of PuddleWorld; visited states and uniform ones of TubeGridWorld-8."""
    puddles, tube = envs.make("PuddleWorld"), envs.make("TubeGridWorld-8")
    x, y = axes(puddles, (200, 200))
    places = jnp.stack(jnp.meshgrid(x, y), -1)

    def reward(state: Float[Array, " 2"]) -> Float[Array, ""]:
        found = puddles.reward(state, jnp.int32(0), state)
        return jnp.where(puddles.terminal(state), jnp.nan, found)  # the goal stays white

    cost = np.asarray(jax.vmap(jax.vmap(reward))(places))
    rewards = Mesh(x, y, cost, (-81, -1), bar_label="reward of reaching a state")
    states = {
        "drawn uniformly": (np.random.default_rng(0).uniform(size=(1500, 8)), "red"),
        "visited": (_random_walks(tube)[:1500], "0.2"),
    }
    visited, color = states["visited"]
    walk = dots(visited[:, 0], visited[:, 1], color)
    along = [
        dots(s[:, 0] * np.cos(1) + s[:, 1] * np.sin(1), s[:, 2], color, label)
        for label, (s, color) in states.items()
    ]
    panels = [
        map_panel(puddles, "PuddleWorld", [rewards], filled=False),
        map_panel(tube, "TubeGridWorld-8, visited states", [walk]),
        Panel(
            "TubeGridWorld-8, visited (grey)\nand uniform states (red)",
            x=Axis("x cos 1 + y sin 1"),
            y=Axis("third coordinate", low=0, high=1),
            marks=along,
            is_map=True,
        ),
    ]
    return draw(Chart(panels, panel_size=(4.2, 3.6)))


def write_comparison(page: Path) -> Figure:
    """The stored runs of MountainCar compared: the tables are written into the page."""
    stored = runs(Path(__file__).parents[2] / "results" / "mountain-car.parquet")
    comparison = freqdyna.compare(*stored.values(), all_pairs=True)
    tables = str(comparison).partition("\nBrackets")[0]
    before, fence, rest = page.read_text().partition("```text\n")
    page.write_text(f"{before}{fence}{tables}{rest[rest.index('```') :]}")
    return comparison.plot()


def _random_walks(env: envs.Environment) -> np.ndarray:
    """States that random actions visit, in random order, shape (states, n)."""

    def walk(key: PRNGKeyArray) -> Float[Array, "steps n"]:
        def step(
            state: Float[Array, " n"], key: PRNGKeyArray
        ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
            act_key, env_key = jax.random.split(key)
            action = jax.random.randint(act_key, (), 0, env.num_actions)
            after, _, terminal = env.transition(state, action, env_key)
            return jnp.where(terminal, env.reset(env_key), after), state

        return jax.lax.scan(step, env.reset(key), jax.random.split(key, 2000))[1]

    states = jax.vmap(walk)(jax.random.split(jax.random.key(0), 20)).reshape(-1, len(env.low))
    return np.random.default_rng(1).permutation(np.asarray(states))


if __name__ == "__main__":
    draw_f_sin().savefig(IMAGES / "f-sin.png")
    draw_environments().savefig(IMAGES / "environments.png", dpi=110)
    write_comparison(IMAGES.parent / "compare.md").savefig(IMAGES / "compare.png", dpi=110)
    if sys.argv[1:]:
        draw_run(Path(sys.argv[1])).savefig(IMAGES / "mountain-car.png", dpi=110)
