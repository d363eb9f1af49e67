"""Indexes: millions of small records, written by many, read without listing. Built on a store and nothing else."""
