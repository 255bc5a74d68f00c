"""Training that ends as soon as it is known to work."""

import numpy as np

from freqdyna.config import Config
from freqdyna.results.record import evaluation_steps
from freqdyna.training.api import prepare


def returns_until(enough, level, **settings):
    """Returns by seed and evaluation, until `enough` seeds have had one above `level`.

    The outcome is the one of training to the end: whether so many seeds ever get there.
    """
    run = prepare(Config.of({**settings}))
    block, seeds = run.block, run.config.seeds
    state, start, returns = block.init(), 0, []
    for stop in map(int, evaluation_steps(run.config.steps, run.config.eval_every)):
        state, metrics = block.evaluate(block.advance(state, start, stop), stop)
        returns.append(np.asarray(metrics["return"])[:seeds])
        start = stop
        if (np.stack(returns) > level).any(axis=0).sum() >= enough:
            break
    block.close()
    return np.stack(returns, axis=1)
