// Time travel: the day is in the address. Only the server knows earlier days; a published copy has one.
import { html } from "./dom.js";
import { api, isLive, site } from "./server.js";
import { Notice } from "./parts.js";
import { changed, go } from "./route.js";
import { atMoment, onDay } from "./format.js";

export const dayOf = (route) => (isLive() ? route.get("as_of") : null);

// Where the server answers for a day; null for now.
export const pastPath = (day, campaign, ...parts) => (day ? `${api(campaign, ...parts)}?as_of=${encodeURIComponent(day)}` : null);

export function AsOf({ day }) {
  if (!isLive()) return html`<span class="dim as-of" title="Earlier days need the server.">as of ${onDay(site.read().at)}</span>`;
  return html`<label class="line as-of"><span class="dim">As of</span><input type="date" value=${(day ?? "").slice(0, 10)} max=${new Date().toISOString().slice(0, 10)} onChange=${(event) => go(changed({ as_of: event.target.value || null, sel: null }))} /></label>${day && html`<a class="button main" href=${changed({ as_of: null })}>Back to now</a>`}`;
}

const isDay = (text) => /^\d{4}-\d\d-\d\d$/.test(text);

export const PastNotice = ({ day, children }) => html`<div class="past"><${Notice} title=${isDay(day) ? `As it was at the end of ${onDay(day)}` : `As it was at ${atMoment(day)}`}><p>${children}</p></${Notice}></div>`;
