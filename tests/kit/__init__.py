"""Public doubles and servers for tests: real servers on loopback, a proxy that fails on purpose, a clock to turn.

The stores to test with are the product's own: `cocli.store.memory`, `tests.kit.faulty_store`, `cocli.store.counting`.
"""
