"""Replay buffers compared: ours and flashbax's, with `vmap` over seeds, on this device.

Each line is the cost of one environment step of one seed: adding one transition, sampling ten
mini-batches of 32 and, for prioritized replay, setting their priorities. Ours samples half of a
prioritized mini-batch uniformly and sets the priorities of all 32; flashbax samples and sets only
the other half, 16.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import flashbax
import jax
import jax.numpy as jnp

from freqdyna.agents import replay as sum_tree
from freqdyna.agents.replay import ReplayBuffer

SEEDS, CAPACITY, WIDTH, BATCH, UPDATES = 15, 50_000, 7, 32, 10
STEPS, REPEATS = 100, 7


def microseconds(init: Callable[[], Any], step: Callable[..., Any]) -> list[float]:
    """Microseconds per step of one seed, one number per repeat."""

    def steps(carry: Any, key: Any) -> Any:
        return jax.lax.fori_loop(
            0, STEPS, lambda t, c: step(c, t, jax.random.fold_in(key, t)), carry
        )

    run = jax.jit(jax.vmap(steps), donate_argnums=0)
    carry = jax.vmap(lambda _: (init(), jnp.zeros(())))(jnp.arange(SEEDS))
    keys = jax.random.split(jax.random.key(0), SEEDS)
    carry = jax.block_until_ready(run(carry, keys))
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        carry = jax.block_until_ready(run(carry, keys))
        times.append((time.perf_counter() - began) / STEPS / SEEDS * 1e6)
    return times


def ours(replay: ReplayBuffer) -> list[float]:
    """The cost of one of our buffers."""

    def step(carry: Any, t: Any, key: Any) -> Any:
        state, total = carry
        state = replay.add(state, jax.random.normal(key, (WIDTH,)), t)

        def update(carry: Any, bits: Any) -> Any:
            state, total = carry
            rows, indices = replay.sample(state, bits, t + 1)
            return (replay.update_priorities(state, indices, rows[:, 0]), total + rows.sum()), None

        return jax.lax.scan(update, (state, total), jax.random.bits(key, (UPDATES, BATCH)))[0]

    return microseconds(lambda: replay.init(WIDTH), step)


def flashbax_cost(buffer: Any, prioritized: bool) -> list[float]:
    """The cost of one of flashbax's buffers."""
    item = {"s": jnp.zeros(2), "n": jnp.zeros(2), "a": jnp.zeros(()), "r": jnp.zeros(())}
    item["d"] = jnp.zeros(())

    def step(carry: Any, t: Any, key: Any) -> Any:
        state, total = carry
        x = jax.random.normal(key, (WIDTH,))
        state = buffer.add(state, {"s": x[:2], "n": x[2:4], "a": x[4], "r": x[5], "d": x[6]})

        def update(carry: Any, key: Any) -> Any:
            state, total = carry
            sample = buffer.sample(state, key)
            batch = getattr(sample.experience, "first", sample.experience)
            total = total + sum(leaf.sum() for leaf in jax.tree.leaves(batch))
            if prioritized:
                priorities = jnp.abs(batch["s"][:, 0]) + 1e-6
                state = buffer.set_priorities(state, sample.indices, priorities)
            return (state, total), None

        return jax.lax.scan(update, (state, total), jax.random.split(key, UPDATES))[0]

    return microseconds(lambda: buffer.init(item), step)


def main() -> None:
    """Measure and print."""
    print(f"{SEEDS} seeds, {CAPACITY:,} rows, on {jax.devices()[0].device_kind}")
    rows = {"uniform, ours": ours(ReplayBuffer(CAPACITY, 0.0))}
    rows["uniform, flashbax"] = flashbax_cost(
        flashbax.make_item_buffer(CAPACITY, 1, BATCH), prioritized=False
    )
    chosen = sum_tree.BRANCHES
    for branches in (8, 16, 32, 64):
        sum_tree.BRANCHES = branches
        mark = " (the default)" if branches == chosen else ""
        cost = ours(ReplayBuffer(CAPACITY))
        rows[f"prioritized, ours, {branches} branches{mark}"] = cost
    rows["prioritized, flashbax"] = flashbax_cost(
        flashbax.make_prioritised_flat_buffer(CAPACITY, 1, BATCH // 2, priority_exponent=0.6),
        prioritized=True,
    )
    for name, times in rows.items():
        spread = f"[{min(times):.1f}, {max(times):.1f}]"
        print(f"{name:45} {statistics.median(times):7.1f} µs {spread}")


if __name__ == "__main__":
    main()
