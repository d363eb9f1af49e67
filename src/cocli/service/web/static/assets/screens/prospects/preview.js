// One prospect beside the list, from what the search already has: no request.
import { html, useEffect, useState } from "../../kit/dom.js";
import { api, may } from "../../kit/server.js";
import { Bones, Empty } from "../../kit/parts.js";
import { Icon } from "../../kit/icon.js";
import { address } from "../../kit/route.js";
import { atMoment, count, plain, tenth, words } from "../../kit/format.js";
import { act } from "../../kit/act.js";

const listOf = (value) => (Array.isArray(value) ? value : value ? String(value).split("\u001f") : []);
const Line = ({ icon, children }) => html`<li><${Icon} name=${icon} /><span>${children}</span></li>`;

function Facts({ row }) {
  const mails = [row.email, ...listOf(row.emails)].filter(Boolean);
  const place = [row.street, [row.postcode, row.city].filter(Boolean).join(" "), row.region, row.country].filter(Boolean).map(plain).join(", ");
  return html`<ul class="preview-facts">
    ${mails.map((mail) => html`<${Line} icon="mail"><a href=${`mailto:${encodeURIComponent(mail)}`}>${plain(mail)}</a></${Line}>`)}
    ${row.phone && html`<${Line} icon="phone"><a href=${`tel:${row.phone.replace(/[^+\d]/g, "")}`}>${plain(row.phone)}</a></${Line}>`}
    ${row.website && html`<${Line} icon="globe">${/^https?:/i.test(row.website) ? html`<a href=${row.website} target="_blank" rel="noopener noreferrer nofollow">${plain(row.domain || row.website)}</a>` : plain(row.website)}</${Line}>`}
    ${place && html`<${Line} icon="pin">${place}</${Line}>`}
    ${row.rating && html`<${Line} icon="star">${tenth(Number(row.rating))} from ${count(Number(row.reviews) || 0)} reviews</${Line}>`}
    ${row.updated && html`<${Line} icon="clock">updated ${atMoment(row.updated)}</${Line}>`}
  </ul><div class="line">${[...listOf(row.categories).map(words), ...listOf(row.sources)].map((text) => html`<span class="badge">${plain(text)}</span>`)}${listOf(row.tags).map((tag) => html`<span class="badge wait">${plain(tag)}</span>`)}</div>`;
}

export function Preview({ search, view, campaign, id, onClose }) {
  const [row, setRow] = useState(undefined);
  useEffect(() => {
    let stays = true;
    search.ask("search", { view: { q: id }, offset: 0, limit: 5, facets: [] }).then((found) => stays && setRow(found.rows.find((each) => each.id === id) ?? null), () => stays && setRow(null));
    return () => { stays = false; };
  }, [id]);
  const exclude = () => act(`Excluded ${row.name}`, "POST", api(campaign, "companies", id, "exclude"), { by: null, undo: false });
  return html`<aside class="card preview" aria-label="Preview"><header><h2 class="clip">${row ? plain(row.name) : "Preview"}</h2><span class="spacer" /><button type="button" class="button plain small icon" aria-label="Close the preview" onClick=${onClose}><${Icon} name="close" /></button></header>
    <div class="body stack">${row === undefined ? html`<${Bones} lines=${4} />` : row === null ? html`<${Empty} title="Not in this list any more" />` : html`<${Facts} row=${row} />
      <div class="line"><a class="button main" href=${address({ campaign, view: "company", id })}>Open</a><a class="button" href=${address({ campaign, view: "company", id, why: "primary_email" })}><${Icon} name="why" />Why</a>${may("editor", campaign) && html`<button type="button" class="button bad" onClick=${exclude}><${Icon} name="ban" />Exclude</button>`}</div>`}</div></aside>`;
}
