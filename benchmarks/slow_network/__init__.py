"""The parts of `benchmarks.network`: sites on a slow network, their server with its record, and those who read them."""
