"""Which states should an agent plan from? Three designs, with today's learner, models and trust.

Written on 2026-11-19, before any training of it. 30 seeds from 0, 8,000 steps (20,000 in the maze:
elsewhere the stored `er` has passed its threshold by then, and few steps are the question), 5
greedy episodes every 500 steps, the defaults of `dyna` where nothing else is said. The score of a
seed is the mean of its returns, 0 for a random policy and 1 for the best known
(`planning_cells.py`, which also has `er`, whose settings were chosen by rules with more trainings
than anything here, and `er` with twice the updates). Pendulum is in `control.py`. Planning "within
k steps" moves a proposed state towards its nearest visited one until it is at most k mean steps
away, in coordinates divided by the deviation of the visited states (`examples/within.py`);
`td-error` has visited states as candidates, each moved by k times the step of another transition.

1. **Information or allocation?** With the true model, planning anywhere also means seeing anywhere:
   planning from uniform states is replay that is given as many true transitions from them. The lead
   of a search-control over `er` is split at k = 0 (more samples where the agent has been), 1, 5 and
   without limit (what it could not know), and against uniform states at the same k (choice).
   Hypotheses: (a) in most domains with a lead over `er` of at least 0.05, more than half of it is
   gone within 5 steps; (b) at no k does the choice of `td-error` matter by more than 0.05 in more
   than two domains.
2. **When may an agent leave its data?** Nothing is known beforehand: one network or an ensemble,
   trust "always" or "calibrated", k = 0, 5 and no limit. Hypotheses: (c) with "always", the worst
   domain is lower without limit than at k = 0, by more than 0.05; (d) with "calibrated" and the
   ensemble, no k is lower than `er` by more than 0.05 in any domain.
3. **Frequency, fairly.** `value`, `frequency`, `td-error` and `uniform` with the true model, and
   `er`, choose among six settings each, on MountainCar, GridWorld and PuddleWorld with 10 seeds
   from 5000: the highest mean score. Then 30 seeds from 0: MountainCar with 10 and 30 updates,
   without and with reward noise of 0.1 (the paper's claim), GridWorld, MazeGridWorld, and
   TubeGridWorld-2, -4, -8.
   Hypotheses: (e) `frequency` is ahead of `value` on MountainCar, as the paper says; (f) nowhere is
   it ahead of both `uniform` and `td-error`.

A difference of means has a 95% interval by Welch; "ahead" needs p < 0.05 with Holm's correction
over the domains of a hypothesis; "level" is an interval inside ±0.05.

`benchmarks/pool.py` trains what is missing, `collect FOLDER` adds it to
`results/where_to_plan.parquet`, `show` prints the tables and draws the figure, and `train AGENT
ENV` repeats a row.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import planning_cells
from choose_defaults import EVAL_EVERY, place
from planning_cells import CELLS, Cell, holm
from samples import origin
from scipy.stats import ttest_ind

import freqdyna
from freqdyna.config import Config
from freqdyna.search_control import Frequency, FromReplay, SearchControl, TDError, Uniform, Value
from freqdyna.training.api import prepare_together
from freqdyna.training.checkpoint import RunOptions

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "examples"))

from prioritized_sweeping import PrioritizedSweeping  # noqa: E402
from td_climb import TDClimb  # noqa: E402
from within import Within  # noqa: E402

STORED = ROOT / "results" / "where_to_plan.parquet"
FIGURE = ROOT / "docs" / "images" / "where-to-plan.png"
SEEDS = 30
STEPS, MAZE_STEPS = 8_000, 20_000
BUILT_IN = {cell.env: cell for cell in CELLS if cell.built_in}
LEVEL = 0.05
TRUE: dict[str, Any] = {"algorithm": "dyna", "model": "true"}


@dataclass(frozen=True)
class Agent:
    """A name, and the arguments of `freqdyna.train`.

    Agents of a group differ in numbers only, and are trained in one program: on an accelerator,
    that takes little longer than one of them.
    """

    name: str
    settings: dict[str, Any] = field(compare=False)
    envs: tuple[str, ...] = tuple(BUILT_IN)
    seeds: int = SEEDS
    first_seed: int = 0
    group: str = ""


Control = SearchControl | dict[str, Any]
"""An object, or a name and settings: only these can be trained in one program."""


def with_control(base: dict[str, Any], control: Control) -> dict[str, Any]:
    """An agent's settings with a search-control."""
    return base | {"search_control": control}


