// Notes and meetings of a company: Markdown files, shown as the text that they are.
import { readAgain } from "../../kit/data.js";
import { api, send } from "../../kit/server.js";
import { html, useState } from "../../kit/dom.js";
import { Card, Notice, tell } from "../../kit/parts.js";
import { Icon } from "../../kit/icon.js";
import { onDay, plain } from "../../kit/format.js";
import { act, undoWith } from "../../kit/act.js";

// Who was overtaken sees both texts, and chooses.
function NoteConflict({ conflict, keepMine, takeTheirs }) {
  return html`<${Notice} tone="warn" live title="Somebody else changed this note in the meantime"><p>Nothing of yours was written yet.</p>
    <table class="both"><thead><tr><th scope="col">Theirs, stored now</th><th scope="col">Yours</th></tr></thead><tbody><tr><td><pre>${plain(conflict.theirs.text)}</pre></td><td><pre>${plain(conflict.text)}</pre></td></tr></tbody></table>
    <div class="line"><button type="button" class="button main" onClick=${keepMine}>Write mine over it</button><button type="button" class="button" onClick=${takeTheirs}>Keep theirs</button></div></${Notice}>`;
}

function useNote(place, title) {
  const [conflict, setConflict] = useState(null);
  const write = async (text, etag) => {
    try {
      const answer = await send("PUT", place, { text }, { "If-Match": etag });
      tell({ title, command: answer.command, undo: undoWith(answer) });
      setConflict(null);
      readAgain();
      return true;
    } catch (problem) {
      if (problem.status === 412) setConflict({ text, theirs: problem.whole.theirs });
      else tell({ tone: "bad", title: `${title}: refused`, text: [problem.message, problem.hint].filter(Boolean).join(" ") });
      return false;
    }
  };
  return { conflict, write, forget: () => { setConflict(null); readAgain(); } };
}

function Note({ note, path, allowed }) {
  const [editing, setEditing] = useState(false);
  const place = `${path}/notes/${encodeURIComponent(note.name)}`;
  const { conflict, write, forget } = useNote(place, `Wrote the note ${note.title}`);
  const save = async (event) => { event.preventDefault(); if (await write(event.target.elements.text.value, note.etag)) setEditing(false); };
  const keepMine = async () => { if (await write(conflict.text, conflict.theirs.etag)) setEditing(false); };
  const takeTheirs = () => { forget(); setEditing(false); };
  return html`<li class="note"><div class="line"><b>${plain(note.title)}</b><span class="dim">${onDay(note.date)}</span>${note.tags.map((tag) => html`<span class="badge">${plain(tag)}</span>`)}<span class="spacer" />${allowed && !editing && html`<button type="button" class="button plain small icon" aria-label=${`Edit the note ${plain(note.title)}`} onClick=${() => setEditing(true)}><${Icon} name="edit" /></button><button type="button" class="button plain small icon" aria-label=${`Delete the note ${plain(note.title)}`} onClick=${() => act(`Deleted the note ${note.title}`, "DELETE", place, undefined, { "If-Match": note.etag })}><${Icon} name="close" /></button>`}</div>
    ${note.problem && html`<p class="dim">${plain(note.problem)}</p>`}
    ${conflict && html`<${NoteConflict} conflict=${conflict} keepMine=${keepMine} takeTheirs=${takeTheirs} />`}
    ${editing ? html`<form class="stack tight" onSubmit=${save}><textarea name="text" aria-label="Text of the note" rows="4" autofocus>${note.text}</textarea><div class="line"><button class="button main">Save</button><button type="button" class="button plain" onClick=${() => setEditing(false)}>Cancel</button></div></form>` : html`<div class="prose">${plain(note.text)}</div>`}</li>`;
}

export function Notes({ campaign, company, allowed }) {
  const path = api(campaign, "companies", company.company_hash);
  const add = async (event) => {
    event.preventDefault();
    const form = event.target;
    if (await act("Wrote a note", "POST", `${path}/notes`, { text: form.elements.text.value, title: form.elements.title.value || null, tags: [] })) form.reset();
  };
  return html`<${Card} title="Notes"><div class="stack">${company.notes.length > 0 ? html`<ul class="stack">${company.notes.map((note) => html`<${Note} key=${`${note.name} ${note.etag}`} note=${note} path=${path} allowed=${allowed} />`)}</ul>` : html`<p class="dim">No note yet.</p>`}
    ${allowed && html`<form class="stack tight" onSubmit=${add}><input type="text" name="title" aria-label="Title of the note" placeholder="Title (may be empty)" maxlength="120" /><textarea name="text" aria-label="New note" placeholder="Write a note" rows="2" required /><div><button class="button">Add the note</button></div></form>`}</div></${Card}>`;
}

export function Meetings({ meetings }) {
  if (!meetings.length) return null;
  return html`<${Card} title="Meetings"><ul class="stack">${meetings.map((meeting) => html`<li class="note"><div class="line"><b>${plain(meeting.title)}</b><span class="dim">${plain(meeting.date)}${meeting.place ? `, ${plain(meeting.place)}` : ""}</span></div>${meeting.attendees.length > 0 && html`<p class="dim">with ${meeting.attendees.map(plain).join(", ")}</p>`}<div class="prose">${plain(meeting.text)}</div></li>`)}</ul></${Card}>`;
}
