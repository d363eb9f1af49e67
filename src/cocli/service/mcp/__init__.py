"""The use cases as tools of the Model Context Protocol, for assistants: over stdio, or HTTP on this machine."""
