// What a person wrote of a company: it is shown before what was found.
import { html, useState } from "../../kit/dom.js";
import { Card } from "../../kit/parts.js";
import { Icon } from "../../kit/icon.js";
import { plain, words } from "../../kit/format.js";

const FIELDS = ["name", "status", "email", "phone", "website"];

function Form({ company, edit, onClose }) {
  const submit = async (event) => {
    event.preventDefault();
    const { elements } = event.target;
    const set = {};
    for (const name of FIELDS) if (elements[name].value !== (company.written[name] ?? "")) set[name] = elements[name].value || null;
    const change = { ...(Object.keys(set).length && { set }), ...(elements.body.value !== company.body && { body: elements.body.value }) };
    if (Object.keys(change).length) await edit(change, `Wrote ${company.name}`);
    onClose();
  };
  return html`<form class="stack tight" onSubmit=${submit}>${FIELDS.map((name, at) => html`<label class="field"><span>${words(name)}</span><input type="text" name=${name} value=${company.written[name] ?? ""} autofocus=${at === 0} /></label>`)}
    <label class="field"><span>text</span><textarea name="body" rows="5" value=${company.body} /></label>
    <div class="line"><button class="button main">Save</button><button type="button" class="button plain" onClick=${onClose}>Cancel</button></div></form>`;
}

export function Written({ company, edit, allowed }) {
  const [editing, setEditing] = useState(false);
  const filled = FIELDS.filter((name) => company.written[name] !== null && company.written[name] !== undefined);
  const button = allowed && !editing && html`<button type="button" class="button small" onClick=${() => setEditing(true)}><${Icon} name="edit" />Edit</button>`;
  return html`<${Card} title="Written by people" actions=${button}>${editing ? html`<${Form} company=${company} edit=${edit} onClose=${() => setEditing(false)} />` : html`<div class="stack tight">
    ${filled.length > 0 && html`<dl class="facts narrow">${filled.map((name) => html`<div><dt>${words(name)}</dt><dd>${plain(company.written[name])}</dd></div>`)}</dl>`}
    ${company.body.trim() && html`<div class="prose">${plain(company.body)}</div>`}${!filled.length && !company.body.trim() && html`<p class="dim">Nothing yet.</p>`}</div>`}</${Card}>`;
}
