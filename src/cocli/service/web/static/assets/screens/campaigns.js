// Campaigns: a card each, worst news on top of it.
import { html } from "../kit/dom.js";
import { useData } from "../kit/data.js";
import { isLive } from "../kit/server.js";
import { Empty, Loaded, Meter, Since, State } from "../kit/parts.js";
import { Icon } from "../kit/icon.js";
import { address } from "../kit/route.js";
import { count, percent, plain } from "../kit/format.js";

function Campaign({ campaign }) {
  const { name, unreadable } = campaign;
  if (unreadable) return html`<li class="card campaign"><div class="body"><h2>${plain(name)}</h2><${State} is="failed" word="cannot be read" /><p class="dim">${plain(unreadable)}</p></div></li>`;
  const share = campaign.readings ? campaign.read / campaign.readings : null;
  return html`<li class="card campaign"><div class="body">
    <div class="line even"><h2><a class="cover" href=${address({ campaign: name, view: "dashboard" })}>${plain(name)}</a></h2>${campaign.problems ? html`<span class="badge bad">${campaign.problems === 1 ? "1 problem" : `${campaign.problems} problems`}</span>` : html`<span class="badge ok">all well</span>`}</div>
    ${campaign.company && html`<p class="dim">${plain(campaign.company)}</p>`}
    <div class="figures slim"><div class="figure"><b>${count(campaign.prospects)}</b><span>prospects</span></div><div class="figure"><b>${count(campaign.emails)}</b><span>e-mail addresses</span></div><div class="figure"><b>${percent(share)}</b><span>of the searches read</span></div></div>
    <${Meter} share=${share} tone="ok" label=${`${percent(share)} of the searches are read`} />
    ${campaign.worst && html`<p class="worst"><${Icon} name="alert" />${plain(campaign.worst)}</p>`}
    <p class="dim">${campaign.reported_at ? html`Counted <${Since} time=${campaign.reported_at} />` : "No report yet"}</p>
  </div></li>`;
}

export function Screen({ file }) {
  const data = useData(file);
  return html`<header><h1>Campaigns</h1><span class="spacer" />${isLive() && html`<a class="button" href="?view=run"><${Icon} name="plus" />New run</a>`}</header>
    <${Loaded} data=${data} what="the campaigns">${(read) => read.campaigns.length ? html`<ul class="cards">${read.campaigns.map((campaign) => html`<${Campaign} key=${campaign.name} campaign=${campaign} />`)}</ul>` : html`<div class="card"><${Empty} icon="campaigns" title="No campaign yet"><p>A campaign is a kind of business and a territory. Start one with a list or an area, or in a terminal:</p><code>cocli campaign init</code></${Empty}></div>`}</${Loaded}>`;
}
