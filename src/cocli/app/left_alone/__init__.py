"""Who asked to be left alone: the do-not-contact list, forgetting somebody, and what is held about somebody."""
