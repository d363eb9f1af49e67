"""Crews for jobs: other processes of this machine (`processes`), or a Ray cluster (`ray`, an extra).

`workplace` says how each of them opens the store, the catalogue and the graph for itself.
"""
