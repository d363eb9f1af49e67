"""The dashboard's server: the files of the pages live, events, commands and edits, and who may do what."""
