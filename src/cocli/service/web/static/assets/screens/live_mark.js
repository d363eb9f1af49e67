// Whether the screen follows what happens, and a button that holds it still.
import { html } from "../kit/dom.js";
import { isLive, paused } from "../kit/server.js";
import { Icon } from "../kit/icon.js";

export function LiveMark() {
  const still = paused.use();
  if (!isLive()) return html`<span class="badge">published copy</span>`;
  return html`<button type="button" class="button small" aria-pressed=${still ? "true" : "false"} onClick=${() => paused.write(!still)}><${Icon} name=${still ? "run" : "pause"} />${still ? "Held still" : html`<i class="pulse" aria-hidden="true" />Live`}</button>`;
}
