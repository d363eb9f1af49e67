"""Pairs of observations that are one business or two: how often matching says so.

`open.toml` and `apart.toml` have names per language; `pairs.py` puts each into the situations in which sources meet
them (a shared website, a shared phone, another spelling of the street). The demo town gives more: two sources, one
truth.
"""
