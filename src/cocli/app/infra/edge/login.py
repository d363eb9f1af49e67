"""The login in front of the dashboard's files: /auth/login, /auth/callback, /auth/logout. Runs as a function on AWS."""

import base64
import hashlib
import hmac
import json
import os
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request

HOURS = 12
FLOW = "cocli_flow"
LOGIN = "cocli_login"
SAFE = "Secure; HttpOnly; SameSite=Lax"


def text(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def settings():
    """Known only after everything is made, and so not part of this function's environment."""
    import boto3

    said = boto3.client("ssm").get_parameter(Name=os.environ["PARAMETER"])["Parameter"]["Value"]
    key = boto3.client("secretsmanager").get_secret_value(SecretId=os.environ["SECRET"])["SecretString"]
    return {**json.loads(said), "key": key}


def answer(status, cookies=(), **headers):
    return {"statusCode": status, "cookies": list(cookies), "headers": {"cache-control": "no-store", **headers}}


def query(**values):
    return urllib.parse.urlencode(values)


def start(known, here):
    state, verifier, nonce = (secrets.token_urlsafe(32) for _ in range(3))
    challenge = text(hashlib.sha256(verifier.encode()).digest())
    asked = query(
        response_type="code", client_id=known["client"], redirect_uri=here, scope="openid email",
        state=state, nonce=nonce, code_challenge=challenge, code_challenge_method="S256",
    )  # fmt: skip
    flow = f"{FLOW}={state}.{verifier}.{nonce}; Path=/auth/; Max-Age=600; {SAFE}"
    return answer(302, [flow], location=f"{known['pages']}/oauth2/authorize?{asked}")


def finish(known, here, asked, cookies, now):
    state, verifier, nonce = [*cookies.get(FLOW, "").split("."), "", ""][:3]
    if not state or not hmac.compare_digest(state.encode(), asked.get("state", "").encode()):
        return answer(400)
    form = query(
        grant_type="authorization_code", code=asked.get("code", ""), client_id=known["client"],
        redirect_uri=here, code_verifier=verifier,
    )  # fmt: skip
    try:
        with urllib.request.urlopen(f"{known['pages']}/oauth2/token", form.encode(), timeout=10) as response:
            body = json.load(response)["id_token"].split(".")[1]
    except urllib.error.HTTPError:
        return answer(403)
    # Straight from the provider, by TLS: so nobody else can have made it.
    said = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    if said.get("aud") != known["client"] or said.get("nonce", nonce) != nonce or said["exp"] < now:
        return answer(403)
    groups = said.get("cognito:groups", [])
    campaigns = sorted({group.partition(":")[0] for group in groups if ":" in group})
    claims = {"sub": said["sub"], "campaigns": campaigns, "exp": int(now) + HOURS * 3600}
    body = text(json.dumps(claims).encode())
    signature = text(hmac.digest(known["key"].encode(), body.encode(), "sha256"))
    made = f"{LOGIN}={body}.{signature}; Path=/; Max-Age={HOURS * 3600}; {SAFE}"
    return answer(302, [made, f"{FLOW}=; Path=/auth/; Max-Age=0; {SAFE}"], location="/")


def handler(event, context):
    path = event["rawPath"]
    here = f"https://{event['headers'].get('x-cocli-host', '')}/auth/callback"
    if path == "/auth/login":
        return start(settings(), here)
    if path == "/auth/callback":
        told = event.get("cookies") or event["headers"].get("cookie", "").split("; ")
        cookies = dict(cookie.split("=", 1) for cookie in told if "=" in cookie)
        return finish(settings(), here, event.get("queryStringParameters") or {}, cookies, time.time())
    if path == "/auth/logout":
        return answer(302, [f"{LOGIN}=; Path=/; Max-Age=0; {SAFE}"], location="/auth/login")
    return answer(404)
