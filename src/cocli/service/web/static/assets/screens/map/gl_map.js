// The map by WebGL. MapLibre is loaded here and nowhere else; its Worker is one of our own files.
import { html, useEffect, useRef } from "../../kit/dom.js";
import { Icon } from "../../kit/icon.js";
import { scriptUrl } from "../../kit/trusted.js";
import { site } from "../../kit/server.js";
import { groundOf } from "./base.js";
import { colours, STATE_TONES } from "./geo.js";

const WORKER = new URL("../../vendor/maplibre/maplibre-gl-worker.js", import.meta.url).href;
const collection = (features) => ({ type: "FeatureCollection", features });
const SIZE = 16;

// MapLibre starts its Worker with a text. The page's policy wants to have seen the address.
let library = null;
async function loadLibrary() {
  if (library) return library;
  const Plain = globalThis.Worker;
  globalThis.Worker = class extends Plain {
    constructor(address, options) { super(typeof address === "string" ? scriptUrl(address) : address, options); }
  };
  library = await import("../../vendor/maplibre/maplibre-gl.js");
  library.setWorkerUrl(WORKER);
  return library;
}

// A state as a picture of 16 points: its colour and its pattern.
function patternOf(state, tone) {
  const canvas = Object.assign(document.createElement("canvas"), { width: SIZE, height: SIZE });
  const pen = canvas.getContext("2d");
  pen.fillStyle = pen.strokeStyle = tone;
  pen.globalAlpha = state === "read" ? 0.55 : 0.14;
  pen.fillRect(0, 0, SIZE, SIZE);
  pen.globalAlpha = 0.9;
  pen.lineWidth = 2;
  pen.beginPath();
  if (state === "stale") for (const at of [-8, 0, 8, 16]) { pen.moveTo(at - 2, SIZE + 2); pen.lineTo(at + SIZE + 2, -2); }
  if (state === "blocked") { pen.moveTo(0, 0); pen.lineTo(SIZE, SIZE); pen.moveTo(SIZE, 0); pen.lineTo(0, SIZE); }
  if (state === "mixed") { pen.moveTo(0, 4); pen.lineTo(SIZE, 4); pen.moveTo(0, 12); pen.lineTo(SIZE, 12); }
  pen.stroke();
  if (state === "cut-short") for (const [x, y] of [[4, 4], [12, 12]]) { pen.beginPath(); pen.arc(x, y, 2, 0, 7); pen.fill(); }
  return pen.getImageData(0, 0, SIZE, SIZE);
}

function layers(tones) {
  return [
    { id: "tiles", type: "fill", source: "tiles", paint: { "fill-pattern": ["concat", "state-", ["get", "state"]] } },
    { id: "tile-edges", type: "line", source: "tiles", paint: { "line-color": tones["ink-3"], "line-width": 0.6, "line-opacity": 0.6 } },
    { id: "picked", type: "line", source: "tiles", filter: ["in", ["get", "name"], ["literal", []]], paint: { "line-color": tones.accent, "line-width": 3 } },
    { id: "shapes", type: "line", source: "shapes", paint: { "line-color": tones.accent, "line-width": 2, "line-dasharray": [3, 2] } },
    { id: "shape-fill", type: "fill", source: "shapes", filter: ["==", ["geometry-type"], "Polygon"], paint: { "fill-color": tones.accent, "fill-opacity": 0.12 } },
    { id: "many", type: "circle", source: "points", filter: ["has", "point_count"], paint: { "circle-color": tones.accent, "circle-opacity": 0.85, "circle-radius": ["interpolate", ["linear"], ["get", "point_count"], 2, 10, 100, 18, 5000, 34] } },
    { id: "many-count", type: "symbol", source: "points", filter: ["has", "point_count"], layout: { "text-field": ["get", "point_count_abbreviated"], "text-size": 11, "text-font": ["sans-serif"] }, paint: { "text-color": tones.paper } },
    { id: "points", type: "circle", source: "points", filter: ["!", ["has", "point_count"]], paint: { "circle-color": tones.accent, "circle-radius": 5, "circle-stroke-color": tones.paper, "circle-stroke-width": 1.5 } },
    { id: "towns", type: "symbol", source: "towns", layout: { "text-field": ["get", "name"], "text-size": 12, "text-font": ["sans-serif"], "text-offset": [0, 0.8], "text-anchor": "top", "symbol-sort-key": -1e9 }, paint: { "text-color": tones.ink, "text-halo-color": tones.paper, "text-halo-width": 1.4 } },
  ];
}

