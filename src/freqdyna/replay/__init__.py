"""Experience-replay buffers."""
