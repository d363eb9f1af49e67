"""Who is left alone: values in their normal form, the list of them, and what is taken out of texts and records."""
