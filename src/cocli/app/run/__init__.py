"""From a person's list to the enriched list, in one go."""
