"""Sync: a folder and a bucket agree, and nobody's work is lost. Built on stores and indexes, told what to do by `app`.

    pair = SyncPair(Folder(path), store, SyncState(file), host="laptop")                 pair, folder, state
    syncer = Syncer(pair, Selection(), SyncOptions(Direction.BOTH, delete=True))         engine, selection, decision
    plan = syncer.plan()          what would be done to which file, and how many bytes that is           plan
    report = syncer.run()         … done; the state advances per batch, after success                    report

What a key is decides what happens to it: `kinds` is the one table. Three-way: `state` remembers what both sides had
when they last agreed, `folder` and `remote` say what they have now, `decision` compares. `transfers` copies, always
with a condition, `conflicts` and `merge` settle what changed on both sides, `indexes` moves published versions by
their manifests, `pace` holds the bandwidth.
`docs/sync.md` has the protocol, and what a crash leaves between any two steps. `backup` is a room of its own.
"""