def near(steps: float) -> dict[str, Any]:
    """`td-error` among candidates so many steps away from visited states."""
    return {"name": "td-error", "uniform": False, "reach": steps}


COLORS = {
    "uniform": "tab:gray",
    "td-error": "tab:blue",
    "value": "tab:orange",
    "frequency": "tab:red",
}
CLIMB_V, CLIMB_G = Value(step_size=0.1), Frequency(boundary="project")
"""The better of the options of an earlier study, with the paper's learner."""
KNOWN: dict[str, Control] = {
    **{"visited states": FromReplay(), "uniform": Uniform()},
    **{f"uniform within {k}": Within(Uniform(), float(k)) for k in (1, 5)},
    **{"td-error": TDError(uniform=True), "td-error among visited": near(0.0)},
    **{f"td-error within {k}": near(float(k)) for k in (1, 5)},
    **{"value": CLIMB_V, "value within 5": Within(CLIMB_V, 5.0)},
    **{"frequency": CLIMB_G, "frequency within 5": Within(CLIMB_G, 5.0)},
    **{"td-climb": TDClimb(), "prioritized sweeping": PrioritizedSweeping()},
}
STATES = "uniform", "td-error"
CLIMBS_AND_SWEEPS = "value", "frequency", "td-climb", "prioritized sweeping"
DISTANCES = ("td-error among visited", "td-error within 5", "td-error")


def with_each(label: str, base: dict[str, Any], names: Sequence[str]) -> list[Agent]:
    """An agent for each of these search-controls."""
    return [
        Agent(
            f"{label}, {name}",
            with_control(base, KNOWN[name]),
            group=f"{label}, td-error near visited" if isinstance(KNOWN[name], dict) else "",
        )
        for name in names
    ]


INFORMATION = with_each("true model", TRUE, tuple(KNOWN))
LEAVING = [
    agent
    for model in ("ensemble", "learned")
    for trust in ("calibrated", "always")
    for agent in with_each(
        f"{model}, {trust}", {"algorithm": "dyna", "model": model, "trust": trust}, DISTANCES
    )
]
CLIMBS: list[dict[str, Any]] = [
    {"boundary": boundary, "step_size": size}
    for boundary in ("restart", "project")
    for size in (0.01, 0.03, 0.1)
]
SHARES = 0.25, 0.5, 1.0


def simulated(name: str, share: float, **options: Any) -> dict[str, Any]:
    """Planning with the true model and a share of simulated transitions."""
    return with_control(TRUE, {"name": name, **options}) | {"planning.simulated_share": share}


OPTIONS: dict[str, list[dict[str, Any]]] = {
    "er": [
        {"algorithm": "er", "learner.n_step": n, "learner.learning_rate": rate}
        for n in (3, 5)
        for rate in (0.00015, 0.0003, 0.0006)
    ],
    "value": [simulated("value", 0.5, **options) for options in CLIMBS],
    "frequency": [simulated("frequency", 0.5, **options) for options in CLIMBS],
    "td-error": [
        simulated("td-error", share, candidates=n, uniform=True)
        for n in (50, 200)
        for share in SHARES
    ],
    "uniform": [simulated("uniform", share, states=m) for m in (5, 20) for share in SHARES],
}
"""Six options of each. The first three and the last three of `er` and of climbs differ in a number
only."""
CHOSEN = {"er": 1, "value": 1, "frequency": 5, "td-error": 1, "uniform": 3}
"""The choice of the rule, written here once all options are stored; `show` prints it."""


TUNING = [
    Agent(
        f"option {i} of {name}",
        OPTIONS[name][i],
        ("MountainCar-v0", "GridWorld", "PuddleWorld"),
        seeds=10,
        first_seed=5000,
        group=f"options of {name}, {i // 3}" if name in ("er", "value", "frequency") else "",
    )
    for name in OPTIONS
    for i in range(6)
]
TUBES = {
    **{"TubeGridWorld-2": Cell("TubeGridWorld-2", -1757, -36, -45)},
    "TubeGridWorld-8": Cell("TubeGridWorld-8", -1757, -36, -45),
}
ALL_CELLS = BUILT_IN | TUBES
FAIR_ELSEWHERE = (
    *("GridWorld", "MazeGridWorld"),
    *("TubeGridWorld-2", "TubeGridWorld-4", "TubeGridWorld-8"),
)


