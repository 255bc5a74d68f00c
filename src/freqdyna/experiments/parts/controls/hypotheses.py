"""The hypotheses of the study and the goals of its recommendation, written before its trainings.

All comparisons are of areas: the mean return of a seed after the warm-up.
"Decidedly better" or "decidedly worse" means that a two-sided permutation test of the difference of
mean areas has p < 0.05, corrected (Holm) for the number of comparisons that the rule names.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """A statement, and what decides it."""

    name: str
    statement: str
    test: str
    """What is computed, and when the hypothesis holds."""
    refuted_if: str
    """When it does not hold; it is undecided in all other cases."""


HYPOTHESES = (
    Hypothesis(
        "H1",
        "in low dimension and with the true model, planning from uniform states is at least as "
        "good as climbing g",
        "uniform − frequency in each of the six domains, true model, σ = 0, Holm over the six: it "
        "holds if uniform is decidedly better in at least half of the domains and decidedly worse "
        "in none",
        "uniform is decidedly worse in at least one domain",
    ),
    Hypothesis(
        "H2",
        "there is a dimension at which this turns, although the task stays the same",
        "uniform − frequency on TubeGridWorld-n for n = 2, 3, 4, 6, 8, true model, Holm over the "
        "five: it holds if uniform is decidedly worse at some n, not decidedly worse at n = 2, and "
        "decidedly better at no greater n than the smallest at which it is decidedly worse",
        "uniform is decidedly better at n = 8 and decidedly worse at no n, so that nothing turns "
        "up to n = 8",
    ),
    Hypothesis(
        "H3",
        "with a learned model, what matters is the model's error at the proposed states",
        "per domain, the rank correlation over the eight search-controls between the model's error "
        "at the queue's states (mean over seeds and evaluations after the warm-up) and the area "
        "that the learned model costs (mean area with the true model minus that with the learned "
        "one); averaged over the domains; p by permuting the errors among the search-controls of "
        "each domain, one-sided: it holds if p < 0.05",
        "the mean is zero or below",
    ),
    Hypothesis(
        "H4",
        "|TD error| is a better guide than g at equal cost",
        "td-error − frequency in each of the six domains, true model, σ = 0, each seed's mean "
        "return over equal time (up to the time that the faster of the two needs for its 30,000 "
        "steps, by the measured microseconds per step on the GPU), Holm over the domains: it holds "
        "if td-error is decidedly better in at least half of the domains and decidedly worse in "
        "none",
        "td-error is decidedly worse in at least one domain",
    ),
)

LEAST_SHARE = 0.8
LEAST_GAIN = 0.2
LEAST_DOMAINS = 4
RECOMMENDED = (
    "candidates are the eight search-controls; a cell is a domain with a model in stage 1; the "
    "best of a cell is the candidate with the highest mean area; a candidate is not decidedly "
    "worse than the best if the permutation test of the two, corrected (Holm) for the comparisons "
    "of the best with all others in this cell, has p ≥ 0.05; recommended is the candidate that is "
    "the best or not decidedly worse in the largest share of cells, and of several the one with "
    "the best mean rank over the cells"
)
GAIN = (
    "the gain of area A over that of Dyna-Frequency, A_f, is (A − A_f) / |A_f|: where returns are "
    "costs, it is the share of the cost that is saved, and zero is better than any policy, so that "
    "the measure is strict; on CartPole, where returns are positive, it is the additional share. "
    "It needs no estimate of the best attainable return"
)
GOALS = (
    f"the recommended search-control is best or not decidedly worse than the best in at least "
    f"{LEAST_SHARE:.0%} of all stored cells that have it (stages 1 to 3)",
    f"its gain over Dyna-Frequency with the true model is at least {LEAST_GAIN:.0%} on at least "
    f"{LEAST_DOMAINS} of the first five domains, by mean areas",
    "it is decidedly worse than ER in no stored cell, Holm over these cells",
)
