"""The command line: `cocli <noun> <verb>`. It parses, calls one use case of `cocli.app`, and renders the answer.

main.py         the entry; answers --help and --version before anything heavy is loaded
nouns.py        the table of nouns, from which the help, the commands and the reference are made
older_names.py  the names that commands and options had before, which still work
root.py         runs a command, and turns whatever comes out of it into text and an exit code
kit/            what all commands share: context, options, output, errors, progress, questions
the rest        one module or folder a noun
"""

COMPLETION_VARIABLE = "_COCLI_COMPLETE"
"""Where a shell says that it asks for completions."""
