"""The prospects as the pages search them: lines for a Worker, an index by ranges, and the same search in Python."""
