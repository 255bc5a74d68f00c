"""`make bench`: freqdyna compared with other libraries in one run; prints tables, writes JSON."""

import sys
from pathlib import Path

from peers import all_peers

from freqdyna.cli.bench.tables import measure_all, our_jobs

if __name__ == "__main__":
    print("Measuring freqdyna, then other libraries: about fifteen minutes on 2 cores.", flush=True)
    measure_all(our_jobs() + all_peers(), Path(sys.argv[1] if sys.argv[1:] else "bench.json"))
