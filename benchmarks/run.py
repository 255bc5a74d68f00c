"""`make bench`: ours and the peers side by side in one run: rates, ratios and a JSON file."""

import sys
from pathlib import Path

from peers import all_peers

from freqdyna.cli.bench.tables import measure_all, our_jobs

if __name__ == "__main__":
    print("Measures our workloads, then the peers': about fifteen minutes on 2 cores.", flush=True)
    measure_all(our_jobs() + all_peers(), Path(sys.argv[1] if sys.argv[1:] else "bench.json"))
