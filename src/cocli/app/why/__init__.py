"""Why a prospect has a value, back to the document behind it."""
