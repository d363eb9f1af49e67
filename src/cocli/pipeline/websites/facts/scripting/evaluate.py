"""The strings that a script puts together: concatenation, arrays, character codes, decoding functions — read, not run.

Expressions are evaluated where they stand, in the order of the text, with the variables that were set before. There
are no loops and no calls of the script's own functions: what depends on them is unknown, and nothing is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cocli.pipeline.websites.facts.scripting.tokens import Token, tokens
from cocli.pipeline.websites.facts.scripting.values import MAX_LIST, UNKNOWN, Value, added, as_text, called, method
from cocli.pipeline.websites.page.wordlist import words

MAX_NESTING = 30
MAX_OUTPUTS = 2_000
MAX_VOLUME = 300_000
"""Characters of all strings together: a small script can double one string again and again."""
_OPERATORS = frozenset(("+", "-", "*", "^"))
_BUILT_IN = words("fromCharCode atob unescape decodeURIComponent decodeURI eval write writeln")
_QUIET = _BUILT_IN | {""}
_ASSIGNING = frozenset(("=", "+=", ":"))
_KEYWORDS = words(
    """
    var let const return typeof new void delete if else for while function case default export
    """
)


@dataclass(frozen=True, slots=True)
class ScriptOutput:
    """A string that the script makes, and how many pieces it is made of."""

    text: str
    start: int
    pieces: int
    called_by: str = ""
    """The function that the string is given to, where it is one that the script defines."""


def strings_of(script: str) -> list[ScriptOutput]:
    """Every string that a script puts together or contains."""
    run = _Run(tokens(script))
    run.all()
    return [output for output in run.outputs if output is not None]


@dataclass(slots=True)
class _Run:
    tokens: list[Token]
    at: int = 0
    nesting: int = 0
    pieces: int = 0
    volume: int = 0
    variables: dict[str, Value] = field(default_factory=dict)
    outputs: list[ScriptOutput | None] = field(default_factory=list)
    written_by: dict[str, int] = field(default_factory=dict)

    def all(self) -> None:
        while self.at < len(self.tokens) and not self._is_full():
            self._step()

    def _is_full(self) -> bool:
        return len(self.outputs) >= MAX_OUTPUTS or self.volume >= MAX_VOLUME

    def _emit(self, output: ScriptOutput) -> None:
        self.volume += len(output.text)
        if not self._is_full():
            self.outputs.append(output)

    def _step(self) -> None:
        token = self.tokens[self.at]
        if token.kind == "name" and token.text in _KEYWORDS:
            self.at += 1
        elif token.kind == "name" and self._mark(1) in _ASSIGNING:
            self._assignment(token)
        elif token.kind in ("string", "template", "name") or token.text in ("[", "("):
            self._expression(token)
        else:
            self.at += 1

    def _block(self) -> None:
        """The body of a function, or an object, within an expression: its own statements, up to its closing brace."""
        depth = 0
        while self.at < len(self.tokens):
            mark = self._mark(0)
            depth += (mark == "{") - (mark == "}")
            if mark == "}" and depth <= 0:
                self.at += 1
                return
            self._step()

    # --- statements ---------------------------------------------------------------------------------------------

    def _assignment(self, token: Token) -> None:
        """`a = …`, `a += …`, `a.b = …`, and `a: …` in an object: the last name is what is remembered."""
        name, operator = token.text, self._mark(1)
        self.at += 2
        before = self.variables.get(name, UNKNOWN)
        extends = operator == "+=" or (self._peek_text() == name)
        self.pieces = 0
        start = self.at
        value = self._sum()
        if self.at == start:
            self.at += 1
        if operator == "+=":
            value = added(before, value, "+") if before is not UNKNOWN else UNKNOWN
        if operator != ":" or isinstance(value, str):
            self.variables[name] = value
        self._remember(name if operator != ":" else "", extends, value, token.start)

    def _remember(self, name: str, extends: bool, value: Value, start: int) -> None:
        """A variable that is put together in several steps counts once, when it is whole."""
        if not isinstance(value, str) or not value:
            return
        earlier = self.written_by.get(name)
        if extends and earlier is not None and earlier < len(self.outputs):
            self.outputs[earlier] = None
        if name:
            self.written_by[name] = len(self.outputs)
        self._emit(ScriptOutput(value, start, self.pieces + 2 * extends))

    def _expression(self, token: Token) -> None:
        before, self.pieces = self.at, 0
        value = self._sum()
        if self.at == before:
            self.at += 1
        if isinstance(value, str) and value and self.at > before + 1 - (token.kind != "name"):
            self._emit(ScriptOutput(value, token.start, self.pieces))

    # --- expressions --------------------------------------------------------------------------------------------

    def _sum(self) -> Value:
        value = self._term()
        while self._mark(0) in _OPERATORS:
            operator = self._mark(0)
            self.at += 1
            value = added(value, self._term(), operator)
        return value

    def _term(self) -> Value:
        value = self._primary()
        while True:
            if self._mark(0) == "." and self._kind(1) == "name" and self._mark(2) not in ("=", "+="):
                value = self._member(value)
            elif self._mark(0) == "[" and value is not UNKNOWN and self.nesting < MAX_NESTING:
                value = self._indexed(value)
            else:
                return value

    def _primary(self) -> Value:
        if self.at >= len(self.tokens):
            return UNKNOWN
        token = self.tokens[self.at]
        if token.kind == "string":
            self.at += 1
            self.pieces += 1
            return token.text
        if token.kind == "template":
            self.at += 1
            self.pieces += 2
            return self._filled(token.text)
        if token.kind == "number":
            self.at += 1
            return _number(token.text)
        if token.kind == "regex":
            self.at += 1
            return UNKNOWN
        if token.kind == "name":
            return self._named(token.text)
        if token.text == "(" and self.nesting < MAX_NESTING:
            return self._in_parentheses()
        if token.text == "[" and self.nesting < MAX_NESTING:
            return self._list()
        return UNKNOWN

    def _named(self, name: str) -> Value:
        self.at += 1
        if name in _KEYWORDS:
            return UNKNOWN
        if self._mark(0) == "(" and self.nesting < MAX_NESTING:
            arguments, _ = self._arguments(name)
            return called(name, arguments)
        return self.variables.get(name, UNKNOWN)

    def _member(self, value: Value) -> Value:
        name = self.tokens[self.at + 1].text
        self.at += 2
        if self._mark(0) == "." and self._text(1) in ("apply", "call") and self._mark(2) == "(":
            self.at += 2
            arguments, _ = self._arguments(name)
            return called(name, arguments[1:])
        if self._mark(0) != "(" or self.nesting >= MAX_NESTING:
            if value is UNKNOWN:
                return self.variables.get(name, UNKNOWN)
            return UNKNOWN
        arguments, inner = self._arguments(name)
        if value is UNKNOWN:
            if name in _BUILT_IN:
                return called(name, arguments)
            return UNKNOWN
        return method(value, name, arguments, inner)

    def _arguments(self, function: str) -> tuple[list[Value], list[Token]]:
        """The values between parentheses, and the tokens they were read from. Ends behind the closing one."""
        start = self.at + 1
        values = self._values(")", function)
        return values, self.tokens[start : self.at - 1][:200]

    def _list(self) -> Value:
        return self._values("]", "")

    def _in_parentheses(self) -> Value:
        values = self._values(")", "")
        if values:
            return values[-1]
        return UNKNOWN

    def _values(self, closing: str, function: str) -> list[Value]:
        self.at += 1
        self.nesting += 1
        values: list[Value] = []
        while self.at < len(self.tokens) and self._mark(0) != closing and len(values) < MAX_LIST:
            before, start = self.at, self.tokens[self.at].start
            value: Value = UNKNOWN
            if self._mark(0) == "{":
                self._block()
            else:
                value = self._sum()
            if self.at == before:
                self.at += 1  # a part that is no expression here, such as the arrow of a function
            whole = self._mark(0) in (",", closing, "")
            if isinstance(value, str) and value and (not whole or "@" in value or function not in _QUIET):
                self._emit(ScriptOutput(value, start, max(self.pieces, 1), function))
            if whole:
                values.append(value)
            if self._mark(0) == ",":
                self.at += 1
        self.at += 1
        self.nesting -= 1
        return values

    def _indexed(self, value: Value) -> Value:
        inside = self._values("]", "")
        index = inside[0] if len(inside) == 1 else UNKNOWN
        if isinstance(value, (list, str)) and isinstance(index, int) and 0 <= index < len(value):
            return value[index]
        return UNKNOWN

    def _filled(self, template: str) -> str:
        """`${user}@${host}` with the variables that are known."""
        pieces = template.split("${")
        filled = [pieces[0]]
        for piece in pieces[1:]:
            name, closed, rest = piece.partition("}")
            filled += [as_text(self.variables.get(name.strip(), UNKNOWN)) if closed else "", rest]
        return "".join(filled)

    # --- looking ahead ------------------------------------------------------------------------------------------

    def _mark(self, ahead: int) -> str:
        index = self.at + ahead
        if index < len(self.tokens) and self.tokens[index].kind == "mark":
            return self.tokens[index].text
        return ""

    def _kind(self, ahead: int) -> str:
        index = self.at + ahead
        if index < len(self.tokens):
            return self.tokens[index].kind
        return ""

    def _text(self, ahead: int) -> str:
        index = self.at + ahead
        if index < len(self.tokens):
            return self.tokens[index].text
        return ""

    def _peek_text(self) -> str:
        if self._kind(0) == "name":
            return self._text(0)
        return ""


def _number(text: str) -> Value:
    if len(text) > 15:
        return UNKNOWN
    if text[:2].lower() == "0x":
        return int(text, 16)
    if "." in text:
        return float(text)
    return int(text)
