"""Documents: the raw capture behind every value and what each step made of it, replayable and comparable."""
