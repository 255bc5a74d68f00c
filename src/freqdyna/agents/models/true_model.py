"""The true model: the environment's own transition."""

from typing import ClassVar

from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.agents.models.base import Model, Outcome
from freqdyna.envs.base import Action, Environment


class TrueModel(Model[None]):
    """Knows everything, learns nothing."""

    learn_batch: ClassVar[int] = 0
    env: Environment

    @property
    def noise_size(self) -> int:
        """One number for the reward, and the environment's own."""
        return 1 + self.env.noise_size

    def init(self, key: PRNGKeyArray) -> None:
        """Nothing to keep."""

    def query(
        self,
        state: None,
        s: Float[Array, " n"],
        action: Action,
        noise: Float[Array, " k"],
    ) -> Outcome:
        """Ask the environment."""
        return self.env.transition_from_noise(s, action, noise)

    def learn(self, state: None, rows: Float[Array, "batch width"]) -> None:
        """Nothing to learn."""
