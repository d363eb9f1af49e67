"""What workers run: each stage takes a claimed task to its verdict."""
