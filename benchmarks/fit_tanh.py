"""The coefficients of `agents/networks.py`: the minimax fit tanh(x) ≈ x P(x²)/Q(x²).

Lawson's iteration: weighted least squares on the linearised ratio, with more weight where the
error is large.
"""

import numpy as np

DEGREE, LARGEST, POINTS, TURNS = 4, 9.0, 4000, 60


def fit() -> tuple[float, np.ndarray, np.ndarray]:
    """The maximum relative error, and the coefficients of P and Q, lowest degree first."""
    nodes = (np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS) + 1) / 2
    x = np.maximum(nodes * LARGEST, 1e-6)
    square = (x / LARGEST) ** 2
    wanted = np.tanh(x) / x
    powers = square[:, None] ** np.arange(DEGREE + 1)
    weights, denominator = np.ones(POINTS), np.ones(POINTS)
    best = np.inf, np.zeros(0), np.zeros(0)
    for _ in range(TURNS):
        scale = np.sqrt(weights) / (wanted * denominator)
        columns = np.concatenate([powers, -wanted[:, None] * powers[:, 1:]], 1) * scale[:, None]
        size = np.abs(columns).max(0)
        solution = np.linalg.lstsq(columns / size, wanted * scale, rcond=None)[0] / size
        p, q = solution[: DEGREE + 1], np.append(1.0, solution[DEGREE + 1 :])
        denominator = powers @ q
        error = np.abs(powers @ p / denominator / wanted - 1)
        if error.max() < best[0]:
            unscale = LARGEST ** (2 * np.arange(DEGREE + 1))
            best = error.max(), p / unscale, q / unscale
        weights = weights * (error + 1e-3 * error.max())
        weights = weights / weights.sum()
    return best


if __name__ == "__main__":
    greatest, p, q = fit()
    print(f"maximum relative error {greatest:.1e}")
    print("P", *(f"{a:.9g}" for a in p))
    print("Q", *(f"{a:.9g}" for a in q))
