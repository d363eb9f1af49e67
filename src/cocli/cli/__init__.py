"""The command line: `cocli <noun> <verb>`. It parses, calls one use case of `cocli.app`, and renders the answer.

main.py       the entry; answers --help and --version before anything heavy is loaded
nouns.py      the table of nouns, from which the help, the commands and the reference are made
root.py       runs a command, and turns whatever comes out of it into text and an exit code
context.py    what every command is given: streams, environment, workspace
options.py    the options that commands share
output.py     data on stdout (tables, JSON), talk on stderr
errors.py     an error as text or JSON
progress.py   how far a long walk is, on stderr
confirm.py    questions, each with a flag that answers it
safe_text.py  scraped text made harmless for a terminal
reference.py  docs/reference/*.md, generated from the above
the rest      one module per noun
"""
