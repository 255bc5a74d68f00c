"""`python -m freqdyna` is the command `freqdyna`."""

from freqdyna.cli import main

main()
