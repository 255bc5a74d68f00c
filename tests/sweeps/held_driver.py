"""`freqdyna` with the arguments given, in a process of its own whose last unit is held.

python held_driver.py sweep sweep.toml --out out
"""

import sys

from disturbed import Disturbing, Held

from freqdyna.cli.main import main
from freqdyna.cli.sweep import RunSweep

if __name__ == "__main__":
    engine = RunSweep._engine
    RunSweep._engine = lambda self: Disturbing(engine(self), Held, last=1)
    main(sys.argv[1:])
