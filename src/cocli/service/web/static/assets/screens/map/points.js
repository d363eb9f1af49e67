// The prospects of a view on the map. They are asked for again while lines still come in: `round` says so.
import { html, useEffect, useState } from "../../kit/dom.js";
import { Bones, Empty } from "../../kit/parts.js";
import { address, go } from "../../kit/route.js";
import { count } from "../../kit/format.js";
import { viewAddress } from "../../kit/search.js";
import { GeoMap } from "./geo_map.js";
import { boundsOf } from "./geo.js";

const MOST = 20000;

export function Points({ search, view, campaign, round }) {
  const [found, setFound] = useState(null);
  const key = viewAddress(view);
  useEffect(() => {
    let stays = true;
    search.ask("points", { view, limit: MOST }).then((answer) => stays && setFound(answer), () => stays && setFound({ total: 0, points: [] }));
    return () => { stays = false; };
  }, [search, key, round]);
  if (!found) return html`<div class="pad"><${Bones} /></div>`;
  if (!found.points.length) return html`<${Empty} icon="coverage" title="None of these has a position" />`;
  const box = boundsOf(found.points.map(([lon, lat]) => ({ geometry: { coordinates: [lon, lat] } })));
  return html`<div class="rows-map"><${GeoMap} campaign=${campaign} points=${found.points} box=${box} label="Prospects on the map" onPoint=${(id) => go(address({ campaign, view: "company", id }))} /></div>${found.total > found.points.length && html`<p class="dim pad">The first ${count(found.points.length)} of ${count(found.total)}.</p>`}`;
}
