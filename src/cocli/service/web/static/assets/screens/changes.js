// Changes: what became different since a day, with both values and the way to both documents.
import { html } from "../kit/dom.js";
import { api, isLive, useAnswer } from "../kit/server.js";
import { Absent, Card, Command, Loaded, State, Table } from "../kit/parts.js";
import { address, changed, go } from "../kit/route.js";
import { count, onDay, plain, plural, words } from "../kit/format.js";

const STATES = { new: "new", came_back: "done", missing: "stale", closed: "gone" };
const HEAD = [{ label: "Found" }, { label: "What" }, { label: "Business" }, { label: "Before" }, { label: "After" }, { label: "Seen on", class: "wide-only" }];

// A website's page can be looked at; other documents are fetched in a terminal.
function Seen({ campaign, change, side, at }) {
  const uuid = change[`${side}_document`];
  if (!uuid) return null;
  const what = `${side === "before" ? "Before" : "After"}, ${onDay(at)}`;
  if (change.source !== "website") return html`<details><summary>${what}</summary><${Command} line=${`cocli documents get ${uuid} -c ${campaign}`} /></details>`;
  return html`<a class="button plain small" target="_blank" rel="noreferrer" href=${`data/${campaign}/pages/${change.company_hash}/${uuid}.html`}>${what}</a>`;
}

function row(change, campaign) {
  const value = (text, Mark) => (text ? html`<${Mark}>${plain(text)}</${Mark}>` : "nothing");
  return { key: change.change_id, cells: [
    onDay(change.found_at),
    html`<${State} is=${STATES[change.kind] ?? "changed"} word=${words(change.kind)} />`,
    html`<a href=${address({ campaign, view: "company", id: change.company_hash })}>${plain(change.name)}</a>`,
    value(change.before, "del"),
    html`${value(change.after, "ins")}${change.reason && html`<br /><span class="dim">${plain(change.reason)}</span>`}`,
    html`<${Seen} campaign=${campaign} change=${change} side="before" at=${change.before_at} /> <${Seen} campaign=${campaign} change=${change} side="after" at=${change.after_at} />`,
  ] };
}

function Kinds({ counts, kind }) {
  const chip = (name, label, many) => html`<a class=${`chip ${kind === name ? "on" : ""}`} aria-current=${kind === name ? "true" : undefined} href=${changed({ kind: name })}>${label} ${count(many)}</a>`;
  const all = Object.values(counts).reduce((sum, many) => sum + many, 0);
  return html`<div class="line" role="group" aria-label="Kinds">${chip(null, "all", all)}${Object.entries(counts).map(([name, many]) => chip(name, words(name), many))}</div>`;
}

export function Screen({ campaign, route }) {
  const since = route.get("since");
  const kind = route.get("kind");
  const data = useAnswer(isLive() ? `${api(campaign, "changes")}?${new URLSearchParams({ limit: 500, since: since ?? "", kind: kind ?? "" })}` : null);
  if (!isLive()) return html`<header><h1>Changes</h1></header><div class="card"><${Absent} what="Changes" /></div>`;
  const day = html`<label class="line as-of"><span class="dim">Since</span><input type="date" value=${(since ?? "").slice(0, 10)} onChange=${(event) => go(changed({ since: event.target.value || null }))} /></label>`;
  return html`<header><h1>Changes</h1><span class="spacer" />${day}</header><${Loaded} data=${data} what="the changes">${(read) => html`<div class="stack">
    <${Kinds} counts=${read.counts} kind=${kind} />
    <${Card} title=${plural(read.changes.length, "change")} small=${read.taken_at ? `stock was taken last on ${onDay(read.taken_at)}` : "stock was never taken"} flush><${Table} label="Changes" head=${HEAD} empty=${read.taken_at ? "Nothing changed" : "Nothing is known to compare with yet"} rows=${read.changes.map((change) => row(change, campaign))} /></${Card}>
    ${read.left_out > 0 && html`<p class="dim">${plural(read.left_out, "earlier change")}: <code>cocli campaign changes ${campaign}</code></p>`}</div>`}</${Loaded}>`;
}
