// The map: by WebGL where there is one, else as SVG. Both take the same things.
import { html, useEffect, useState } from "../../kit/dom.js";
import { Bones } from "../../kit/parts.js";
import { here } from "../../kit/route.js";
import { plain } from "../../kit/format.js";
import { useBase } from "./base.js";
import { SvgMap } from "./svg_map.js";

function hasGl() {
  try { return Boolean(document.createElement("canvas").getContext("webgl2")); } catch { return false; }
}

// `tiles`, `shapes`, `points`: features. `onTile(id)`, `onPoint(id)`, `onPlace([lon, lat])`: what was clicked.
export function GeoMap(props) {
  const base = useBase(props.campaign);
  const ready = !props.campaign || !base.loading;
  const [Made, setMade] = useState(null);
  const [ground, setGround] = useState(null);
  const credits = ground?.credits ?? base.file?.credits;
  useEffect(() => {
    let stays = true;
    const svg = () => stays && setMade(() => SvgMap);
    if (here().get("map") === "svg" || !hasGl()) svg();
    else import("./gl_map.js").then((module) => stays && setMade(() => module.GlMap), svg);
    return () => { stays = false; };
  }, []);
  return html`<div class="map-box">${Made && ready ? html`<${Made} ...${props} base=${base.file} onGround=${setGround} onBroken=${() => { setGround(null); setMade(() => SvgMap); }} />${ground?.problem && html`<small class="map-problem" role="status">${plain(ground.problem)}</small>`}${credits && html`<small class="credits">${plain(credits)}</small>`}` : html`<div class="pad"><${Bones} /></div>`}</div>`;
}