def fair() -> list[Agent]:
    """The chosen option of each search-control."""
    agents: list[Agent] = []
    for name, number in CHOSEN.items():
        for updates in (10, 30):
            tuned = OPTIONS[name][number] | {"planning_steps": updates}
            label = f"tuned {name}, {updates} updates"
            envs = ("MountainCar-v0", *(FAIR_ELSEWHERE if updates == 10 else ()))
            agents.append(Agent(label, tuned, envs, group=label))
            noisy = tuned | {"env.reward_noise": 0.1}
            agents.append(Agent(f"{label}, noise", noisy, ("MountainCar-v0",), group=label))
    return agents


def chosen(name: str) -> int | None:
    """The option with the highest mean score; None if one is missing."""
    rows = stored_rows()
    means = []
    for i in range(6):
        agent = next(one for one in TUNING if one.name == f"option {i} of {name}")
        scores = [scores_of(rows, agent.name, env) for env in agent.envs]
        if not all(map(len, scores)):
            return None
        means.append(np.mean([of_env.mean() for of_env in scores]))
    return int(np.argmax(means))


Unit = tuple[tuple[Agent, ...], str]
"""The agents of one program, and their environment."""


def units() -> list[Unit]:
    """All trainings; those of the chosen options only once they are known."""
    programs: dict[tuple[str, str], list[Agent]] = {}
    for agent in (*TUNING, *INFORMATION, *LEAVING, *fair()):
        for env in agent.envs:
            programs.setdefault((agent.group or agent.name, env), []).append(agent)
    return [(tuple(agents), env) for (_, env), agents in programs.items()]


def file_of(folder: Path, unit: Unit) -> Path:
    """Where a training is stored before it is collected."""
    agents, env = unit
    return place(folder, agents[0].group or agents[0].name, env)


def train(folder: Path, unit: Unit) -> None:
    """Train agents, and store their returns of shape (agents, seeds, evaluations)."""
    agents, env = unit
    began = time.monotonic()
    sizes: dict[str, Any] = {
        **{"seeds": agents[0].seeds, "first_seed": agents[0].first_seed},
        **{"steps": MAZE_STEPS if env == "MazeGridWorld" else STEPS},
        **{"eval_every": EVAL_EVERY, "eval_episodes": 5},
    }
    if len(agents) == 1:
        result = freqdyna.train(env, **agents[0].settings, **sizes)
    else:
        configs = [Config.of({"env": env} | agent.settings | sizes) for agent in agents]
        result = prepare_together(configs).execute(None, RunOptions(), progress=True)
    np.savez(
        file_of(folder, unit),
        returns=result.returns.reshape(len(agents), agents[0].seeds, -1),
        seconds=time.monotonic() - began,
        settings=[json.dumps(agent.settings, default=repr) for agent in agents],
        origin=origin(),
    )


def stored_rows() -> list[dict[str, Any]]:
    """What the file has, one row for each agent and environment."""
    import pyarrow.parquet as pq

    return pq.read_table(STORED).to_pylist() if STORED.exists() else []


def stored_names() -> set[str]:
    """The files of the trainings that were collected."""
    stored = {(row["agent"], row["env"]) for row in stored_rows()}
    return {
        file_of(Path(), (agents, env)).name
        for agents, env in units()
        if all((agent.name, env) in stored for agent in agents)
    }


