"""The command `freqdyna bench`: how fast this machine trains, and where the time goes."""
