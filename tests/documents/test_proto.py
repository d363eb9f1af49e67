"""The generated code is what the generator makes, and messages need no gRPC."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cocli.documents.proto.generate import GENERATED, generate

PROTO = Path(__file__).parents[2] / "proto"


def test_the_committed_code_is_what_the_generator_makes() -> None:
    made = generate(PROTO)
    there = {path.name: path.read_text("utf-8") for path in GENERATED.iterdir() if path.is_file()}
    assert there == made, "run: .venv/bin/python -m cocli.documents.proto.generate proto"


def test_messages_need_no_grpc() -> None:
    program = (
        "import sys; sys.modules['grpc'] = None\n"
        "import cocli.documents\n"
        "from cocli.documents.proto.generated import repository_pb2\n"
        "print(repository_pb2.DESCRIPTOR.services_by_name['DocumentRepository'].methods_by_name.keys())"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for method in ("Save", "Get", "GetByReference", "ListStates", "ListDocuments", "Replay", "Compare", "Purge"):
        assert f"'{method}'" in done.stdout


def test_a_message_can_be_pickled() -> None:
    """Its module must be where Python finds it, which is not where the compiler thinks it is."""
    from cocli.documents.proto.generated import document_pb2

    assert document_pb2.PipeDoc.__module__ == "cocli.documents.proto.generated.document_pb2"
