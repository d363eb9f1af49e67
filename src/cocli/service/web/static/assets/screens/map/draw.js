// Drawing an area: a click sets a corner, three make an area. Corners can be typed as well.
import { html, useMemo, useState } from "../../kit/dom.js";
import { Icon } from "../../kit/icon.js";
import { here } from "../../kit/route.js";
import { GeoMap } from "./geo_map.js";

const ringOf = (corners) => ({ type: "Polygon", coordinates: [[...corners, corners[0]]] });

export function DrawArea({ setArea }) {
  const [corners, setCorners] = useState([]);
  const put = (next) => { setCorners(next); setArea(next.length >= 3 ? ringOf(next) : null); };
  const type = (event) => put(event.target.value.split("\n").map((line) => line.split(",").map(Number)).filter(([lat, lon]) => Number.isFinite(lat) && Number.isFinite(lon) && Math.abs(lat) <= 90 && Math.abs(lon) <= 180).map(([lat, lon]) => [lon, lat]));
  const shapes = useMemo(() => [...corners.map((corner) => ({ type: "Feature", properties: {}, geometry: { type: "Point", coordinates: corner } })), ...(corners.length > 2 ? [{ type: "Feature", properties: {}, geometry: ringOf(corners) }] : [])], [corners]);
  const round = (value) => Math.round(value * 1e5) / 1e5;
  return html`<div class="stack tight"><div class="draw-map"><${GeoMap} campaign=${here().get("campaign")} shapes=${shapes} box=${[-125, 24, -66, 50]} label="Map for drawing" onPlace=${(position) => put([...corners, position.map(round)])} /></div>
    <div class="line"><button type="button" class="button small" disabled=${!corners.length} onClick=${() => put(corners.slice(0, -1))}><${Icon} name="undo" />Last corner</button><button type="button" class="button small" disabled=${!corners.length} onClick=${() => put([])}>Clear</button></div>
    <label class="field"><span>Corners: latitude, longitude, one a line</span><textarea rows="3" value=${corners.map(([lon, lat]) => `${lat}, ${lon}`).join("\n")} onChange=${type} /></label></div>`;
}
