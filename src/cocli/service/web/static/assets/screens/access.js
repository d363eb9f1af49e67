// Access: who you are, tokens for programs, who did what.
import { html, useState } from "../kit/dom.js";
import { isLive, may, send, session, useAnswer } from "../kit/server.js";
import { Absent, Bones, Card, CopyButton, Dialog, Notice, Problem, Since, Table, tell } from "../kit/parts.js";
import { Icon } from "../kit/icon.js";
import { atMoment, onDay, plain, words } from "../kit/format.js";

const Shown = ({ answer, what, children }) => (answer.file ? children(answer.file) : answer.problem ? html`<${Problem} problem=${answer.problem} what=${what} />` : html`<div class="pad"><${Bones} lines=${3} /></div>`);

function Session() {
  const who = session.use();
  const campaigns = Object.entries(who.campaigns ?? {});
  return html`<${Card} title="You"><dl class="facts narrow"><div><dt>name</dt><dd>${plain(who.name)}</dd></div><div><dt>role</dt><dd><span class="badge wait">${words(who.role)}</span></dd></div><div><dt>by</dt><dd>${plain(who.provider)}</dd></div>${who.expires_at && html`<div><dt>until</dt><dd>${atMoment(who.expires_at)}</dd></div>`}${campaigns.map(([campaign, role]) => html`<div><dt>${plain(campaign)}</dt><dd>${words(role)}</dd></div>`)}</dl>
    <p class="dim">Viewers look and download. Editors tag, note, exclude and change phrases. Admins scale, restart, start runs and give tokens.</p></${Card}>`;
}

function NewToken({ onClose, made }) {
  const [secret, setSecret] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    const { name, role, days } = event.target.elements;
    try {
      setSecret(await send("POST", "api/tokens", { name: name.value.trim(), role: role.value, days: Number(days.value) }));
      made();
    } catch (problem) { tell({ tone: "bad", title: "No token", text: `${problem.message} ${problem.hint ?? ""}` }); }
  };
  if (secret) return html`<${Dialog} title="The token" onClose=${onClose}><div class="body"><${Notice} tone="warn" title="It is shown once"><p>Keep it where secrets are kept.</p></${Notice}><div class="command plain-text"><code tabindex="0">${secret.secret ?? secret.token}</code><${CopyButton} text=${secret.secret ?? secret.token} label="Copy the token" /></div></div></${Dialog}>`;
  return html`<${Dialog} title="New token" onClose=${onClose}><form onSubmit=${submit}><div class="body"><label class="field"><span>What for</span><input type="text" name="name" required maxlength="60" autofocus placeholder="nightly export" /></label><label class="field"><span>Role</span><select name="role"><option value="viewer">viewer: reads</option><option value="editor">editor: changes</option><option value="admin">admin: everything</option></select></label><label class="field"><span>Days until it expires</span><input type="number" name="days" min="1" max="365" value="90" required /></label></div><footer><button class="button main">Make it</button></footer></form></${Dialog}>`;
}

function Tokens() {
  const [round, setRound] = useState(0);
  const [making, setMaking] = useState(false);
  const again = () => setRound((value) => value + 1);
  const answer = useAnswer("api/tokens", round);
  const revoke = async (token) => {
    try { await send("DELETE", `api/tokens/${encodeURIComponent(token.id)}`); tell({ title: `Revoked ${token.name}` }); } catch (problem) { tell({ tone: "bad", title: "Not revoked", text: problem.message }); }
    again();
  };
  const head = [{ label: "Token" }, { label: "May" }, { label: "Expires" }, { label: html`<span class="only-heard">Revoke</span>`, num: true }];
  return html`<${Card} title="Tokens" small="for programs" flush actions=${html`<button type="button" class="button small" onClick=${() => setMaking(true)}><${Icon} name="plus" />New token</button>`}>
    <${Shown} answer=${answer} what="the tokens">${(read) => html`<${Table} label="Tokens" head=${head} empty="No token yet" rows=${read.tokens.map((token) => ({ key: token.id, cells: [plain(token.name ?? token.id), html`<span class="badge">${plain(token.role)}</span> <span class="dim">${token.campaigns ? token.campaigns.map(plain).join(", ") : "all campaigns"}</span>`, token.revoked_at ? "revoked" : onDay(token.expires_at), !token.revoked_at && html`<button type="button" class="button small bad" onClick=${() => revoke(token)}>Revoke</button>`] }))} />`}</${Shown}>
    ${making && html`<${NewToken} onClose=${() => setMaking(false)} made=${again} />`}</${Card}>`;
}

function Log() {
  const answer = useAnswer("api/log?limit=200");
  const head = [{ label: "When" }, { label: "Who" }, { label: "What" }, { label: "Where", class: "wide-only" }, { label: "Answer", num: true }];
  const rows = (read) => read.lines.map((line) => ({ cells: [html`<${Since} time=${line.at} />`, plain(line.who), plain(line.action), html`<span class="mono clip">${plain(line.path)}</span>`, line.status >= 400 ? html`<span class="badge bad">refused ${line.status}</span>` : html`<span class="badge ok">done</span>`] }));
  return html`<${Card} title="Log" small="who did what" flush><${Shown} answer=${answer} what="the log">${(read) => html`<${Table} label="Log" head=${head} empty="Nothing was changed yet" rows=${rows(read)} />`}</${Shown}></${Card}>`;
}

export function Screen({ campaign }) {
  if (!isLive()) return html`<header><h1>Access</h1></header><div class="card"><${Absent} what="Access" /></div>`;
  return html`<header><h1>Access</h1></header><div class="grid"><div class="third"><${Session} /></div><div class="most stack">${may("admin", campaign) ? html`<${Tokens} /><${Log} />` : html`<${Notice} tone="wait" title="Tokens and the log are for admins" />`}</div></div>`;
}
