// What can be done with the rows that were picked, or with all that match.
import { api } from "../../kit/server.js";
import { html, useState } from "../../kit/dom.js";
import { Dialog } from "../../kit/parts.js";
import { Icon } from "../../kit/icon.js";
import { count, plural } from "../../kit/format.js";
import { act } from "../../kit/act.js";

const AT_ONCE = 1000;

export function Bulk({ campaign, picked, pick, search, view, total }) {
  const [tagging, setTagging] = useState(false);
  const [busy, setBusy] = useState(false);
  const place = api(campaign);
  const all = async () => pick(new Set((await search.ask("ids", { view })).ids));
  const tag = async (event) => {
    event.preventDefault();
    const form = event.target;
    const split = (text) => text.split(",").map((word) => word.trim()).filter(Boolean);
    const [add, remove] = [split(form.elements.add.value), split(form.elements.remove.value)];
    setTagging(false);
    setBusy(true);
    const hashes = [...picked];
    for (let at = 0; at < hashes.length; at += AT_ONCE) {
      const part = hashes.slice(at, at + AT_ONCE);
      if (!(await act(`Tagged ${plural(part.length, "business", "businesses")}`, "POST", `${place}/tags`, { company_hashes: part, add, remove }))) break;
    }
    setBusy(false);
  };
  const exclude = async () => {
    setBusy(true);
    for (const id of picked) if (!(await act("Excluded", "POST", `${place}/companies/${id}/exclude`, { by: null, undo: false }))) break;
    pick(new Set());
    setBusy(false);
  };
  return html`<div class="bulk" role="toolbar" aria-label="With the selection"><b>${count(picked.size)} selected</b>
      ${picked.size < total && html`<button type="button" class="button small" onClick=${all}>All ${count(total)} that match</button>`}
      <span class="spacer" /><button type="button" class="button small" disabled=${busy} onClick=${() => setTagging(true)}><${Icon} name="tag" />Tag …</button>
      <button type="button" class="button small bad" disabled=${busy || picked.size > 50} title=${picked.size > 50 ? "At most 50 at once" : null} onClick=${exclude}><${Icon} name="ban" />Exclude</button>
      <button type="button" class="button small plain" onClick=${() => pick(new Set())}>Clear</button></div>
    ${tagging && html`<${Dialog} title=${`Tag ${plural(picked.size, "business", "businesses")}`} onClose=${() => setTagging(false)}><form onSubmit=${tag}><div class="body"><label class="field"><span>Add tags</span><input name="add" type="text" placeholder="called, friendly" autofocus /></label><label class="field"><span>Remove tags</span><input name="remove" type="text" /></label></div><footer><button class="button main">Tag</button></footer></form></${Dialog}>`}`;
}
