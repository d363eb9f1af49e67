"""Makes the Python of the `.proto` files: `.venv/bin/python -m cocli.documents.proto.generate proto`.

Messages need protobuf alone (`document_pb2`, `repository_pb2`); what needs gRPC stands apart (`…_pb2_grpc`).
The compiler names modules by the proto package, and ours lie elsewhere: their imports are rewritten.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "cocli.documents.proto.generated"
GENERATED = Path(__file__).with_name("generated")
FOLDER = "cocli/documents/v1"
_ELSEWHERE = re.compile(r"\bcocli\.documents\.v1(?= import|\.\w+_pb2)")
_INIT = '"""Made by cocli.documents.proto.generate: do not edit."""\n'


def generate(sources: Path) -> dict[str, str]:
    """The text of every generated file, by its name. `sources` is the project's folder `proto`."""
    files = sorted(path.relative_to(sources).as_posix() for path in sources.rglob("*.proto"))
    if not files:
        raise FileNotFoundError(f"there are no .proto files below {sources}")
    with tempfile.TemporaryDirectory() as folder:
        _compile(sources, files, Path(folder))
        made = (Path(folder) / FOLDER).iterdir()
        texts = {path.name: _rewritten(path.read_text("utf-8")) for path in made}
    return {"__init__.py": _INIT} | dict(sorted(texts.items()))


def _compile(sources: Path, files: list[str], folder: Path) -> None:
    # The compiler looks for its plugins on the path, where a virtual environment that is not activated has none.
    plugins = [
        f"--plugin=protoc-gen-{name}={Path(sys.executable).with_name(f'protoc-gen-{name}')}"
        for name in ("mypy", "mypy_grpc")
    ]
    services = [name for name in files if name.endswith(("/repository.proto", "/module.proto"))]
    compiler = [sys.executable, "-m", "grpc_tools.protoc", f"-I{sources}", *plugins]
    for command in (
        [*compiler, f"--python_out={folder}", f"--mypy_out={folder}", *files],
        [*compiler, f"--grpc_python_out={folder}", f"--mypy_grpc_out={folder}", *services],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own interpreter
        if done.returncode:
            raise RuntimeError(f"the compiler of .proto files failed:\n{done.stderr}")


def _rewritten(text: str) -> str:
    return _ELSEWHERE.sub(PACKAGE, text)


def main(arguments: list[str]) -> None:
    made = generate(Path(arguments[0] if arguments else "proto"))
    GENERATED.mkdir(exist_ok=True)
    for old in GENERATED.iterdir():
        if old.is_file() and old.name not in made:
            old.unlink()
    for name, text in made.items():
        (GENERATED / name).write_text(text, "utf-8")
    sys.stdout.write(f"wrote {len(made)} files to {GENERATED}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
