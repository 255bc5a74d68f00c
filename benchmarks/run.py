"""`make bench`: ours and the peers side by side in one run: rates, ratios and a JSON file."""

import sys
from pathlib import Path

from peers import all_peers

from freqdyna.bench import WORKLOADS, Rate, measure, save
from freqdyna.bench_report import print_arithmetic, print_rates, print_shares, report

SEEDS = (1, 30)


def main() -> None:
    """Measure everything: about six minutes on 2 cores."""
    print("Measures our workloads, then the peers': about six minutes on 2 cores.", flush=True)
    rates: list[Rate] = []
    jobs = [lambda w=w, s=s: measure(w, s) for w in WORKLOADS for s in SEEDS] + all_peers()
    for job in jobs:
        rate = job()
        rates.append(rate)
        print(
            f"  {rate.implementation}: {rate.workload}, {rate.seeds} seeds: "
            f"{rate.steps_per_second:,.0f} env steps/s",
            flush=True,
        )
    print_rates(rates)
    findings = report(rates)
    print_arithmetic(findings["arithmetic"])
    print_shares(findings["shares"])
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("bench.json")
    save(out, rates, findings)
    print(f"written: {out}")


if __name__ == "__main__":
    main()
