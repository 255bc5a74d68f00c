"""Every number in the README about results or speed comes from a stored file."""

import json
import re
from decimal import Decimal
from pathlib import Path

import gymnasium
import pytest

import freqdyna
from freqdyna.envs import MountainCar
from freqdyna.report.explorer import explorers

ROOT = Path(__file__).parents[2]
NUMBER = r"(−?\d[\d,]*(?:\.\d+)?)"
OTHER_NUMBERS = (
    "ICLR 2020",
    "Python 3.11",
    "Walker2d",
    "H200",
    "Stable-Baselines3",
    "to a day on 2 cores",
    "examples of 30 to 40 lines",
)
"""What has a digit and is neither a result nor a speed."""


@pytest.fixture(scope="module")
def readme():
    """The text in one line, without code and addresses of links."""
    text = (ROOT / "README.md").read_text()
    text = re.sub(r"```.*?```|^    .*?$|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    return " ".join(re.sub(r"\]\([^)]*\)", "]", text).split())


def speeds():
    """Sentences and rows on speed, with the stored numbers."""
    bench = json.loads((ROOT / "results" / "bench-2-cores.json").read_text())
    cores = int(re.search(r"(\d+) cores", bench["machine"])[1])

    def rate(workload, implementation, seeds):
        (found,) = (
            one["steps_per_second"]
            for one in bench["rates"]
            if (one["workload"], one["implementation"], one["seeds"])
            == (workload, implementation, seeds)
        )
        return found

    er, dyna = "ER, d = 10", "Dyna-Frequency, d = 10"
    yield "DQN with # updates per step on MountainCar, # cores |", (int(er[-2:]), cores)
    yield "| yes | # (# seeds) |", (rate(er, "freqdyna", 30), 30)
    rejax = [rate(er, f"rejax, {how}", 30) for how in ("as shipped", "sampler replaced")]
    yield "| # as released, # with a different sampler (# seeds) |", (*rejax, 30)
    yield "| no | # (# seed, one thread) |", (rate(er, "Stable-Baselines3", 1), 1)
    yield (
        "On # cores, # seeds of run at # environment steps per second on MountainCar; a plain "
        "PyTorch version runs at #.",
        (cores, 30, rate(dyna, "freqdyna", 30), rate(dyna, "plain PyTorch", 1)),
    )
    log = (ROOT / "results" / "h200" / "seeds.log").read_text()
    seeds = 600
    on_gpu = re.search(rf"^dyna-frequency seeds {seeds}:.* steps/s ([\d,]+);", log, re.MULTILINE)[1]
    yield "On one H200, # seeds run at # ", (seeds, int(on_gpu.replace(",", "")))


def first_picture():
    """The sentences below the first picture."""
    folder = ROOT / "results" / "explorer"
    results = [freqdyna.load(run) for run in sorted(folder.glob("mountain-car-*"))]
    (shown,) = explorers(results)
    yield "Four agents on MountainCar after # steps:", (shown["opens"],)
    (seeds,) = {len(result.seeds) for result in results}
    yield "Each is the median of # seeds,", (seeds,)


def episode_limits():
    """The sentence that tells the two environments of one name apart."""
    gymnasiums = gymnasium.spec("MountainCar-v0").max_episode_steps
    yield "ends episodes after # steps, as in the paper;", (MountainCar().episode_limit,)
    yield "as an object from , after #.", (gymnasiums,)


def found(text, words, numbers):
    """The place of words with `#` for numbers, which must be those given, as far as displayed."""
    match = re.search(re.escape(words).replace(r"\#", NUMBER), text)
    assert match, f"not in the README: {words}"
    for shown, number in zip(match.groups(), numbers, strict=True):
        written = Decimal(shown.replace(",", "").replace("−", "-"))
        unit = 10.0 ** written.as_tuple().exponent
        # Half a unit, and a little for the last digits of a float on another CPU.
        assert abs(float(written) - number) <= 0.5001 * unit, f"{shown} is {number} in {words!r}"
    return match.span()


def test_a_number_must_be_the_stored_one_as_displayed():
    text = "it takes 1,029 or −12.5 s"
    assert found(text, "takes # or #", (1029.4, -12.46)) == (3, 23)
    for numbers in ((1029.6, -12.46), (1029, -12.56), (1029, 12.5)):
        with pytest.raises(AssertionError):
            found(text, "takes # or #", numbers)
    with pytest.raises(AssertionError, match="not in the README"):
        found(text, "took #", (1,))


def test_every_number_about_results_or_speed_is_stored(readme):
    for words, numbers in (*first_picture(), *speeds(), *episode_limits()):
        start, end = found(readme, words, numbers)
        readme = f"{readme[:start]} {readme[end:]}"
    for words in OTHER_NUMBERS:
        assert words in readme
        readme = readme.replace(words, "")
    assert re.findall(r"\S*\d\S*", readme) == []
