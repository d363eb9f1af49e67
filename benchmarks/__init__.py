"""Measurements, one module each: `python -m benchmarks` lists them, `python -m benchmarks NAME` runs one."""
