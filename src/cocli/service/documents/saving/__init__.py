"""Single saves: the line they wait in, groups of them, and who writes those."""
