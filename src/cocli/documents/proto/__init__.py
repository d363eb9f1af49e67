"""The messages of `proto/cocli/documents/v1/` as Python. Nothing in `generated` is written by hand."""
