"""Other ways to find contacts, as programs of the benchmark: a line of JSON in, a line of JSON out."""
