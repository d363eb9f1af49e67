"""The catalogue: a table of what the store has, that can be built anew from it. One interface, two databases.

`base` says what a catalogue is, `sql` is how one works on either database, `sqlite` and `postgres` are those two;
`migrations/{dialect}/NNNN_*.sql` make the tables, `queries/*.sql` have every statement by its name; `opening` chooses.
"""
