"""Configuration: reading it, merging it, editing it, and knowing where every value came from.

A value comes from the first of: flag, environment, the campaign's file, the user's file, the schema's default.
Nothing here opens a store: the campaign's file is handed in as text, because it lives in the store that the other
layers name. The schema is `cocli.models.campaign.CampaignConfig`, for both files.

    lines.py      which line of a TOML text a key stands on, and where its tables begin and end
    schema.py     every setting, its environment twin, what a value must look like
    file.py       one file: parsed, checked, mistakes named with file, line and key
    values.py     a value typed on a command line or in the environment → what the schema wants
    resolve.py    the layers merged, with origins
    edit.py       changes to a file that keep its comments and order
    rewriting.py  how one change is written into the text, in the section where a person looks for it
    template.py   the file that a new campaign or a new user starts with
    places.py     where the data and the user's file are on this machine
    version.py    which version of the program this is
"""
