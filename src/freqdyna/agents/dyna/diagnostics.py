"""What an agent counts between evaluations: losses, searches, errors of its model, episodes."""

from collections.abc import Callable
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from freqdyna.envs.space import Space
from freqdyna.search_control.base import Proposal

NEVER = -1
REFUSED = 0.1
"""A planned transition with less weight counts as refused."""


class Diagnostics(eqx.Module):
    """Sums since the last evaluation, and counts since the start."""

    loss: Float[Array, ""]
    """Sum over updates of the mini-batch's mean squared temporal-difference error."""
    updates: Int[Array, ""]
    searches: Float[Array, " 5"]
    """Sums over searches: their number, states stored, iterations, restarts, vanished steps."""
    by_rule: Float[Array, "rules 2"] | None
    """Sums over searches: iterations and vanished steps of each of `SearchControl.climb_rules`."""
    outside: Int[Array, ""]
    """States that searches proposed outside the space, or with an action that does not exist."""
    non_finite: Int[Array, ""]
    """States that searches proposed and that are not finite, so that they were not stored."""
    model_error: Float[Array, " 2"]
    """Sums over steps: the model's squared error on a transition that it was not trained on, and
    that of the prediction that nothing moves."""
    model_non_finite: Int[Array, ""]
    """Simulated transitions that are not finite, so that they were not learned from."""
    planned: Float[Array, " 3"]
    """Of transitions with a weight: their number, the sum of the weights, and how many had less
    than `REFUSED`."""
    steps: Int[Array, ""]
    episodes: Int[Array, ""]
    """Training episodes completed since the start."""
    diverged_at: Int[Array, ""]
    """The first step at which the loss was not finite, or NEVER."""

    @staticmethod
    def zero(rules: int = 0) -> "Diagnostics":
        """The statistics before the first step, with this number of `SearchControl.climb_rules`."""
        none = jnp.zeros((), int)
        return Diagnostics(
            loss=jnp.zeros(()),
            updates=none,
            searches=jnp.zeros(5),
            by_rule=jnp.zeros((rules, 2)) if rules else None,
            outside=none,
            non_finite=none,
            model_error=jnp.zeros(2),
            model_non_finite=none,
            planned=jnp.zeros(3),
            steps=none,
            episodes=none,
            diverged_at=jnp.full((), NEVER, int),
        )

    def reset(self) -> "Diagnostics":
        """Set the sums since the last evaluation to zero."""
        zero = Diagnostics.zero(0 if self.by_rule is None else len(self.by_rule))
        return replace(zero, episodes=self.episodes, diverged_at=self.diverged_at)

    def after_step(self, episode_over: Bool[Array, ""]) -> "Diagnostics":
        """Add one environment step."""
        return replace(self, steps=self.steps + 1, episodes=self.episodes + episode_over)

    def after_search(
        self,
        proposal: Proposal,
        space: Space,
        contains: Callable[[Array], Bool[Array, ""]],
        searches: Int[Array, ""],
    ) -> "Diagnostics":
        """Add the statistics of a search; `searches` is 0 if there was none."""
        finite, stored = proposal.finite(), proposal.stored(space)
        inside = jax.vmap(contains)(proposal.states)
        if proposal.actions is not None:
            inside = inside & stored
        counts = searches, stored.sum(), proposal.iterations, proposal.restarts, proposal.vanished
        by_rule = self.by_rule
        if by_rule is not None and proposal.by_rule is not None:
            by_rule = by_rule + proposal.by_rule
        return replace(
            self,
            searches=self.searches + jnp.stack(counts),
            by_rule=by_rule,
            outside=self.outside + (finite & ~inside).sum(),
            non_finite=self.non_finite + proposal.proposed().sum() - finite.sum(),
        )

    def after_updates(
        self,
        number: Int[Array, ""],
        loss: Float[Array, ""],
        step: Int[Array, ""],
        skipped: Int[Array, ""],
    ) -> "Diagnostics":
        """Add the updates of one step, and the simulated transitions that they skipped."""
        first_bad = ~jnp.isfinite(loss) & (self.diverged_at == NEVER)
        return replace(
            self,
            loss=self.loss + loss,
            updates=self.updates + number,
            diverged_at=jnp.where(first_bad, step, self.diverged_at),
            model_non_finite=self.model_non_finite + skipped,
        )

    def after_planning(
        self, weights: Float[Array, "d k"], finite: Bool[Array, "d k"]
    ) -> "Diagnostics":
        """Add the weights of planned transitions, and which are finite."""
        number = jnp.asarray(weights.size, float)
        sums = jnp.stack([number, weights.sum(), (weights < REFUSED).sum()])
        return replace(
            self,
            planned=self.planned + sums,
            model_non_finite=self.model_non_finite + (~finite).sum(),
        )

    def metrics(
        self,
        searches: bool,
        learns_model: bool,
        checks_model: bool = False,
        weighs: bool = False,
        climb_rules: tuple[str, ...] = (),
    ) -> dict[str, Array]:
        """Means and counts since the last evaluation; `docs/metrics.md` defines them."""
        metrics = {
            "loss": self.loss / self.updates,  # NaN if there was no update
            "episodes": self.episodes,
            "diverged_at": self.diverged_at,
        }
        if searches:
            number, states, iterations, restarts, vanished = self.searches
            metrics |= {
                "search_states": states / number,
                "climb_iterations": iterations / number,
                "climb_restarts": restarts / number,
                "climb_vanished": vanished / jnp.maximum(iterations, 1),
                "search_outside": self.outside.astype(float),
                "search_non_finite": self.non_finite.astype(float),
            }
        for i, name in enumerate(climb_rules):
            assert self.by_rule is not None
            iterations, vanished = self.by_rule[i]
            metrics[f"climb_vanished_{name}"] = vanished / iterations  # NaN if there was no climb
        if learns_model:
            error, change = self.model_error
            metrics["model_error"] = jnp.sqrt(error / change)
        if weighs:
            number, weight, refused = self.planned
            metrics |= {"trust": weight / number, "trust_refused": refused / number}
        if checks_model:
            metrics["model_non_finite"] = self.model_non_finite.astype(float)
        return metrics
