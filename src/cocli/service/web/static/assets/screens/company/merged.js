// Records that were seen as one business, and one of them made a business of its own again.
import { html, useState } from "../../kit/dom.js";
import { api, useAnswer } from "../../kit/server.js";
import { Bones, Card, Command, Dialog, Empty, Notice, Problem } from "../../kit/parts.js";
import { Icon } from "../../kit/icon.js";
import { onDay, plain } from "../../kit/format.js";
import { act } from "../../kit/act.js";

function Part({ part, chosen, choose }) {
  const known = [part.address, part.website, part.phone].filter(Boolean).map(plain).join(" · ");
  return html`<li><label class="pick"><input type="radio" name="part" checked=${chosen} onChange=${choose} /><span><b>${plain(part.name)}</b>${known && html`<br /><span class="dim">${known}</span>`}${part.reason && html`<br /><small class="dim">merged because ${plain(part.reason)}</small>`}</span></label></li>`;
}

function Split({ campaign, company, first, onClose }) {
  const path = api(campaign, "companies", company.company_hash);
  const answer = useAnswer(`${path}/parts`);
  const [named, choose] = useState(first);
  const [busy, setBusy] = useState(false);
  const parts = answer.file?.parts ?? [];
  const chosen = parts.find((part) => part.company_hash === named) ?? (parts.length === 1 ? parts[0] : null);
  const split = async () => {
    setBusy(true);
    const done = await act(`${chosen.name} is a business of its own`, "POST", `${path}/split`, { part: chosen.company_hash });
    setBusy(false);
    if (done) onClose();
  };
  const footer = html`<button type="button" class="button" onClick=${onClose}>Cancel</button><button type="button" class="button main" disabled=${!chosen || busy} onClick=${split}>${busy ? "Splitting …" : "Split"}</button>`;
  return html`<${Dialog} title="Which of these is another business?" onClose=${onClose} footer=${footer}><div class="body stack">
    ${answer.problem ? html`<${Problem} problem=${answer.problem} what="its parts" />` : !answer.file ? html`<${Bones} lines=${3} />` : parts.length ? html`<ul class="stack tight">${parts.map((part) => html`<${Part} key=${part.company_hash} part=${part} chosen=${part === chosen} choose=${() => choose(part.company_hash)} />`)}</ul>` : html`<${Empty} title="Nothing else was merged into it" />`}
    ${(answer.file?.problems ?? []).map((problem) => html`<${Notice} tone="warn" title=${plain(problem)} />`)}
    ${parts.length > 0 && html`<${Notice} tone="warn" title="This cannot be undone"><p>They stay apart from then on, whatever is seen of them: that is kept as what a person said.</p></${Notice}>`}
    ${chosen && html`<${Command} line=${`cocli company split ${company.company_hash} ${chosen.company_hash} -c ${campaign} --yes`} />`}</div></${Dialog}>`;
}

export function Merged({ campaign, company, allowed }) {
  const [asking, setAsking] = useState(null);
  if (!company.merged.length && !allowed) return null;
  const button = (first, label) => html`<button type="button" class="button small" aria-label=${label} onClick=${() => setAsking({ first })}><${Icon} name="split" />Split</button>`;
  return html`<${Card} title="Merged records" small="seen as one business" actions=${allowed && !company.merged.length && html`<button type="button" class="button small" onClick=${() => setAsking({ first: null })}>Look for parts</button>`}>
    ${company.merged.length ? html`<ul class="stack">${company.merged.map((record) => html`<li class="stack tight"><div class="line"><b>${plain(record.name)}</b> ${record.sources.map((source) => html`<span class="badge">${plain(source)}</span> `)}<span class="dim">first seen ${onDay(record.first_seen)}</span><span class="grow" />${allowed && button(record.company_hash, `Split off ${plain(record.name)}`)}</div>${!allowed && record.split_command && html`<${Command} line=${record.split_command} />`}</li>`)}</ul>` : html`<p class="dim">None is known by itself.</p>`}
    ${asking && html`<${Split} campaign=${campaign} company=${company} first=${asking.first} onClose=${() => setAsking(null)} />`}</${Card}>`;
}
