"""The document service: gRPC and HTTP, and the client for both."""
