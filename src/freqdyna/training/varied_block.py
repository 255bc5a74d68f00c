"""Trainings that differ only in numbers, such as the learning rate, as rows of one program."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from freqdyna.core.errors import FreqdynaError
from freqdyna.training.block import CompiledBlock, Layout
from freqdyna.training.training import Training


def form(training: Training) -> Any:
    """What trainings of one program must have in common: everything except their numbers."""
    return jax.tree.structure(training)


class VariedBlock(CompiledBlock):
    """A block in which each of several trainings has an equal number of rows.

    The result of a row does not depend on what the other rows are, but its last digits may depend
    on how many there are.
    """

    def __init__(self, trainings: list[Training], layout: Layout) -> None:
        if len({form(training) for training in trainings}) > 1:
            raise FreqdynaError("trainings of one program must differ only in numbers")
        each = layout.seeds // len(trainings)
        rows = jax.tree.map(
            lambda *values: jnp.repeat(jnp.asarray(values), each, axis=0), *trainings
        )
        self._rows = layout.placed(rows)
        super().__init__(trainings[0], layout)

    def compiled(
        self, method: Callable[..., Any], batched: int, unbatched: int, donate: bool = False
    ) -> Any:
        """See `Block.compiled`; each row has its own numbers."""
        name = method.__name__

        def call(training: Training, *arguments: Any) -> Any:
            return getattr(training, name)(*arguments)

        function = jax.jit(
            self.layout.over_seeds(call, 1 + batched, unbatched),
            donate_argnums=1 if donate else (),
        )
        return lambda *arguments: function(self._rows, *arguments)
