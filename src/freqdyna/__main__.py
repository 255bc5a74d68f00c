"""Makes `python -m freqdyna` run the command `freqdyna`."""

from freqdyna.cli.main import main

main()
