"""The command `freqdyna bench`: training speed on this machine, and where the time goes."""
