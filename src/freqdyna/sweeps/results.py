"""The results of a sweep: one `Result` for each combination, its blocks of seeds put together."""

from dataclasses import replace

import numpy as np

from freqdyna.errors import FreqdynaError
from freqdyna.results.result import Result
from freqdyna.sweeps import work
from freqdyna.sweeps.place import Place
from freqdyna.sweeps.status import sweep_at


def load_sweep(location: str) -> dict[str, Result]:
    """The finished combinations of the sweep at `location`, by what is varied.

    A combination of which a block of seeds is missing comes with the seeds that are there.
    """
    place = Place(str(location))
    sweep = sweep_at(place)
    stored = place.units("units", ".parquet")
    found = {}
    for config, varied in zip(sweep.configs(), sweep.varied(), strict=True):
        blocks = [work.load(place, u) for u in sweep.blocks(config) if u.name in stored]
        if blocks:
            name = ", ".join(f"{key} {value}" for key, value in varied.items())
            found[name or config.algorithm] = merged(blocks)
    return found


def merged(blocks: list[Result]) -> Result:
    """Blocks of seeds of one combination as one result."""
    first = blocks[0]
    if any(not np.array_equal(block.steps, first.steps) for block in blocks):
        raise FreqdynaError("blocks of seeds of one combination have different evaluations")
    seeds = np.concatenate([block.seeds for block in blocks])
    return Result(
        config=replace(first.config, seeds=len(seeds)),
        provenance=first.provenance,
        seeds=seeds,
        steps=first.steps,
        metrics={
            name: np.concatenate([block.metrics[name] for block in blocks])
            for name in first.metrics
        },
        parameters=np.concatenate([block.parameters for block in blocks]),
        layer_sizes=first.layer_sizes,
    )
