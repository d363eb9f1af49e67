"""The use cases, the demo and the form of the benchmarks."""
