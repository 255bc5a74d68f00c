"""`python -m freqdyna` is the command `freqdyna`."""

from freqdyna.cli.main import main

main()
