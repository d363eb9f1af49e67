// Edits of one company. The etag of its file goes with each; who was overtaken sees both versions.
import { html, useEffect, useState } from "../../kit/dom.js";
import { undoWith } from "../../kit/act.js";
import { api, send } from "../../kit/server.js";
import { Notice, tell } from "../../kit/parts.js";
import { plain, words } from "../../kit/format.js";

export function useEdits(campaign, stored) {
  const [fresh, setFresh] = useState(null);
  const [conflict, setConflict] = useState(null);
  useEffect(() => setFresh(null), [stored]);
  const company = fresh ?? stored;
  const patch = async (change, title, etag) => {
    try {
      const path = api(campaign, "companies", company.company_hash);
      const answer = await send("PATCH", path, change, { "If-Match": etag ?? "*" });
      setFresh(answer.company);
      setConflict(null);
      tell({ title, command: answer.command, undo: undoWith(answer) });
      return true;
    } catch (problem) {
      if (problem.status === 412) setConflict({ change, title, theirs: problem.whole.theirs, yours: problem.whole.yours ?? change });
      else tell({ tone: "bad", title: `${title}: refused`, text: [problem.message, problem.hint].filter(Boolean).join(" ") });
      return false;
    }
  };
  const edit = (change, title) => patch(change, title, company.etag);
  const keepMine = () => patch(conflict.change, conflict.title, conflict.theirs.etag);
  const takeTheirs = () => { setFresh(conflict.theirs); setConflict(null); };
  return { company, edit, conflict, keepMine, takeTheirs };
}

const shown = (value) => (value === null || value === undefined || value === "" ? "nothing" : plain(Array.isArray(value) ? value.join(", ") : value));

// What was to be changed, as the other has it and as you wrote it.
function pairs({ change, theirs }) {
  const rows = Object.entries(change.set ?? {}).map(([name, mine]) => ({ name, mine, other: theirs.written[name] }));
  if (change.body !== undefined) rows.push({ name: "text", mine: change.body, other: theirs.body });
  if (change.add_tags?.length || change.remove_tags?.length) rows.push({ name: "tags", mine: [...theirs.tags.filter((tag) => !change.remove_tags?.includes(tag)), ...(change.add_tags ?? [])], other: theirs.tags });
  return rows;
}

export function Conflict({ conflict, keepMine, takeTheirs }) {
  return html`<div class="conflict"><${Notice} tone="warn" live title="Somebody else changed this in the meantime">
    <p>Nothing of yours was written yet. This is what differs:</p>
    <table class="both"><thead><tr><th scope="col">Field</th><th scope="col">Theirs, stored now</th><th scope="col">Yours</th></tr></thead><tbody>${pairs(conflict).map((row) => html`<tr><th scope="row">${words(row.name)}</th><td><pre>${shown(row.other)}</pre></td><td><pre>${shown(row.mine)}</pre></td></tr>`)}</tbody></table>
    <div class="line"><button type="button" class="button main" onClick=${keepMine}>Write mine over it</button><button type="button" class="button" onClick=${takeTheirs}>Keep theirs</button></div>
  </${Notice}></div>`;
}
