"""Records of a list that stays true: who is listed, how a business stood, what changed, rounds, and who was told."""
