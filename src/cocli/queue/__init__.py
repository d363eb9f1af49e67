"""Tasks that are never lost and never done twice: one interface, several providers.

`base` says what a queue is, `leased` is the queue on any store, `sqs` the one on Amazon SQS; `providers` chooses.
"""
