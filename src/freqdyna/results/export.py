"""A trained policy as plain arrays, for use without JAX; `examples/numpy_policy.py` reads them.

weights_0, biases_0, ...    the layers of the network; its outputs are outputs_i = inputs @ W + b
activation                  the name of the activation between the layers
first_action                discrete actions: the action of the first output
action_low, action_high     continuous actions: the bounds of the action tanh(outputs[1 : 1 + a])
"""

import io
from pathlib import Path
from typing import Any

import numpy as np

from freqdyna.agents.networks import Network
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import write_atomically
from freqdyna.results.policy import space_of_result
from freqdyna.results.record import Record


def policy_arrays(record: Record, network: Network, env: Any = None) -> dict[str, np.ndarray]:
    """The arrays of a greedy policy.

    Args:
        record: The training.
        network: The network of one seed.
        env: The environment, if it cannot be found by its name.

    """
    space = space_of_result(record, env)
    arrays: dict[str, np.ndarray] = {"activation": np.array(record.config["learner.activation"])}
    for i, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        arrays |= {f"weights_{i}": np.asarray(weight), f"biases_{i}": np.asarray(bias)}
    if space.num_actions:
        arrays["first_action"] = np.array(space.to_env_action(np.array(0)))
    else:
        arrays |= {"action_low": space.action_low, "action_high": space.action_high}
    return arrays


def export_policy(record: Record, network: Network, path: Path, env: Any = None) -> None:
    """Write the greedy policy of a network; see `Result.export_policy`."""
    if path.suffix != ".npz":
        raise FreqdynaError(f"path is {str(path)!r}; it must end in .npz")
    file = io.BytesIO()
    np.savez(file, **policy_arrays(record, network, env))  # type: ignore[arg-type]
    try:
        write_atomically(path, lambda out: out.write(file.getvalue()))
    except OSError as error:
        raise FreqdynaError(f"path is {str(path)!r}, which cannot be written: {error}") from None
