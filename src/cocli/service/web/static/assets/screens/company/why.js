// Why: the rule that chose a value, all that was seen, and the page it was read from.
import { html, useState } from "../../kit/dom.js";
import { useData } from "../../kit/data.js";
import { Bones, Command, Dialog, Empty, Notice, Problem } from "../../kit/parts.js";
import { Icon } from "../../kit/icon.js";
import { changed, go } from "../../kit/route.js";
import { atMoment, onDay, plain, words } from "../../kit/format.js";

const text = (value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : plain(value));

function Observations({ observations }) {
  if (!observations.length) return html`<p class="dim">No observation of this field is kept.</p>`;
  return html`<ul class="observations">${observations.map((seen) => html`<li class=${seen.kept ? "kept" : ""}><span class="line"><${Icon} name=${seen.kept ? "check" : "minus"} label=${seen.kept ? "chosen" : "not chosen"} /><b>${text(seen.value) || "nothing"}</b><span class="badge">${plain(seen.source)}</span>${seen.kept && html`<span class="badge ok">chosen</span>`}</span><small>${seen.observed_at ? `seen ${atMoment(seen.observed_at)}` : ""}${seen.told_by ? `, told by ${plain(seen.told_by)}` : ""}${seen.reason ? ` · ${plain(seen.reason)}` : ""}</small></li>`)}</ul>`;
}

function Emails({ emails }) {
  if (!emails.length) return null;
  return html`<h3>Where the addresses stand</h3><ul class="observations">${emails.map((mail) => html`<li><span class="line"><b>${plain(mail.email)}</b><span class="badge">${words(mail.method)}</span>${mail.relation && html`<span class="badge">${words(mail.relation)}</span>`}${mail.verification && html`<span class="badge">${words(mail.verification)}</span>`}</span>${mail.context && html`<q>${plain(mail.context)}</q>`}<small>${plain(mail.page)} · ${onDay(mail.first_seen)} to ${onDay(mail.last_seen)}</small></li>`)}</ul>`;
}

// The captured page. It has no script, no origin and no network: the sandbox is empty.
function Captured({ documents, field }) {
  const withPage = documents.filter((each) => each.page_link && !each.deleted);
  const [at, choose] = useState(0);
  const one = withPage[Math.min(at, withPage.length - 1)];
  if (!one) return html`<h3>The page</h3><p class="dim">${documents.length ? "What it was read from is no page, or is not kept any more." : "No document is named for this value."}</p>${documents.filter((each) => each.command).map((each) => html`<${Command} line=${each.command} />`)}`;
  return html`<div class="line even"><h3>The page, as it was on ${onDay(one.fetched_at)}</h3>${withPage.length > 1 && html`<select class="slim" aria-label="Page" onChange=${(event) => choose(Number(event.target.value))}>${withPage.map((each, index) => html`<option value=${index}>${plain(each.uri)}</option>`)}</select>`}</div>
    <p class="dim mono clip">${plain(one.uri)}</p>
    <iframe class="captured" sandbox="" referrerpolicy="no-referrer" title=${`Captured page of ${plain(one.uri)}`} src=${`${one.page_link}#value-${field}`} />
    <${Command} line=${one.command} />`;
}

function Explained({ read, field }) {
  const found = read.fields.find((each) => each.field === field) ?? read.fields.find((each) => each.field.includes(field)) ?? null;
  if (!found) return html`<${Empty} title=${`Nothing is recorded for ${words(field)}`} />`;
  const documents = read.documents.filter((each) => found.pages.includes(each.uuid) || found.observations.some((seen) => seen.document === each.uuid) || found.emails.some((mail) => mail.document === each.uuid));
  return html`<p class="why-value">${text(found.value) || "no value"}</p>
    <div class="notice tone-accent"><${Icon} name="info" /><div><strong>Rule: ${words(found.rule)}</strong><p>${plain(found.meaning)}</p></div></div>
    ${found.written && html`<${Notice} tone="wait" title="A person wrote this"><p>${plain(found.written.value)} in <code>${plain(found.written.file)}</code></p></${Notice}>`}
    ${found.problems.map((problem) => html`<${Notice} tone="warn" title=${plain(problem)} />`)}
    <h3>What was seen</h3><${Observations} observations=${found.observations} /><${Emails} emails=${found.emails} />
    <${Captured} documents=${documents} field=${found.field} />
    <h3>In a terminal</h3><${Command} line=${found.command} />`;
}

export function Why({ campaign, id, field }) {
  const data = useData(`${encodeURIComponent(campaign)}/why/${encodeURIComponent(id)}.json`);
  const close = () => go(changed({ why: null }), { replace: true, keepScroll: true });
  const fields = (data.file?.fields ?? []).filter((each) => each.field === field || each.observations.length || each.emails.length);
  return html`<${Dialog} kind="drawer" title=${`Why ${words(field)}`} onClose=${close}><div class="body">
    ${fields.length > 1 && html`<div class="line" role="group" aria-label="Fields">${fields.map((each) => html`<a class=${`chip ${each.field === field ? "on" : ""}`} aria-current=${each.field === field ? "true" : undefined} href=${changed({ why: each.field })}>${words(each.field)}</a>`)}</div>`}
    ${data.file ? html`<${Explained} key=${field} read=${data.file} field=${field} />` : data.problem ? html`<${Problem} problem=${data.problem} what="the reason" />` : html`<${Bones} />`}</div></${Dialog}>`;
}
