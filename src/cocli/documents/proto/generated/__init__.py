"""Made by cocli.documents.proto.generate: do not edit."""
