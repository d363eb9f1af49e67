"""What everything agrees on: keys, their parts, tiles, and what makes two things the same."""
