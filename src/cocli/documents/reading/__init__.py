"""Reading what strangers wrote, in processes with limits: of processor time, of time, of memory.

- `reader_process`: the program that reads, for one other process.
- `limits`: what one reading may take, and what the end of a process says about what it read.
- `room`: `ReadingRoom`, for whoever waits for an answer: nodes of a graph, imports.

An event loop that reads hundreds of pages does it by `cocli.pipeline.websites.site.reader_pool`, with this program.
"""
