"""The services and the queue under load: `make load`. The suite runs a few seconds of it."""
