// ⌘K: screens, campaigns, and a search of the prospects, by typing.
import { html, useState } from "./dom.js";
import { Dialog } from "./parts.js";
import { Icon } from "./icon.js";
import { VIEWS } from "./views.js";
import { address, go } from "./route.js";

function choices(text, campaign, site) {
  const all = [];
  const typed = text.trim().toLowerCase();
  if (campaign) all.push(...VIEWS.filter((each) => !each.live || site.live).map((each) => ({ id: each.view, icon: each.icon, label: each.label, small: `g ${each.key}`, to: address({ campaign, view: each.view }) })));
  all.push({ id: "all", icon: "campaigns", label: "All campaigns", small: "g h", to: "?" });
  all.push(...site.campaigns.filter((name) => name !== campaign).slice(0, 200).map((name) => ({ id: `c-${name}`, icon: "campaigns", label: name, small: "campaign", to: address({ campaign: name, view: "dashboard" }) })));
  const found = all.filter((each) => each.label.toLowerCase().includes(typed)).slice(0, 50);
  if (typed && campaign) found.push({ id: "search", icon: "search", label: `Search prospects for “${text.trim()}”`, small: "", to: address({ campaign, view: "prospects", q: text.trim() }) });
  return found;
}

export function Palette({ campaign, site, onClose }) {
  const [text, type] = useState("");
  const [at, point] = useState(0);
  const found = choices(text, campaign, site);
  const chosen = Math.min(at, found.length - 1);
  const take = (choice) => { onClose(); if (choice) go(choice.to); };
  const press = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); point((chosen + step + found.length) % found.length); }
    if (event.key === "Enter") { event.preventDefault(); take(found[chosen]); }
  };
  return html`<${Dialog} kind="palette" label="Go anywhere" onClose=${onClose}>
    <input type="text" autofocus role="combobox" aria-expanded="true" aria-controls="choices" aria-label="Go to" aria-activedescendant=${found[chosen] && `choice-${found[chosen].id}`} placeholder="Screen, campaign, or a name …" value=${text} onInput=${(event) => { type(event.target.value); point(0); }} onKeyDown=${press} />
    <ul id="choices" role="listbox" aria-label="Choices">${found.map((choice, index) => html`<li id=${`choice-${choice.id}`} role="option" aria-selected=${index === chosen ? "true" : "false"} onClick=${() => take(choice)} onMouseMove=${() => point(index)}><${Icon} name=${choice.icon} />${choice.label}<small>${choice.small}</small></li>`)}</ul>
  </${Dialog}>`;
}
