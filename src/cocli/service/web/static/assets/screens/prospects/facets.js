// Facets: what the rows that match are made of, with counts. A click narrows, a second click widens.
import { html, useState } from "../../kit/dom.js";
import { changed } from "../../kit/route.js";
import { Icon } from "../../kit/icon.js";
import { count, plain, words } from "../../kit/format.js";

const NAMES = { city: "Town", region: "Region", country: "Country", category: "Kind", tag: "Tag", status: "Status", source: "Source" };
const HAVE = [["email", "E-mail"], ["phone", "Phone"], ["website", "Website"]];
const FEW = 7;

function Facet({ name, values, chosen }) {
  const [open, setOpen] = useState(false);
  const missing = chosen.filter((value) => !values.some(([each]) => each === value)).map((value) => [value, 0]);
  const all = [...missing, ...values];
  if (all.length < 2 && !chosen.length) return null;
  const shown = open ? all.slice(0, 60) : all.slice(0, FEW);
  return html`<fieldset><legend>${NAMES[name] ?? words(name)}</legend><ul>${shown.map(([value, many]) => {
    const on = chosen.includes(value);
    return html`<li key=${value}><a class=${on ? "on" : ""} aria-current=${on ? "true" : undefined} href=${changed({ [name]: on ? chosen.filter((each) => each !== value) : [...chosen, value], sel: null })}><i class="tick" aria-hidden="true">${on && html`<${Icon} name="check" size=${12} />`}</i><span class="clip">${name === "category" ? words(value) : plain(value)}</span><b>${count(many)}</b></a></li>`;
  })}</ul>${all.length > FEW && html`<button type="button" class="link dim" onClick=${() => setOpen(!open)}>${open ? "Fewer" : `${count(all.length - FEW)} more`}</button>`}</fieldset>`;
}

function Have({ view }) {
  const to = (name, how) => changed({ has: how === "has" ? [...view.has.filter((each) => each !== name), name] : view.has.filter((each) => each !== name), lacks: how === "lacks" ? [...view.lacks.filter((each) => each !== name), name] : view.lacks.filter((each) => each !== name), sel: null });
  return html`<fieldset><legend>Has</legend><ul class="haves">${HAVE.map(([name, label]) => {
    const is = view.has.includes(name) ? "has" : view.lacks.includes(name) ? "lacks" : "any";
    return html`<li key=${name}><span>${label}</span><span class="joined">${[["any", "any"], ["has", "yes"], ["lacks", "no"]].map(([how, word]) => html`<a class="button small" role="button" aria-pressed=${is === how ? "true" : "false"} aria-label=${`${label}: ${word}`} href=${to(name, how)}>${word}</a>`)}</span></li>`;
  })}</ul></fieldset>`;
}

export function Facets({ answer, view }) {
  const [open, setOpen] = useState(false);
  const facets = answer?.facets ?? {};
  return html`<aside class=${`facets ${open ? "open" : ""}`} aria-label="Filters" aria-busy=${answer?.counting ? "true" : undefined}><button type="button" class="button facets-toggle" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>Filters<${Icon} name=${open ? "up" : "down"} size=${12} /></button>
    <div class="facets-body"><${Have} view=${view} />${Object.entries(facets).map(([name, values]) => html`<${Facet} key=${name} name=${name} values=${values} chosen=${view[name] ?? []} />`)}</div></aside>`;
}
