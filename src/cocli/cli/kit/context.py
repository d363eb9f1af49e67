"""What every command is given: one `Call`, with its streams, its environment and what its shared options say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

import typer

from cocli.cli.kit.output import Output
from cocli.cli.kit.writing import writes
from cocli.errors import CocliError
from cocli.logs.output import veil_lines

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace
    from cocli.config.resolve import Flags
    from cocli.pipeline.suppression.veil import Veil


_NAME_WHOM_THEY_ARE_ABOUT = ("suppress", "forget", "subject-access", "store", "sync", "backup")
"""Commands about the list itself, and about files as they lie in a store."""


class _OpenVeil:
    """The do-not-contact lists of the stores that a command has opened, as long as it has them open and afterwards."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace: Workspace | None = workspace
        self._last: list[Veil] = []

    def close(self) -> None:
        """Most commands speak when they are done: what holds then is read before the stores are closed."""
        self._last, self._workspace = self._veils(), None

    def text(self, text: str) -> str:
        for veil in self._veils():
            text = veil.text(text)
        return text

    def plain(self, value: Any) -> Any:
        for veil in self._veils():
            value = veil.plain(value)
        return value

    def data(self, data: bytes) -> bytes:
        for veil in self._veils():
            data = veil.scrubber.data(data)
        return data

    def _veils(self) -> list[Veil]:
        return self._last if self._workspace is None else self._workspace.veils()


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a command. `cocli.cli.root` makes it; `shared` adds what the command's shared options say."""

    environ: Mapping[str, str]
    output: Output
    stdin: BinaryIO
    raw_stdout: BinaryIO
    campaign: str | None = None
    """The campaign that was named, by an argument, by --campaign or by the environment."""
    campaigns: tuple[str, ...] = ()
    """Those that were named, where several can be: by --campaign, else by the environment."""
    store: str | None = None
    dry_run: bool = False
    yes: bool = False
    command: str = ""
    """Its words, without the program's name and without options: `campaign edit`."""

    def with_options(self, given: dict[str, Any]) -> Call:
        """The same call, with the values of shared options. What the command does not have is as by default."""
        output = replace(self.output, as_json=given.get("json", False), quiet=given.get("quiet", False))
        named = given.get("campaign_argument") or given.get("campaign")
        if not named and ("campaign_argument" in given or "campaign" in given):
            named = self._standing_campaign(output)
        return replace(
            self,
            output=output,
            campaign=named or None,
            campaigns=self._several(given),
            store=given.get("store"),
            dry_run=given.get("dry_run", False),
            yes=given.get("yes", False),
        )

    def _several(self, given: dict[str, Any]) -> tuple[str, ...]:
        if "campaigns" not in given:
            return ()
        named = given["campaigns"] or [self.environ.get("CAMPAIGN_NAME")]
        return tuple(name for name in named if name)

    def _standing_campaign(self, output: Output) -> str | None:
        """The campaign of the environment, or the one in use, which is said."""
        if named := self.environ.get("CAMPAIGN_NAME"):
            return named
        from cocli.config.places import campaign_in_use

        used = campaign_in_use(self.environ)
        if used is not None:
            output.talk(f"Campaign {used}, which is in use.")
        return used

    def needed_campaign(self, workspace: Workspace | None = None) -> str:
        """The name of the campaign that was named; with none named, of the only one that there is, which is said."""
        if self.campaign is not None:
            return self.campaign
        if workspace is None:
            with self.workspace() as opened:
                return self.needed_campaign(opened)
        from cocli.app.campaigns.in_use import only_campaign

        only = only_campaign(workspace)
        self.output.talk(f"Campaign {only}, the only one.")
        return only

    @property
    def flags(self) -> Flags:
        """What was said on the command line about the configuration."""
        from cocli.config.resolve import Flags

        return Flags(store=self.store, campaign=self.campaign)

    @contextmanager
    def workspace(self) -> Iterator[Workspace]:
        """The workspace of this call, open as long as it is used."""
        from cocli.app.workspace import open_workspace
        from cocli.config.resolve import Flags

        with open_workspace(self.environ, Flags(store=self.store)) as workspace:
            if not self.dry_run and writes(self.command):
                from cocli.app.machines.refusal import refuse_evicted

                refuse_evicted(workspace)
            if self.command.partition(" ")[0] in _NAME_WHOM_THEY_ARE_ABOUT:
                yield workspace
                return
            veil = _OpenVeil(workspace)
            self.output.veils[:] = [veil]
            if veil_lines(workspace.known_text):
                with suppress(CocliError):  # the command tells of it when it comes to the store itself
                    workspace.left_alone().listed()
            yield workspace
            veil.close()


def call_of(ctx: typer.Context) -> Call:
    """The call that `cocli.cli.root` has made."""
    found = ctx.find_object(Call)
    if found is None:
        raise RuntimeError("a command was started without its call")
    return found
