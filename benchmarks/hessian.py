"""∇g of a tanh network, exact and estimated from random probes: cost and accuracy.

Each line shows the cost of ∇g for one state, in a batch of ten under `vmap`, and the cosine of the
angle between the estimated and the exact ∇g, averaged over random states and networks. Random
probes are resampled for each state, and the cost includes this. The line of coordinate directions
uses √n e₁, ..., √n eₙ as probes; the mean of their vvᵀ is I, so it is exact.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from freqdyna.agents.networks import StateValue, init_xavier
from freqdyna.frequency import random_signs, stochastic_slopes

COORDINATES, HIDDEN, STATES = (4, 11, 17), (64, 64), 10
STEPS, REPEATS = 200, 15
NETWORKS, STATES_OF_EACH = 40, 50

Slope = Callable[[StateValue, Any, Any], Any]
"""From (value, state, key) to ∇g at the state."""


def value_of(key: Any, n: int) -> StateValue:
    """The value function of a random network with one output."""
    return StateValue(init_xavier(key, (n, *HIDDEN, 1)))


def exact(value: StateValue, state: Any, key: Any) -> Any:
    """∇g by a reverse pass through the full Hessian; it uses no random numbers."""

    def frequency(state: Any) -> Any:
        return value.derivatives(state).frequency()

    return jax.grad(frequency)(state)


def from_probes(probes_of: Callable[[Any], Any]) -> Slope:
    """∇g from the probes that `probes_of` samples with a key."""

    def slope(value: StateValue, state: Any, key: Any) -> Any:
        return stochastic_slopes(value, state, 1.0, 1.0, probes_of(key))[0]

    return slope


def methods(n: int) -> dict[str, Slope]:
    """The methods that are compared with the exact one, by name."""
    directions = jnp.sqrt(n) * jnp.eye(n)
    rows = {f"{n} coordinate directions": from_probes(lambda key: directions)}
    for count in sorted({1, 2, 4, n}):
        rows[f"random probes: {count}"] = from_probes(partial(random_signs, count=count, n=n))
    return rows


def microseconds(slope: Slope, n: int) -> list[float]:
    """Microseconds for ∇g of one state, one number per repeat."""
    slopes = jax.vmap(slope, in_axes=(None, 0, 0))

    @jax.jit
    def climb(value: StateValue, states: Any, key: Any) -> Any:
        def step(t: Any, states: Any) -> Any:
            keys = jax.random.split(jax.random.fold_in(key, t), STATES)
            # A tiny step, so that each iteration depends on the previous one.
            return states + 1e-6 * slopes(value, states, keys)

        return jax.lax.fori_loop(0, STEPS, step, states)

    value = value_of(jax.random.key(0), n)
    states, key = jax.random.normal(jax.random.key(1), (STATES, n)), jax.random.key(2)
    jax.block_until_ready(climb(value, states, key))
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        jax.block_until_ready(climb(value, states, key))
        times.append((time.perf_counter() - began) / STEPS / STATES * 1e6)
    return times


def at_random_states(slope: Slope, n: int) -> Any:
    """∇g at random states of random networks, which are the same for every method; (..., n)."""

    def of_network(key: Any) -> Any:
        network_key, state_key, probe_key = jax.random.split(key, 3)
        states = jax.random.normal(state_key, (STATES_OF_EACH, n))
        keys = jax.random.split(probe_key, STATES_OF_EACH)
        return jax.vmap(slope, in_axes=(None, 0, 0))(value_of(network_key, n), states, keys)

    keys = jax.random.split(jax.random.key(3), NETWORKS)
    return jax.jit(lambda keys: jax.lax.map(of_network, keys))(keys)


def mean_cosine(first: Any, second: Any) -> float:
    """The mean cosine of the angles between vectors."""
    lengths = jnp.linalg.norm(first, axis=-1) * jnp.linalg.norm(second, axis=-1)
    return float(jnp.mean(jnp.sum(first * second, axis=-1) / lengths))


def main() -> None:
    """Measure and print."""
    widths = "×".join(map(str, HIDDEN))
    print(f"tanh network {widths}, {STATES} states at once, on {jax.devices()[0].device_kind}")
    for n in COORDINATES:
        true = at_random_states(exact, n)
        for name, slope in {"exact": exact, **methods(n)}.items():
            cosine = mean_cosine(at_random_states(slope, n), true)
            times = microseconds(slope, n)
            spread = f"[{min(times):.1f}, {max(times):.1f}]"
            print(
                f"n = {n:2}  {name:25} {statistics.median(times):7.1f} µs {spread:17} "
                f"cosine {cosine:.3f}"
            )


if __name__ == "__main__":
    main()
