"""How long things are kept: ages, and the record of what was removed."""
