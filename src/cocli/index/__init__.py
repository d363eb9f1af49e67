"""Indexes: millions of small records, written by many, read without listing. Built on a store and nothing else.

    index = open_index(store, IndexRef("prospects", "plumbers"), FolderCache(folder))      cocli.pipeline.indexes, cache

    IndexWriter(index).put(record)                one record, under its identity                              writer
    IndexWriter(index).append(records)            many records, one object
    Compactor(index).compact()                    packs what waits into a new version                     compaction
    Compactor(index).remove(keys)                 removes records by sort key, for good

    reader = open_reader(index)                   one version, fixed: the current one                         reader
    open_reader(index, number=7)                  … an earlier one; `as_of=time` likewise
    open_reader(index, fresh=True)                … with what is not packed yet (this one lists)
    reader.get(key)  get_many(keys)  scan(low, high)  rows()  files()  waiting()  manifest
    index.spec.key_of(record)                     the sort key of a record

    history(index)  version(index, number)        manifests, newest first                                   versions
    diff(index, old, new)                         records added, removed, changed, and in which fields          diff
    Collector(index).collect()                    removes what no kept version needs                    care.garbage
    verify(index)  repair(index)                  names what is damaged; mends it       care.verification, care.repair

Underneath: a version is two runs of sorted shards, `base` and `delta` (`manifest`, `runs`, `shards`, `rows`); a row of
the delta is a whole record and supersedes the row of the base with its key (`view`). `LATEST` is the only object that
is ever replaced (`latest`). What was consumed is named until it is gone (`consumed`, `pending`). `docs/index.md` has
the protocol, and what a crash leaves between any two steps.
"""
