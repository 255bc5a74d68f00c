"""A policy that `freqdyna export` wrote, with NumPy alone."""

from typing import Any

import numpy as np

ACTIVATIONS: dict[str, Any] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
}


def normalize(x: Any) -> Any:
    """Layer norm without a learned scale and offset."""
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5)


def load_policy(path: str) -> Any:
    """A function from an observation of shape (n,) to an action of the environment."""
    with np.load(path) as file:
        stored = dict(file)
    layers = sum(name.startswith("weights_") for name in stored)
    activation = ACTIVATIONS[str(stored["activation"])]

    def act(observation: Any) -> Any:
        values = np.asarray(observation, np.float32)
        for i in range(layers):
            values = values @ stored[f"weights_{i}"] + stored[f"biases_{i}"]
            if i < layers - 1:
                values = activation(normalize(values) if stored["layer_norm"] else values)
        if "first_action" in stored:
            return int(np.argmax(values)) + int(stored["first_action"])
        low, high = stored["action_low"], stored["action_high"]
        return low + (np.tanh(values) + 1) / 2 * (high - low)

    return act
