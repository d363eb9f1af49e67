"""Where businesses come from: open places, Google Maps, files that a person brings."""
