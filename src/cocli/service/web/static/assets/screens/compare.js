// Compare: two editions of the parsers, field by field, down to the value; promote the better one.
import { html, useState } from "../kit/dom.js";
import { useData } from "../kit/data.js";
import { api, isLive, may, useAnswer } from "../kit/server.js";
import { Card, Command, Dialog, Empty, Loaded, Notice, Parts, Since } from "../kit/parts.js";
import { Icon } from "../kit/icon.js";
import { address, changed, go } from "../kit/route.js";
import { count, plain, plural, words } from "../kit/format.js";
import { act } from "../kit/act.js";

const KINDS = ["same", "changed", "gained", "lost"];

// A business leads to its page; its value to the captured page that it was read from.
function Example({ example, field, campaign }) {
  const id = example.company_hash;
  if (!id) return plain(example.what);
  const name = plain(example.what).replace(` (${id})`, "");
  return html`<a href=${address({ campaign, view: "company", id })}>${name}</a> <a class="button plain small" href=${address({ campaign, view: "company", id, why: field.field })} aria-label=${`The page behind ${words(field.field)} of ${name}`}><${Icon} name="why" />Page</a>`;
}

function Examples({ field, campaign }) {
  if (!field.examples.length) return html`<p class="dim">No example is kept.</p>`;
  return html`<table class="both"><thead><tr><th scope="col">Business</th><th scope="col">Before</th><th scope="col">After</th></tr></thead><tbody>${field.examples.map((example) => html`<tr><th scope="row"><${Example} example=${example} field=${field} campaign=${campaign} /></th><td><del>${plain(example.before) || "nothing"}</del></td><td><ins>${plain(example.after) || "nothing"}</ins></td></tr>`)}</tbody></table>`;
}

function Fields({ fields, chosen, campaign, title }) {
  return html`<div class="table" role="region" aria-label=${`Fields of ${title}`} tabindex="0"><table><thead><tr><th scope="col">Field</th>${KINDS.map((kind) => html`<th scope="col" class="num">${kind}</th>`)}<th scope="col" class="wide-only">Share</th></tr></thead><tbody>${fields.map((field) => {
    const all = KINDS.reduce((sum, kind) => sum + field[kind], 0) || 1;
    const open = chosen === field.field;
    return html`<tr key=${field.field} data-row><td><a href=${changed({ field: open ? null : field.field })} aria-expanded=${open ? "true" : "false"}>${words(field.field)}</a></td>${KINDS.map((kind) => html`<td class=${`num ${kind !== "same" && field[kind] ? "strong" : ""}`}>${count(field[kind])}</td>`)}<td class="wide-only"><span class="parts">${KINDS.map((kind) => field[kind] > 0 && html`<i class=${`tone-${{ same: "ok", changed: "warn", gained: "wait", lost: "bad" }[kind]}`} style=${{ flexGrow: field[kind] / all }} />`)}</span></td></tr>
      ${open && html`<tr><td colspan="6" class="opened"><${Examples} field=${field} campaign=${campaign} /></td></tr>`}`;
  })}</tbody></table></div>`;
}

function Side({ title, side, chosen, campaign }) {
  const parts = [{ state: "same", count: side.same }, { state: "changed", count: side.changed }, { state: "new", count: side.new }, { state: "gone", count: side.gone }];
  return html`<${Card} title=${title} flush><div class="pad"><${Parts} parts=${parts} label=${title} /></div><${Fields} title=${title.toLowerCase()} fields=${side.fields} chosen=${chosen} campaign=${campaign} />
    ${(side.examples_new.length > 0 || side.examples_gone.length > 0) && html`<div class="pad dim">${side.examples_new.length > 0 && html`<p>New: ${side.examples_new.map(plain).join(", ")}</p>`}${side.examples_gone.length > 0 && html`<p>Gone: ${side.examples_gone.map(plain).join(", ")}</p>`}</div>`}</${Card}>`;
}

function Pick({ read }) {
  const select = (name, label) => html`<label class="line"><span class="dim">${label}</span><select class="slim" onChange=${(event) => go(changed({ [name]: event.target.value }))}>${read.editions.map((edition) => html`<option value=${edition} selected=${read[name] === edition}>${edition}${edition === read.live_edition ? " (in use)" : ""}</option>`)}</select></label>`;
  return html`${select("left", "Before")}${select("right", "After")}`;
}

function Result({ campaign, read, route }) {
  const [asking, setAsking] = useState(false);
  if (read.problem) return html`<${Notice} tone="warn" title="These cannot be compared"><p>${plain(read.problem)}</p></${Notice}>`;
  if (!read.right) return html`<div class="card"><${Empty} icon="compare" title="There is one edition only"><p>When a parser changes, read the kept pages again into a second edition, and compare both here before it counts:</p><code>cocli documents replay --edition next -c ${campaign}</code></${Empty}></div>`;
  const canPromote = may("admin", campaign) && read.right !== read.live_edition;
  return html`<div class="stack"><div class="line">${isLive() && html`<${Pick} read=${read} />`}<span class="dim">${plural(read.states_read, "record")} compared${read.missing.left || read.missing.right ? `; missing: ${count(read.missing.left)} before, ${count(read.missing.right)} after` : ""}</span><span class="grow" />${canPromote && html`<button type="button" class="button main" onClick=${() => setAsking(true)}><${Icon} name="check" />Promote ${read.right}</button>`}</div>
    ${read.places && html`<${Side} title="Places" side=${read.places} campaign=${campaign} chosen=${route.get("field")} />`}${read.prospects && html`<${Side} title="Prospects" side=${read.prospects} campaign=${campaign} chosen=${route.get("field")} />`}
    ${read.promote_command && html`<${Command} line=${read.promote_command} />`}
    ${asking && html`<${Dialog} title=${`Promote ${read.right}?`} onClose=${() => setAsking(false)} footer=${html`<button type="button" class="button" onClick=${() => setAsking(false)}>Cancel</button><button type="button" class="button main" onClick=${() => { setAsking(false); act(`Promoted ${read.right}`, "POST", api(campaign, "promote"), { edition: read.right }); }}>Promote</button>`}><div class="body"><p>From then on its values count. ${read.live_edition} stays and can be promoted again.</p></div></${Dialog}>`}</div>`;
}

function Asked({ campaign, route }) {
  const answer = useAnswer(`api/${encodeURIComponent(campaign)}/compare?left=${encodeURIComponent(route.get("left") ?? "")}&right=${encodeURIComponent(route.get("right") ?? "")}`);
  return html`<${Loaded} data=${answer} what="the comparison">${(read) => html`<${Result} campaign=${campaign} read=${read} route=${route} />`}</${Loaded}>`;
}

export function Screen({ campaign, file, route }) {
  const other = isLive() && route.get("left") && route.get("right");
  const data = useData(other ? null : file);
  return html`<header><h1>Compare</h1>${data.file && html`<span class="dim">counted <${Since} time=${data.file.at} /></span>`}</header>
    ${other ? html`<${Asked} campaign=${campaign} route=${route} />` : html`<${Loaded} data=${data} what="the comparison">${(read) => html`<${Result} campaign=${campaign} read=${read} route=${route} />`}</${Loaded}>`}`;
}
