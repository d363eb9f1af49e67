"""Who is left alone, and who was forgotten."""
