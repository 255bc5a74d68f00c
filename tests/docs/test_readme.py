"""The code and the commands of the README work, and its rates are those that were measured."""

import json
import re
import shlex
from pathlib import Path

from freqdyna.cli.main import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SMALL = {
    **{"seeds": 4, "steps": 40, "warmup-steps": 10, "eval-every": 20, "episode-limit": 20},
    **{"planning-steps": 1, "hidden": 4, "batch-size": 4, "search-states": 2, "climb-limit": 5},
}


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_example_in_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    size = "seeds=10, steps=15_000"
    assert size in code
    small = ", ".join(f"{name.replace('-', '_')}={value}" for name, value in SMALL.items())
    small = small.replace("hidden=4", "hidden=(4,)")
    names = {}
    exec(code.replace(size, small), names)
    assert names["result"].returns.shape == (4, 2)
    assert Path("curves.png").is_file()
    assert Path("runs/my-first/config.toml").is_file()


def test_the_commands_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks("shell") for line in block.splitlines()]
    commands = [shlex.split(line, comments=True) for line in lines if line.startswith("freqdyna ")]
    for _, *command in commands:
        if command[0] == "train":
            if "--snapshot-steps" in command:
                place = command.index("--snapshot-steps")
                command[place + 1 : place + 3] = ["20", "40"]
            command += [text for name, value in SMALL.items() for text in (f"--{name}", str(value))]
        main(command)
    assert Path("df.html").is_file()
    assert {command[1] for command in commands} >= {"train", "resume", "plot", "compare", "watch"}


def test_the_rates_are_those_of_the_measurement():
    bench = json.loads((ROOT / "results" / "bench-2-cores.json").read_text())
    rates = {
        (one["implementation"], one["seeds"]): f"{one['steps_per_second']:,.0f}"
        for one in bench["rates"]
        if one["workload"] == "ER, d = 10"
    }
    assert f"| {rates['freqdyna', 30]} (30 seeds) |" in README
    assert f"| {rates['Stable-Baselines3', 1]} (1 seed, one thread) |" in README
    released, replaced = (rates[f"rejax, {how}", 30] for how in ("as shipped", "sampler replaced"))
    assert f"| {released} as released, {replaced} with a different sampler" in README
