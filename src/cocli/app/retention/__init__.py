"""How long things are kept: rules of a campaign, what they would remove, removing it, and the proof that stays."""
