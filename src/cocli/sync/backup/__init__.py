"""Backups: snapshots of a store in another store, from which every object comes back as it was.

    creation        what is new is packed and sent, what is unchanged is neither read nor sent
    capture         in which order the objects of a store are taken while others write to it
    verification    reads everything that a snapshot needs, and names what is damaged
    restoration     writes a snapshot, or a part of it, to a store
    pruning         forgets snapshots, and removes what none needs any more, in two steps

The format is written down in docs/backup.md. Source, target and backup are any three stores.
"""
