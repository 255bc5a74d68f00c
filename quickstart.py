"""Quickstart: train on MountainCar without planning, and with planning in a learned model."""

import shutil
import sys
from pathlib import Path

from freqdyna.cli.main import main

FOLDER = Path("runs/quickstart")
STEPS = 2700


def quickstart() -> None:
    """Train two agents, print a table, draw a plot, and say what to try next."""
    print(f"MountainCar, 4 seeds × {STEPS:,} steps: about two minutes on 2 idle cores.")
    shutil.rmtree(FOLDER, ignore_errors=True)  # this folder belongs to the quickstart alone
    common = ["--env=MountainCar-v0", "--seeds=4", f"--steps={STEPS}", "--eval-every=450"]
    for algorithm in ("er", "dyna"):
        out = f"--out={FOLDER / algorithm}"
        main(["train", f"--algorithm={algorithm}", *common, out])
    runs = [str(FOLDER / algorithm) for algorithm in ("er", "dyna")]
    main(["plot", *runs, f"--out={FOLDER / 'curves.png'}"])
    command = Path(sys.executable).parent.relative_to(Path.cwd()) / "freqdyna"
    print(f"""
Next:
  {command} compare {" ".join(runs)}
  {command} plot --metric trust {runs[1]}    # how far its model is right
  {command} train --algorithm er --env CartPole-v1 --seeds 5 --steps 5000 --out runs/cart-pole
Your own environment: docs/your-own-environment.md""")


if __name__ == "__main__":
    quickstart()