def collect(folder: Path) -> None:
    """Add all trainings of a folder to the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = {(row["agent"], row["env"]): row for row in stored_rows()}
    for agents, env in units():
        if (path := file_of(folder, (agents, env))).exists():
            with np.load(path) as stored:
                for i, agent in enumerate(agents):
                    rows[agent.name, env] = {
                        **{"agent": agent.name, "env": env},
                        "returns": stored["returns"][i].tolist(),
                        "seconds": float(stored["seconds"]),  # of all that shared the program
                        "settings": str(stored["settings"][i]),
                        "origin": str(stored["origin"]),
                    }
    pq.write_table(pa.Table.from_pylist(list(rows.values())), STORED, compression="zstd")


def scores_of(rows: list[dict[str, Any]], agent: str, env: str) -> np.ndarray:
    """The score of each seed; empty if the training is missing."""
    found = [row for row in rows if (row["agent"], row["env"]) == (agent, env)]
    if not found:
        return np.zeros(0)
    return planning_cells.area(ALL_CELLS[env], np.array(found[0]["returns"]))


def hundred_seeds(agent: str, env: str) -> np.ndarray:
    """The scores of an agent of `planning_cells.py` after as many steps as here."""
    cell = BUILT_IN[env]
    returns = planning_cells.returns_of(planning_cells.stored_rows(), agent, cell)
    steps = MAZE_STEPS if env == "MazeGridWorld" else STEPS
    return planning_cells.area(cell, returns[:, : steps // EVAL_EVERY])


def difference(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float, float, float]:
    """The difference of the means, its interval, and its p-value."""
    test = ttest_ind(ours, theirs, equal_var=False)
    low, high = test.confidence_interval(0.95)
    return float(ours.mean() - theirs.mean()), float(low), float(high), float(test.pvalue)


def scores(agent: str, env: str) -> np.ndarray:
    """The scores of an agent of this study, or of `planning_cells.py`."""
    others = *planning_cells.RIVALS, "dyna", "dyna, true model"
    return hundred_seeds(agent, env) if agent in others else scores_of(stored_rows(), agent, env)


Row = tuple[str, str, str]
"""A label, an agent, and the agent that it is compared with."""


def table(title: str, rows: list[Row], envs: tuple[str, ...]) -> str:
    """Differences of scores; bold is decided, corrected within the row (Holm), and = is level."""
    lines = [f"| {title} | {' | '.join(envs)} |", "|---" * (len(envs) + 1) + "|"]
    for label, ours, theirs in rows:
        cells: list[tuple[str, float]] = []
        for env in envs:
            both = scores(ours, env), scores(theirs, env)
            if not all(map(len, both)):
                cells.append(("", 1.0))
                continue
            mean, low, high, p = difference(*both)
            level = " =" if low > -LEVEL and high < LEVEL else ""
            cells.append((f"{mean:+.2f} ± {(high - low) / 2:.2f}{level}", p))
        corrected = holm([p for text, p in cells if text])
        for i, (text, _) in enumerate(cells):
            if text and corrected.pop(0) < 0.05:
                cells[i] = f"**{text}**", 0.0
        lines.append(f"| {label} | {' | '.join(text for text, _ in cells)} |")
    return "\n".join(lines)


def show() -> None:
    """Print all tables."""
    known, learned = [[agent.name for agent in of] for of in (INFORMATION, LEAVING)]
    beside_er = [(name, name, "er") for name in (*known, *learned)]
    print(table("less `er`", beside_er, tuple(BUILT_IN)), end="\n\n")
    choice = [
        (where.strip() or "no limit", f"true model, td-error{where}", f"true model, {other}")
        for where, other in {
            " among visited": "visited states",
            " within 1": "uniform within 1",
            " within 5": "uniform within 5",
            "": "uniform",
        }.items()
    ]
    print(table("`td-error` less `uniform`", choice, tuple(BUILT_IN)), end="\n\n")
    pairs = [
        *((f"true model, {of} within {k}", f"true model, {of}") for of in STATES for k in (1, 5)),
        *((f"true model, {of}", "true model, uniform") for of in CLIMBS_AND_SWEEPS),
        *(
            ("ensemble, calibrated, td-error within 5", other)
            for other in (
                "ensemble, always, td-error within 5",
                "learned, calibrated, td-error within 5",
                "true model, td-error within 5",
            )
        ),
        *(("dyna", other) for other in (*planning_cells.RIVALS, "dyna, true model")),
    ]
    between = [(f"{ours} less {theirs}", ours, theirs) for ours, theirs in pairs]
    print(table("two of them", between, tuple(BUILT_IN)), end="\n\n")
    print({name: chosen(name) for name in OPTIONS}, "are chosen", end="\n\n")
    envs = ("MountainCar-v0", *FAIR_ELSEWHERE)
    updates = [f"{n} updates{noise}" for n in (10, 30) for noise in ("", ", noise")]
    tuned = [(f"tuned {n}, {u}", f"tuned er, {u}") for n in COLORS for u in updates]
    print(table("less tuned `er`", [(ours, ours, er) for ours, er in tuned], envs), end="\n\n")
    rivals = [
        (f"{rival}, {u}", f"tuned frequency, {u}", f"tuned {rival}, {u}")
        for rival in COLORS
        for u in updates
        if rival != "frequency"
    ]
    print(table("tuned `frequency` less tuned", rivals, envs))


def leads(agent: str, envs: tuple[str, ...] = tuple(BUILT_IN)) -> list[tuple[float, float]]:
    """The lead over `er` in each environment, and half of its interval; NaN if it is missing."""
    er = "tuned er, 10 updates" if agent.startswith("tuned") else "er"
    measured = []
    for env in envs:
        both = scores(agent, env), scores(er, env)
        mean, low, high, _ = difference(*both) if all(map(len, both)) else [np.nan] * 4
        measured.append((mean, (high - low) / 2))
    return measured


def complete(agents: list[str]) -> tuple[str, ...]:
    """The environments in which all of these agents were trained."""
    stored = {(row["agent"], row["env"]) for row in stored_rows()}
    return tuple(env for env in BUILT_IN if all((agent, env) in stored for agent in agents))


def draw() -> None:
    """Draw the three answers: knowledge or choice, how far from the data, and frequency."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(14, 4), width_ratios=(3, 3, 4))
    at_distances = {
        "uniform": ("visited states", "uniform within 1", "uniform within 5", "uniform"),
        "td-error": (
            "td-error among visited",
            "td-error within 1",
            "td-error within 5",
            "td-error",
        ),
        "value": ("value within 5", "value"),
        "frequency": ("frequency within 5", "frequency"),
    }
    drawn = {n: [f"true model, {agent}" for agent in each] for n, each in at_distances.items()}
    envs = complete([agent for each in drawn.values() for agent in each])
    for name, each in drawn.items():
        means = [np.mean([lead for lead, _ in leads(agent, envs)]) for agent in each]
        axes[0].plot(range(4 - len(means), 4), means, "o-", color=COLORS[name])
    for model, style in (("ensemble", "-"), ("learned", "--")):
        for trust, color in (("calibrated", "tab:green"), ("always", "tab:red")):
            each = [f"{model}, {trust}, {where}" for where in DISTANCES]
            trained = [leads(agent, complete([agent])) for agent in each]
            # Not drawn while more than one domain is missing.
            worst = [(x, *min(of)) for x, of in zip((0, 2, 3), trained, strict=True) if len(of) > 5]
            label = f"{'one network' if model == 'learned' else model}, {trust}"
            if worst:
                places, lead, half = np.array(worst).T
                places += 0.06 * (model == "learned") + 0.12 * (trust == "always")
                axes[1].errorbar(places, lead, half, fmt="o" + style, color=color, label=label)
    # TubeGridWorld-2 is GridWorld.
    tuned_envs = ("MountainCar-v0", *(env for env in FAIR_ELSEWHERE if env != "TubeGridWorld-2"))
    for i, (name, color) in enumerate(COLORS.items()):
        lead, half = np.array(leads(f"tuned {name}, 10 updates", tuned_envs)).T
        places = np.arange(len(tuned_envs)) + 0.18 * (i - 1.5)
        axes[2].errorbar(places, lead, half, fmt="o", color=color, label=name)
    for axis in axes:
        axis.axhline(0, color="black", lw=0.8)
    for axis in axes[:2]:
        axis.set(xticks=range(4), xticklabels=("0", "1", "5", "no limit"))
        axis.set_xlim(-0.2, 3.3)
        axis.set_xlabel("distance from visited states, in steps")
    axes[0].set(title=f"True model: mean over {len(envs)} domains", ylabel="score less that of er")
    axes[1].set(title="Learned model: the worst domain")
    axes[1].legend(fontsize=8, frameon=False)
    axes[2].set(title="True model, tuned", xticks=range(len(tuned_envs)))
    names = [env.removesuffix("-v0").replace("GridWorld-", "-") for env in tuned_envs]
    axes[2].set_xticklabels(names)
    axes[2].tick_params("x", labelrotation=20)
    axes[2].legend(fontsize=8, frameon=False, ncols=2)
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=80)


def main() -> None:
    """Train one row, collect, or show."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("train", "collect", "show"))
    parser.add_argument("arguments", nargs="*", help="a folder, or an agent and an environment")
    options = parser.parse_args()
    match options.action:
        case "train":
            name, env = options.arguments
            agents = (agent for of, where in units() for agent in of if where == env)
            agent = replace(next(one for one in agents if one.name == name), group="")
            with tempfile.TemporaryDirectory() as folder:
                train(Path(folder), ((agent,), env))
                with np.load(file_of(Path(folder), ((agent,), env))) as of_agent:
                    again = planning_cells.area(ALL_CELLS[env], of_agent["returns"][0])
            stored = scores_of(stored_rows(), name, env)
            print(f"score {again.mean():.3f}, stored {stored.mean():.3f}")
        case "collect":
            collect(Path(options.arguments[0]))
        case "show":
            show()
            draw()


if __name__ == "__main__":
    main()
