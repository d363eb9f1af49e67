"""The half kept apart. Whoever writes extractors does not look into this folder, nor at the pages made from it."""
