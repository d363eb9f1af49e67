// The map without WebGL: the same tiles, patterns and towns as SVG, moved with buttons.
import { html, useMemo, useRef, useState } from "../../kit/dom.js";
import { Icon } from "../../kit/icon.js";
import { plain } from "../../kit/format.js";
import { mercator, STATE_TONES, unproject } from "./geo.js";

const WIDTH = 1000;
const HEIGHT = 640;
const MOST_POINTS = 3000;

function frameOf(box) {
  const [west, south, east, north] = box ?? [-170, -55, 175, 70];
  const [left, bottom] = mercator([west, south]);
  const [right, top] = mercator([east, north]);
  const scale = Math.min((WIDTH - 60) / Math.max(right - left, 1e-4), (HEIGHT - 60) / Math.max(bottom - top, 1e-4));
  return { scale, x: (left + right) / 2, y: (top + bottom) / 2 };
}

const pathOf = (geometry, place) => {
  const line = (ring) => ring.map((position, at) => `${at ? "L" : "M"}${place(position).map((value) => value.toFixed(1)).join(" ")}`).join("");
  if (geometry.type === "Polygon") return geometry.coordinates.map((ring) => `${line(ring)}Z`).join("");
  if (geometry.type === "MultiPolygon") return geometry.coordinates.flat().map((ring) => `${line(ring)}Z`).join("");
  return geometry.type === "LineString" ? line(geometry.coordinates) : "";
};

function Patterns() {
  return html`<defs>${Object.entries(STATE_TONES).map(([state, tone]) => html`<pattern id=${`fill-${state}`} class=${`tone-${tone}`} width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" class="pattern-ground" />${{
    read: html`<rect width="8" height="8" class="pattern-full" />`, stale: html`<path d="M-2 10 10 -2M-2 2 2 -2M6 10 10 6" class="pattern-line" />`, "cut-short": html`<circle cx="2" cy="2" r="1.3" class="pattern-dot" /><circle cx="6" cy="6" r="1.3" class="pattern-dot" />`,
    blocked: html`<path d="M0 0 8 8M8 0 0 8" class="pattern-line" />`, unread: null, mixed: html`<path d="M0 4H8" class="pattern-line" />`,
  }[state]}</pattern>`)}</defs>`;
}

export function SvgMap({ tiles = [], shapes = [], points = [], towns = [], box, base, selected, onTile, onPoint, onPlace, label = "Map" }) {
  const first = useMemo(() => frameOf(box), [JSON.stringify(box)]);
  const [moved, setMoved] = useState({ zoom: 1, x: 0, y: 0 });
  const svg = useRef();
  const scale = first.scale * moved.zoom;
  const place = (position) => { const [x, y] = mercator(position); return [WIDTH / 2 + (x - first.x - moved.x) * scale, HEIGHT / 2 + (y - first.y - moved.y) * scale]; };
  const zoom = (by) => setMoved((last) => ({ ...last, zoom: Math.max(0.05, Math.min(400, last.zoom * by)) }));
  const move = (x, y) => setMoved((last) => ({ ...last, x: last.x + (x * 200) / scale, y: last.y + (y * 200) / scale }));
  const click = (event) => {
    if (!onPlace) return;
    const spot = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.current.getScreenCTM().inverse());
    onPlace(unproject([(spot.x - WIDTH / 2) / scale + first.x + moved.x, (spot.y - HEIGHT / 2) / scale + first.y + moved.y]));
  };
  return html`<svg ref=${svg} class=${`svg-map ${base ? "sea" : ""}`} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${label} onClick=${click}><${Patterns} />
      ${(base?.features ?? []).filter((feature) => feature.geometry.type !== "Point").map((feature) => html`<path d=${pathOf(feature.geometry, place)} class=${`base base-${feature.properties.kind}`} />`)}
      ${tiles.map((tile) => html`<path key=${tile.id} d=${pathOf(tile.geometry, place)} class=${`tile tone-${STATE_TONES[tile.properties.state] ?? "none"} ${selected?.has(tile.id) ? "picked" : ""}`} fill=${`url(#fill-${STATE_TONES[tile.properties.state] ? tile.properties.state : "unread"})`} onClick=${() => onTile?.(tile.id)}><title>${`${plain(tile.properties.name)}: ${tile.properties.state}`}</title></path>`)}
      ${shapes.map((shape) => (shape.geometry.type === "Point" ? html`<circle cx=${place(shape.geometry.coordinates)[0]} cy=${place(shape.geometry.coordinates)[1]} r="5" class="shape" />` : html`<path d=${pathOf(shape.geometry, place)} class="shape" />`))}
      ${points.slice(0, MOST_POINTS).map(([lon, lat, id, name]) => { const [x, y] = place([lon, lat]); return html`<circle key=${id} cx=${x} cy=${y} r="4" class="point" onClick=${() => onPoint?.(id)}><title>${plain(name)}</title></circle>`; })}
      ${towns.map((town) => { const [x, y] = place([town.lon, town.lat]); return html`<g class="town"><circle cx=${x} cy=${y} r="2.5" /><text x=${x + 6} y=${y + 4}>${plain(town.name)}</text></g>`; })}</svg>
    <div class="map-buttons"><button type="button" class="button icon small" aria-label="Nearer" onClick=${() => zoom(1.5)}><${Icon} name="plus" /></button><button type="button" class="button icon small" aria-label="Farther" onClick=${() => zoom(1 / 1.5)}><${Icon} name="minus" /></button>
      <button type="button" class="button icon small" aria-label="Move west" onClick=${() => move(-1, 0)}><${Icon} name="left" /></button><button type="button" class="button icon small" aria-label="Move east" onClick=${() => move(1, 0)}><${Icon} name="right" /></button><button type="button" class="button icon small" aria-label="Move north" onClick=${() => move(0, -1)}><${Icon} name="up" /></button><button type="button" class="button icon small" aria-label="Move south" onClick=${() => move(0, 1)}><${Icon} name="down" /></button></div>`;
}
