"""Agents: how a Dyna agent is composed of a learner, a model, a replay and a search-control."""
