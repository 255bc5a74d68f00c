"""Your own trust: planned transitions count where the members of an ensemble agree."""

import jax.numpy as jnp
from jaxtyping import Array, Float

import freqdyna
from freqdyna.agents.trust import Prediction, Trust


class Agreed(Trust[None]):
    """A transition counts fully if the ensemble agrees about it, and else not at all."""

    greatest: float = 0.1  # of the disagreement, in units of the run

    def judge(
        self, state: None, prediction: Prediction
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The target that the model predicts, and its weight."""
        return prediction.target, jnp.where(prediction.disagreement < self.greatest, 1.0, 0.0)


if __name__ == "__main__":
    result = freqdyna.train(
        "CartPole-v1", "dyna", model="ensemble", trust=Agreed(greatest=0.05), seeds=5, steps=10_000
    )
    print(result.mean_return(), result.metrics["trust"].mean(0))
