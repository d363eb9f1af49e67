"""Finding a company or a prospect by a few letters."""
