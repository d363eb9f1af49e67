// Company: what is known, who says so, what people wrote. Edited in place; nobody's change is lost.
import { html } from "../kit/dom.js";
import { useData } from "../kit/data.js";
import { api, isLive, may } from "../kit/server.js";
import { Card, Command, Empty, Loaded, Notice } from "../kit/parts.js";
import { Icon } from "../kit/icon.js";
import { address, changed } from "../kit/route.js";
import { atMoment, plain, safeLink, words } from "../kit/format.js";
import { act } from "../kit/act.js";
import { Conflict, useEdits } from "./company/edits.js";
import { Merged } from "./company/merged.js";
import { Meetings, Notes } from "./company/notes.js";
import { Written } from "./company/written.js";
import { Why } from "./company/why.js";

function Value({ fact }) {
  const text = plain(fact.text ?? fact.value);
  const link = safeLink(fact.link);
  if (!link) return text;
  const outside = /^https?:/i.test(link) ? { target: "_blank", rel: "noopener noreferrer nofollow" } : {};
  return html`<a href=${link} ...${outside}>${text}</a>`;
}

function Facts({ facts }) {
  if (!facts.length) return html`<${Empty} title="Nothing is known yet" />`;
  return html`<dl class="facts">${facts.map((fact) => html`<div key=${fact.field}><dt>${words(fact.label ?? fact.field)}</dt><dd><span class="fact-value"><${Value} fact=${fact} /></span>
    ${fact.written !== null && fact.written !== undefined && html`<span class="badge wait" title="A person wrote this; it is shown before what was found">written: ${plain(fact.written)}</span>`}
    <span class="fact-source">${fact.source && html`<span class="badge" title=${fact.observed_at ? `seen ${atMoment(fact.observed_at)}` : null}>${plain(fact.source)}</span>`}${fact.why && html`<a class="button plain small icon" href=${changed({ why: fact.field })} aria-label=${`Why ${words(fact.label ?? fact.field)}`} title="Why this value"><${Icon} name="why" /></a>`}</span></dd></div>`)}</dl>`;
}

function People({ people }) {
  if (!people.length) return html`<p class="dim">Nobody is known by name.</p>`;
  return html`<ul class="people">${people.map((person) => html`<li><span class="face" aria-hidden="true">${plain(person.name).slice(0, 1).toUpperCase()}</span><span><b>${plain(person.name)}</b>${person.role && html` <span class="dim">${plain(person.role)}</span>`}<br />${[person.email, person.phone].filter(Boolean).map((text) => html`<span class="dim">${plain(text)} </span>`)}</span><span class="badge">${plain(person.told_by)}</span></li>`)}</ul>`;
}

function Timeline({ events }) {
  const tones = { "first-seen": "wait", observed: "ok", visited: "ok", merged: "cut", note: "accent", meeting: "accent", page: "accent" };
  return html`<ol class="timeline">${events.slice(0, 100).map((event) => html`<li class=${`tone-${tones[event.kind] ?? "none"}`}><span>${plain(event.text)}</span><small>${atMoment(event.at)}</small></li>`)}</ol>`;
}

function Tags({ company, edit, allowed }) {
  const add = (event) => { event.preventDefault(); const name = event.target.elements.tag.value.trim(); event.target.reset(); if (name) edit({ add_tags: [name] }, `Tagged ${name}`); };
  return html`<div class="line">${company.tags.map((tag) => html`<span class="chip">${plain(tag)}${allowed && html`<button type="button" class="bare" aria-label=${`Remove the tag ${plain(tag)}`} onClick=${() => edit({ remove_tags: [tag] }, `Removed the tag ${tag}`)}><${Icon} name="close" size=${12} /></button>`}</span>`)}${!company.tags.length && html`<span class="dim">None</span>`}</div>
    ${allowed && html`<form class="line" onSubmit=${add}><input type="text" name="tag" class="grow" aria-label="New tag" placeholder="Add a tag" maxlength="60" /><button class="button">Add</button></form>`}`;
}

function Exclusion({ campaign, company }) {
  const path = api(campaign, "companies", company.company_hash, "exclude");
  if (company.excluded) return html`<button type="button" class="button" onClick=${() => act("Taken back in", "POST", path, { by: null, undo: true })}><${Icon} name="undo" />Take back in</button>`;
  return html`<button type="button" class="button bad" onClick=${() => act(`Excluded ${company.name}`, "POST", path, { by: null, undo: false })}><${Icon} name="ban" />Exclude</button>`;
}

function Page({ campaign, read, route }) {
  const id = route.get("id");
  const stored = read.companies.find((each) => each.company_hash === id);
  const { company, edit, conflict, keepMine, takeTheirs } = useEdits(campaign, stored);
  if (!company) return html`<div class="card"><${Empty} icon="prospects" title="This business is not here"><p>It may have been merged into another, or excluded. <a href=${address({ campaign, view: "prospects" })}>Look at all prospects.</a></p></${Empty}></div>`;
  const allowed = isLive() && may("editor", campaign);
  return html`<header><a class="button plain icon" href=${address({ campaign, view: "prospects" })} aria-label="All prospects"><${Icon} name="left" /></a><h1>${plain(company.written.name ?? company.name)}</h1>${company.written.status && html`<span class="badge wait">${plain(company.written.status)}</span>`}${company.excluded && html`<span class="badge bad">excluded by ${plain(company.excluded)}</span>`}<span class="spacer" />${allowed && html`<${Exclusion} campaign=${campaign} company=${company} />`}</header>
    ${company.problem && html`<${Notice} tone="warn" title="Its page cannot be read"><p>${plain(company.problem)}</p></${Notice}>`}
    ${conflict && html`<${Conflict} conflict=${conflict} keepMine=${keepMine} takeTheirs=${takeTheirs} />`}
    <div class="grid"><div class="most stack">
        <${Card} title="Facts" small="each with who says so"><${Facts} facts=${company.facts} /></${Card}>
        <${Card} title="People"><${People} people=${company.people} /></${Card}>
        <${Notes} campaign=${campaign} company=${company} allowed=${allowed} />
        <${Meetings} meetings=${company.meetings} />
        <${Merged} campaign=${campaign} company=${company} allowed=${allowed} />
      </div><div class="third stack">
        <${Written} company=${company} edit=${edit} allowed=${allowed} />
        <${Card} title="Tags"><div class="stack tight"><${Tags} company=${company} edit=${edit} allowed=${allowed} /></div></${Card}>
        <${Card} title="Timeline"><${Timeline} events=${company.timeline} /></${Card}>
        <${Card} title="In a terminal"><${Command} line=${company.command} /></${Card}>
      </div></div>
    ${route.get("why") && html`<${Why} campaign=${campaign} id=${id} field=${route.get("why")} />`}`;
}

export function Screen({ campaign, file, route }) {
  const data = useData(file);
  return html`<${Loaded} data=${data} what="this business">${(read) => html`<${Page} key=${route.get("id")} campaign=${campaign} read=${read} route=${route} />`}</${Loaded}>`;
}
