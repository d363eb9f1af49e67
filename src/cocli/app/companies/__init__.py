"""Companies, people, notes and meetings, for people."""
