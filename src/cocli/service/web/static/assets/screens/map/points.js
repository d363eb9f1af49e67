// The prospects of a view on the map. They are asked for again while lines still come in: `round` says so.
import { html, useEffect, useState } from "../../kit/dom.js";
import { Bones, Empty } from "../../kit/parts.js";
import { address, go } from "../../kit/route.js";
import { count } from "../../kit/format.js";
import { viewAddress } from "../../kit/search.js";
import { GeoMap } from "./geo_map.js";
import { boundsOf } from "./geo.js";

const MOST = 20000;
const MOST_BY_RANGES = 2000; // each may be a request

export function Points({ search, view, campaign, round, mode }) {
  const [found, setFound] = useState(null);
  const key = viewAddress(view);
  useEffect(() => {
    let stays = true;
    search.ask("points", { view, limit: mode === "index" ? MOST_BY_RANGES : MOST }).then((answer) => stays && setFound(answer), () => stays && setFound({ total: 0, points: [] }));
    return () => { stays = false; };
  }, [search, key, round]);
  return html`<${Shown} campaign=${campaign} found=${found} />`;
}

// Of rows that the server answered.
export function RowPoints({ campaign, rows, total }) {
  const points = rows.filter((row) => row.lat && row.lon).map((row) => [Number(row.lon), Number(row.lat), row.company_hash, row.name]);
  return html`<${Shown} campaign=${campaign} found=${{ total: total - (rows.length - points.length), points }} />`;
}

function Shown({ campaign, found }) {
  if (!found) return html`<div class="pad"><${Bones} /></div>`;
  if (!found.points.length) return html`<${Empty} icon="coverage" title="None of these has a position" />`;
  const box = boundsOf(found.points.map(([lon, lat]) => ({ geometry: { coordinates: [lon, lat] } })));
  return html`<div class="rows-map"><${GeoMap} campaign=${campaign} points=${found.points} box=${box} label="Prospects on the map" onPoint=${(id) => go(address({ campaign, view: "company", id }))} /></div>${found.total > found.points.length && html`<p class="dim pad">The first ${count(found.points.length)} of ${count(found.total)}.</p>`}`;
}
