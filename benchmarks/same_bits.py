"""Checks that two commits compute bit-identical results, with small trainings of every kind.

Run it in both trees on one machine, then compare the files:

    python benchmarks/same_bits.py write before.json    # in the tree of the earlier commit
    python benchmarks/same_bits.py write after.json
    python benchmarks/same_bits.py compare before.json after.json
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import freqdyna
from freqdyna.agents.algorithms import has_setting
from freqdyna.config import Config

SMALL: dict[str, Any] = {
    **{"seeds": 3, "steps": 400, "warmup_steps": 100, "planning_steps": 3, "eval_every": 200},
    **{"env.episode_limit": 100, "replay.capacity": 300, "planning.queue_size": 500},
    **{"scale_observations": False, "eval_episodes": 1, "batch_size": 32, "model": "true"},
}
PAPERS: dict[str, Any] = {
    **{"learner.hidden": (32, 32), "learner.activation": "tanh", "learner.layer_norm": False},
    **{"learner.learning_rate": 1e-3, "learner.double": False, "learner.ties": "first"},
    **{"learner.target_period": 50, "learner.target_rate": 1.0, "learner.n_step": 1},
    **{"learner.loss": "squared", "eval_exploration": 0.05, "replay.prioritized_share": 0.0},
}
PUBLISHED: dict[str, Any] = {
    **{"search_control.noise_scales": "deviation", "search_control.boundary": "project"},
    **{"search_control.network": "target", "search_control.preconditioner": "identity"},
    "search_control.keep_terminal": True,
}
MAZE: dict[str, Any] = {"learner.hidden": (64, 64), "search_control.states": 50}
FROM_FIRST_STEP = {"learn_in_warmup": True}
IN_BOX = {"model": "learned", "model.state_space": "known", "trust": "always"}
TOLD = {"model.termination": "known", **IN_BOX}
TRAININGS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "er": ("er", "MountainCar-v0", FROM_FIRST_STEP),
    "er, updates after the warm-up": ("er", "MountainCar-v0", {"learn_in_warmup": False}),
    "prioritized-er": ("prioritized-er", "GridWorld", {"replay.prioritized_share": 0.5}),
    "dyna-value": ("dyna-value", "MountainCar-v0", {"env.reward_noise": 0.1} | FROM_FIRST_STEP),
    "dyna-frequency": ("dyna-frequency", "MountainCar-v0", FROM_FIRST_STEP),
    "dyna-frequency, other readings": ("dyna-frequency", "MazeGridWorld", PUBLISHED | MAZE),
    "dyna-frequency, learned model": ("dyna-frequency", "CartPole-v1", TOLD),
    "dyna-gradnorm": ("dyna-gradnorm", "GridWorld", {}),
    "dyna-hessnorm": ("dyna-hessnorm", "Acrobot-v1", {"env.episode_limit": 50}),
    "dyna-value-plus-frequency": ("dyna-value-plus-frequency", "MountainCar-v0", FROM_FIRST_STEP),
    "dyna-value-times-frequency": ("dyna-value-times-frequency", "MazeGridWorld", MAZE),
    "dyna-replay": ("dyna-replay", "GridWorld", {"env.goal_reward": -1.0}),
    "dyna-uniform": ("dyna-uniform", "MazeGridWorld", MAZE),
    "dyna": ("dyna", "MountainCar-v0", {"search_control": "frequency"} | FROM_FIRST_STEP),
    "naf on the host": ("naf", "MountainCarContinuous-v0", {}),
    "dyna-naf-frequency on the host": (
        "dyna-naf-frequency",
        "MountainCarContinuous-v0",
        {"steps": 200, **IN_BOX},
    ),
    "dyna-value on the host": ("dyna-value", "CartPole-v0", IN_BOX),
    "dyna-td-error, ensemble": ("dyna-td-error", "CartPole-v1", {"model": "ensemble"}),
    "dyna-td-error, scaled observations": (
        "dyna-td-error",
        "MountainCar-v0",
        {"scale_observations": True},
    ),
}


def digest(array: np.ndarray) -> str:
    """A digest of 16 digits of an array's bytes, shape and type."""
    facts = f"{array.shape} {array.dtype}".encode()
    return hashlib.sha256(facts + np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def digests(result: freqdyna.Result) -> dict[str, str]:
    """The digests of all metrics, of the parameters, and of the snapshots."""
    timeless = {name: v for name, v in result.metrics.items() if name != "seconds"}
    by_name = {f"metric {name}": digest(values) for name, values in timeless.items()}
    by_name["parameters"] = digest(result.parameters)
    for step, snapshot in result.snapshots.items():
        by_name |= {f"snapshot {step} {name}": digest(array) for name, array in snapshot.items()}
    return by_name


def write(path: Path) -> None:
    """Run all trainings and write their digests."""
    by_training = {}
    for name, (algorithm, env, changes) in TRAININGS.items():
        named = Config.of({"env": env, "algorithm": algorithm})
        papers = {"replay.prioritized_share": 0.0} if "naf" in algorithm else PAPERS
        table = SMALL | papers
        settings = {k: v for k, v in table.items() if has_setting(named, k)} | changes
        settings["snapshot_steps"] = (settings["steps"],)
        by_training[name] = digests(freqdyna.train(env, algorithm, progress=False, **settings))
        print(f"{name}: {len(by_training[name])} arrays", flush=True)
    path.write_text(json.dumps(by_training, indent=1))


def compare(before: Path, after: Path) -> None:
    """Print the differences; exit with status 1 if there are any."""
    old, new = (json.loads(path.read_text()) for path in (before, after))
    different = []
    for name in dict.fromkeys([*old, *new]):
        mine, other = old.get(name, {}), new.get(name, {})
        arrays = dict.fromkeys([*mine, *other])
        different += [f"{name}: {array}" for array in arrays if mine.get(array) != other.get(array)]
    count = sum(len(arrays) for arrays in new.values())
    print("\n".join(different) or f"{len(new)} trainings, {count} arrays: all equal to the bit")
    sys.exit(bool(different))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", path]:
            write(Path(path))
        case ["compare", before, after]:
            compare(Path(before), Path(after))
        case _:
            sys.exit(__doc__)
