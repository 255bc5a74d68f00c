"""Beginning a run with the trained parameters of another one."""

import hashlib
from typing import Any

import numpy as np

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.space import Space
from freqdyna.results.record import Record


def initial_parameters(
    source: Record, config: Config, space: Space, layer_sizes: tuple[int, ...], size: int
) -> np.ndarray:
    """The parameters with which each seed begins.

    A seed begins with the parameters of the same seed, or all of them with those of the only seed.

    Args:
        source: The run whose parameters they are.
        config: The settings of the new run.
        space: Its environment.
        layer_sizes: Those of its agent.
        size: The number of parameters of its agent.

    Returns:
        Shape (seeds, p).

    Raises:
        FreqdynaError: If they are not those of such an agent.

    """
    source.require_agent()
    if config.scale_observations and not space.is_bounded:
        raise FreqdynaError(
            f"init_from is set, but scale_observations is True (the default); {space.name!r} has "
            "coordinates without bounds, whose scale is not known before the run, so it must be "
            "False"
        )
    theirs = source.layer_sizes, source.config.activation
    if source.parameters.shape[1] != size or theirs != (layer_sizes, config.activation):
        raise FreqdynaError(
            f"init_from has {source.parameters.shape[1]:,} parameters of layers {theirs[0]} with "
            f"{theirs[1]}; it must have {size:,} of layers {layer_sizes} with {config.activation}"
        )
    seeds = np.arange(config.first_seed, config.first_seed + config.seeds)
    if len(source.seeds) == 1:
        chosen = np.repeat(source.parameters, len(seeds), axis=0)
    elif np.isin(seeds, source.seeds).all():
        chosen = source.parameters[[source.row(seed) for seed in seeds]]
    else:
        raise FreqdynaError(
            f"init_from has the seeds {source.seeds.tolist()}; it must have those of the run, "
            f"{seeds.tolist()}, or only one"
        )
    if not np.isfinite(chosen).all():
        raise FreqdynaError("init_from has a seed that diverged: its parameters are not finite")
    return chosen


def source_facts(source: Record, parameters: np.ndarray) -> dict[str, Any]:
    """What the provenance says about the run with whose parameters another one begins."""
    return {
        "algorithm": source.config.agent_name,
        "env": source.env_name,
        "steps": int(source.steps[-1]),
        "seeds": source.seeds.tolist(),
        "sha256": hashlib.sha256(np.ascontiguousarray(parameters).tobytes()).hexdigest(),
    }
