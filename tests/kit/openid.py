"""Providers of OpenID Connect on loopback: one of our own that can be told to lie, and the one of npm that does not."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import shutil
import subprocess
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENT = "dashboard"
SECRET = "a secret: of/two"
_NODE = Path(__file__).parents[2] / ".venv" / "openid"


@dataclass
class LyingProvider:
    """A provider that lets everybody in as `person`, and lies as it is told to."""

    person: dict[str, Any] = field(
        default_factory=lambda: {"sub": "ann", "email": "ann@example.org", "email_verified": True}
    )
    lies: dict[str, Any] = field(default_factory=dict)
    """Claim → what the ID token says instead; `alg`, `key`, `kid`, `issuer`, `iss_parameter` are lies of their own."""
    issuer: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))
    stranger: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            **self.person,
        }
        special = ("alg", "key", "kid", "issuer", "iss_parameter")
        claims |= {name: value for name, value in self.lies.items() if name not in special}
        claims = {name: value for name, value in claims.items() if value is not None}
        algorithm = self.lies.get("alg", "RS256")
        headers = {"kid": self.lies.get("kid", "one")}
        if algorithm == "none":
            return jwt.encode(claims, "", "none", headers)
        if algorithm == "HS256":  # signed with the public key as if it were a shared secret
            return _signed_with_a_text(claims, headers, json.dumps(self.jwks()["keys"][0]))
        key = self.stranger if self.lies.get("key") == "stranger" else self.key
        return jwt.encode(claims, key, algorithm, headers)

    def jwks(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": "one", "use": "sig"}]}

    def exchange(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        known = self.codes.pop(form.get("code", ""), None)
        wanted = "Basic " + base64.b64encode(f"{CLIENT}:a%20secret%3A%20of%2Ftwo".encode()).decode()
        if known is None or authorization != wanted:
            return 400, {"error": "invalid_grant"}
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != known["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        if form.get("redirect_uri") != known["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        return 200, {"id_token": self.token(known["nonce"]), "access_token": "at", "token_type": "Bearer"}


def _signed_with_a_text(claims: dict[str, Any], headers: dict[str, Any], text: str) -> str:
    """By hand: the library refuses to do what an attacker does."""
    parts = [{"alg": "HS256", "typ": "JWT", **headers}, claims]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    signature = hmac.new(text.encode(), ".".join(encoded).encode(), "sha256").digest()
    return ".".join([*encoded, base64.urlsafe_b64encode(signature).decode().rstrip("=")])


def _handler(provider: LyingProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            base = provider.issuer
            if parts.path == "/.well-known/openid-configuration":
                endpoints = {"authorization_endpoint": "auth", "token_endpoint": "token", "jwks_uri": "jwks"}
                found = {name: f"{base}/{path}" for name, path in endpoints.items()}
                self._json(200, {"issuer": provider.lies.get("issuer", base), **found})
            elif parts.path == "/jwks":
                self._json(200, provider.jwks())
            elif parts.path == "/auth":
                asked = dict(parse_qsl(parts.query))
                code = secrets.token_urlsafe(8)
                provider.codes[code] = asked
                provider.used.append(code)
                back = {"code": code, "state": asked["state"], "iss": provider.lies.get("iss_parameter", base)}
                self.send_response(302)
                self.send_header("Location", f"{asked['redirect_uri']}?{urlencode(back)}")
                self.end_headers()
            else:
                self._json(404, {})

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[-1] for name, values in parse_qs(text).items()}
            self._json(*provider.exchange(form, self.headers.get("Authorization", "")))

        def _json(self, status: int, document: dict[str, Any]) -> None:
            data = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    return Handler


@contextmanager
def lying_provider() -> Iterator[LyingProvider]:
    provider = LyingProvider()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))
    provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# --- the one of npm

_SCRIPT = """
import { Provider } from "oidc-provider";
import { createServer } from "node:http";
const [redirect] = process.argv.slice(2);
const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: "dashboard", client_secret: "a secret: of/two", redirect_uris: [redirect] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups"] },
    pkce: { required: () => true },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.org`, email_verified: true, groups: ["plumbers:editor"] }),
    }),
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
"""


def has_npm_provider() -> bool:
    """Whether `make openid` put it there."""
    return shutil.which("node") is not None and (_NODE / "node_modules" / "oidc-provider").is_dir()


@contextmanager
def npm_provider(redirect: str, folder: Path) -> Iterator[str]:
    """The certified provider of npm, with its own login pages; gives its issuer."""
    script = _NODE / f"provider-{secrets.token_hex(4)}.mjs"
    script.write_text(_SCRIPT, "utf-8")
    with (folder / "node.log").open("w") as log:
        process = subprocess.Popen(["node", str(script), redirect], stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        issuer = process.stdout.readline().strip()
        assert issuer, (folder / "node.log").read_text()
        yield issuer
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
        script.unlink()
