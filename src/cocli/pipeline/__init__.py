"""The staircase from a territory to a list people use: one folder a step, in the order of the way.

`plan` says which tiles are wanted, `sources` who is in them, `websites` how to reach them, `merge` what all of it says
together. `stages` are what the workers run, `nodes` the same work as a graph over stored documents.
"""
