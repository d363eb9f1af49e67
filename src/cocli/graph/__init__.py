"""Nodes and edges: who works on a document, and how it gets from one to the next. docs/graph.md says what holds.

- `node`, `condition`, `edge`, `graph`, `faults`, `definition`: what a graph is, and what may be wrong with one.
- `engine` (the door), `journey`, `memory`, `quarantine`, `run`, `trouble`, `views`: how a document goes through it.
- `destination`, `transport`, `publishing`, `worker`: references as messages; `queue_transport` and `kafka_transport`
  (with `kafka_consumer`) carry them.
"""
