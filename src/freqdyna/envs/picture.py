"""Colours of the pictures of environments."""

FLOOR, WALL, HOLE = (245, 245, 245), (60, 60, 60), (173, 216, 240)
START, GOAL, AGENT = (170, 220, 170), (255, 205, 90), (200, 30, 30)
