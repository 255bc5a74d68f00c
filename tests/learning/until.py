"""Training that ends as soon as it is known to work."""

import numpy as np

from freqdyna.config import Config
from freqdyna.results.record import evaluation_steps
from freqdyna.training.api import prepare


def seeds_that_learn(enough, level, **settings):
    """How many seeds get above `level` after the warm-up, but not before; ends at `enough` seeds.

    Some networks are good from the start, by chance.
    """
    run = prepare(Config.of(settings))
    block, config = run.block, run.config
    state, start = block.init(), 0
    by_chance = learned = np.zeros(config.seeds, bool)
    for stop in map(int, evaluation_steps(config.steps, config.eval_every)):
        state, metrics = block.evaluate(block.advance(state, start, stop), stop)
        above = np.asarray(metrics["return"])[: config.seeds] > level
        if stop <= config["warmup_steps"]:
            by_chance = by_chance | above
        else:
            learned = learned | (above & ~by_chance)
        start = stop
        if learned.sum() >= enough:
            break
    block.close()
    return learned.sum()
