from jaxtyping import install_import_hook

# Every annotation of ours, array shapes included, is checked while the tests run.
install_import_hook("freqdyna", "typechecker.check")

import jax  # noqa: E402

# Two devices wherever the tests run, so that the split over devices is always exercised.
jax.config.update("jax_num_cpu_devices", 2)
