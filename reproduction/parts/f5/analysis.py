"""The evaluation of F5: how many states of the queue are near a hole at the end."""

from freqdyna import envs
from freqdyna.results.chart import Chart, Panel, Points
from freqdyna.results.state_map import map_panel
from reproduction import claims
from reproduction.base import Findings, Stored
from reproduction.comparisons import Comparison, judge, mean_with_interval
from reproduction.parts import maze
from reproduction.readings import judge_each, rule_in_the_maze, table_of, under_all
from reproduction.stored_trainings import states, unlearned
from reproduction.trainings import PAPERS_STEP


def analyse(units: dict[str, Stored]) -> Findings:
    """Queues of the median seed under two interpretations; shares under all."""
    found, long = maze.trainings(units), maze.trainings(units, longer=True)
    panels = [
        _queue(reading, name, found[reading][name])
        for reading in maze.MAIN
        if reading in found
        for name in maze.BOTH
    ]
    title = "F5: the search-control queue at the end, median seed"
    chart = Chart(panels, title, columns=len(maze.BOTH), panel_size=(4.6, 4.6))
    header = ["share near a hole, mean over seeds", *maze.BOTH]
    header += [f"{name}, seeds that learned" for name in maze.BOTH]
    rows = [[reading, *_shares(of)] for reading, of in found.items()]
    rows += [
        [f"{reading}; at step {step:,} of {maze.LONG:,}", *_shares(of, step)]
        for reading, of in long.items()
        for step in (PAPERS_STEP, maze.LONG)
    ]
    percentages = {
        reading: [
            claims.share(
                f"{name}: queue states within 0.1 of a hole, seeds that learned",
                maze.PAPER[name],
                maze.near_holes_if_learned(of[name]),
            )
            for name in maze.BOTH
        ]
        for reading, of in found.items()
    }
    contrasts = judge_each({reading: [_contrast(of)] for reading, of in found.items()}, judge)
    note = "Each seed is one sample; the paper shows one queue per algorithm."
    tables = [table_of({r: [*percentages[r], *contrasts[r]] for r in found})]
    several = len(found) > 1
    return Findings(
        chart,
        under_all(percentages) + under_all(contrasts),
        [header, *rows],
        (note, rule_in_the_maze(found)) if several else (note,),
        tables if several else (),
    )


def _queue(reading: str, name: str, stored: Stored) -> Panel:
    queue = states(stored, "queue")[maze.median_seed(stored)]
    share = maze.near_holes(queue[None])[0]
    title = f"{name}: {share:.1f}% near a hole\n{reading}"
    points = [Points(queue[:, 0], queue[:, 1], maze.DOTS)]
    return map_panel(envs.make("MazeGridWorld"), title, points)


def _shares(found: dict[str, Stored], step: int | None = None) -> list[str]:
    both = [found[name] for name in maze.BOTH]
    shares = [maze.near_holes(states(one, "queue", step)) for one in both]
    shares += [maze.near_holes_if_learned(one, step) for one in both]
    every, every_other, *learned = (mean_with_interval(values, 1, "%") for values in shares)
    numbers = [int((~unlearned(one)).sum()) for one in both]
    pairs = zip(learned, numbers, strict=True)
    return [every, every_other, *(f"{one} ({n} seeds)" if n else "no seed" for one, n in pairs)]


def _contrast(found: dict[str, Stored]) -> Comparison:
    return Comparison.of(
        "share near a hole, seeds that learned: Dyna-Frequency − Dyna-Value, percentage points",
        "above 0",
        maze.near_holes_if_learned,
        *(found[name] for name in maze.BOTH),
    )
