"""One page: from its bytes to a parsed page that all extractors share."""
