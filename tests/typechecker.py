"""The checker of every annotation during tests; a whole number is fine where a float is asked."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
