"""The open half: words and markup that whoever writes extractors may look at."""
