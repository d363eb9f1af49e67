"""The graph: nodes that work on documents, and the edges that carry documents between them."""
