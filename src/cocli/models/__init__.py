"""One file per record. Import a record from its own module: `from cocli.models.prospect import Prospect`."""
