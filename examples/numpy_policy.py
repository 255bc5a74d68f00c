"""A policy that `freqdyna export` wrote, with NumPy alone."""

from typing import Any

import numpy as np

ACTIVATIONS: dict[str, Any] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
}


def load_policy(path: str) -> Any:
    """A function from an observation of shape (n,) to an action of the environment."""
    with np.load(path) as file:
        stored = dict(file)
    layers = sum(name.startswith("weights_") for name in stored)
    activation = ACTIVATIONS[str(stored["activation"])]

    def act(observation: Any) -> Any:
        values = np.asarray(observation, np.float32)
        for i in range(layers):
            values = (activation(values) if i else values) @ stored[f"weights_{i}"]
            values = values + stored[f"biases_{i}"]
        if "first_action" in stored:
            return int(np.argmax(values)) + int(stored["first_action"])
        low, high = stored["action_low"], stored["action_high"]
        return low + (np.tanh(values[1 : 1 + len(low)]) + 1) / 2 * (high - low)

    return act