const pointFeature = ([lon, lat, id, name]) => ({ type: "Feature", properties: { id, name }, geometry: { type: "Point", coordinates: [lon, lat] } });
const townFeature = (town) => ({ type: "Feature", properties: { name: town.name }, geometry: { type: "Point", coordinates: [town.lon, town.lat] } });

function styleOf(tones, props, ground) {
  const own = (features, more = {}) => ({ type: "geojson", data: collection(features), ...more });
  return { version: 8, sources: { ...ground.sources, tiles: own(props.tiles ?? []), shapes: own(props.shapes ?? []), points: own((props.points ?? []).map(pointFeature), { cluster: true, clusterMaxZoom: 9, clusterRadius: 44 }), towns: own((props.towns ?? []).map(townFeature)) },
    layers: [{ id: "ground", type: "background", paint: { "background-color": props.base ? tones["wait-soft"] : tones.canvas } }, ...ground.below, ...layers(tones), ...ground.above] };
}

function clicked(map, event, props) {
  const [found] = map.queryRenderedFeatures(event.point, { layers: ["points", "tiles"] });
  if (found?.layer.id === "points") props.onPoint?.(found.properties.id);
  else if (found) props.onTile?.(found.properties.name);
  props.onPlace?.([event.lngLat.lng, event.lngLat.lat]);
}

async function make(node, props, latest, onBroken) {
  const maplibre = await loadLibrary();
  const tones = colours();
  const ground = await groundOf(maplibre, site.read(), tones, props.base);
  props.onGround?.(ground);
  const [west, south, east, north] = props.box ?? [-170, -55, 175, 70];
  const map = new maplibre.Map({ container: node, style: styleOf(tones, props, ground), attributionControl: false, bounds: [[west, south], [east, north]], fitBoundsOptions: { padding: 32 }, dragRotate: false, pitchWithRotate: false, fadeDuration: 0, canvasContextAttributes: { antialias: true, preserveDrawingBuffer: true } });
  map.touchZoomRotate.disableRotation();
  for (const [state, tone] of Object.entries(STATE_TONES)) map.addImage(`state-${state}`, patternOf(state, tones[tone]), { pixelRatio: 2 });
  map.on("click", (event) => clicked(map, event, latest.current));
  map.getCanvas().setAttribute("aria-label", props.label ?? "Map");
  map.getCanvas().addEventListener("webglcontextlost", onBroken);
  map.on("idle", () => { node.dataset.drawn = "1"; });
  return map;
}

export function GlMap(props) {
  const node = useRef();
  const held = useRef(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    let stays = true;
    make(node.current, props, latest, props.onBroken).then((map) => { if (stays) held.current = map; else map.remove(); }, () => stays && props.onBroken());
    return () => { stays = false; held.current?.remove(); held.current = null; };
  }, []);
  const put = (name, features) => {
    const map = held.current;
    if (!map) return;
    const set = () => map.getSource(name)?.setData(collection(features));
    if (map.isStyleLoaded()) set(); else map.once("idle", set);
  };
  useEffect(() => put("tiles", props.tiles ?? []), [props.tiles]);
  useEffect(() => put("shapes", props.shapes ?? []), [props.shapes]);
  useEffect(() => put("points", (props.points ?? []).map(pointFeature)), [props.points]);
  useEffect(() => { held.current?.setFilter("picked", ["in", ["get", "name"], ["literal", [...(props.selected ?? [])]]]); }, [props.selected]);
  const zoom = (by) => held.current?.zoomTo(held.current.getZoom() + by, { duration: 0 });
  return html`<div class="gl-map" ref=${node} /><div class="map-buttons"><button type="button" class="button icon small" aria-label="Nearer" onClick=${() => zoom(1)}><${Icon} name="plus" /></button><button type="button" class="button icon small" aria-label="Farther" onClick=${() => zoom(-1)}><${Icon} name="minus" /></button></div>`;
}
