"""Trainings that differ in numbers alone, such as the learning rate, as rows of one program."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from freqdyna.core.errors import FreqdynaError
from freqdyna.training.block import CompiledBlock, Layout
from freqdyna.training.training import Training


def form(training: Training) -> Any:
    """What trainings of one program must have in common: all but the numbers in it."""
    return jax.tree.structure(training)


class VariedBlock(CompiledBlock):
    """A block whose rows have numbers of their own: each of `trainings` for some of the rows.

    A row's digits do not depend on which other rows there are, though their last ones may
    on how many.
    """

    def __init__(self, trainings: list[Training], layout: Layout) -> None:
        if len({form(training) for training in trainings}) > 1:
            raise FreqdynaError("trainings of one program must differ in numbers alone")
        each = layout.seeds // len(trainings)
        rows = jax.tree.map(lambda *values: jnp.repeat(jnp.asarray(values), each), *trainings)
        self._rows = layout.placed(rows)
        super().__init__(trainings[0], layout)

    def compiled(
        self, method: Callable[..., Any], batched: int, unbatched: int, donate: bool = False
    ) -> Any:
        """See `Block.compiled`; the numbers of the training come from its rows."""
        name = method.__name__

        def call(training: Training, *arguments: Any) -> Any:
            return getattr(training, name)(*arguments)

        function = jax.jit(
            self.layout.over_seeds(call, 1 + batched, unbatched),
            donate_argnums=1 if donate else (),
        )
        return lambda *arguments: function(self._rows, *arguments)
