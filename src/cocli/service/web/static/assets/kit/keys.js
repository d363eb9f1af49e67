// Keys without a mouse: `g` and a letter goes to a screen, `/` searches, `?` shows them all.
import { html, useEffect, useRef } from "./dom.js";
import { Dialog } from "./parts.js";
import { HIDDEN, VIEWS } from "./views.js";
import { address, go } from "./route.js";

const typing = (target) => target.closest?.("input, textarea, select, [contenteditable]");

export function useKeys(campaign, { openPalette, openHelp }) {
  const leader = useRef(0);
  useEffect(() => {
    const press = (event) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") { event.preventDefault(); openPalette(); return; }
      if (event.metaKey || event.ctrlKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (typing(event.target)) {
        if (event.key === "Escape") event.target.blur();
        return;
      }
      if (Date.now() - leader.current < 1500) {
        leader.current = 0;
        const found = [...VIEWS, ...HIDDEN].find((each) => each.key === event.key);
        if (found) { event.preventDefault(); go(address({ campaign: found.free ? null : campaign, view: found.view })); }
        return;
      }
      if (event.key === "g") leader.current = Date.now();
      if (event.key === "?") openHelp();
      if (event.key === "/") {
        event.preventDefault();
        const box = document.querySelector("main input[type=search]");
        if (box) { box.focus(); box.select(); } else openPalette();
      }
      if ((event.key === "j" || event.key === "k") && !event.defaultPrevented) document.querySelector("main [data-row][tabindex='0']")?.focus();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [campaign]);
}

const Keys = ({ keys, text }) => html`<div class="line even"><span>${text}</span><span class="line">${keys.map((key) => html`<kbd>${key}</kbd>`)}</span></div>`;

export const Help = ({ onClose }) => html`<${Dialog} title="Keys" onClose=${onClose}><div class="body">
  <${Keys} keys=${["⌘ K", "Ctrl K"]} text="Go anywhere" /><${Keys} keys=${["/"]} text="Search" /><${Keys} keys=${["j", "k"]} text="Next and previous row" />
  <${Keys} keys=${["Enter"]} text="Open the row" /><${Keys} keys=${["Esc"]} text="Leave a field, close" /><${Keys} keys=${["?"]} text="These keys" />
  <h3>Screens</h3>${[...HIDDEN.slice(0, 1), ...VIEWS].map((each) => html`<${Keys} keys=${["g", each.key]} text=${each.label} />`)}
</div></${Dialog}>`;
