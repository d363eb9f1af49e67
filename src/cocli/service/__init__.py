"""The document repository as a service: gRPC and HTTP for others, and the client for them. Skins over `cocli.app`.

- `server`: both servers in one process, with TLS, until they are told to stop;
- `grpc_service`: the methods of `DocumentRepository`; `messages`: rows and references ⇄ protobuf;
- `http_service`: `POST /v1/documents`;
- `statuses`: which error has which status: the one table;
- `client`: `DocumentClient`, with the method names of the repository.

Both servers know the caller's account from its token and from nothing else.
"""
