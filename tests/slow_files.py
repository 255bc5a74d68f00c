"""Files of tests that take long, the longest first: `make check` leaves them out.

In other files, single tests are marked `slow`.
"""

SLOW_FILES = (
    "sweeps/test_sweep_on_ray.py",
    "sweeps/test_execute.py",
    "training/test_runs.py",
    "training/test_host_seeds.py",
    "training/test_seeds.py",
    "learning/test_probes.py",
    "examples/test_own_code.py",
    "examples/test_search_controls.py",
    "results/test_watch.py",
    "training/test_beginnings.py",
    "agents/dyna/test_view.py",
    "agents/dyna/test_agent.py",
    "agents/test_models.py",
    "agents/dyna/test_planning.py",
    "agents/test_naf.py",
    "docs/test_guide.py",
)
