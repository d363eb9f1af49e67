// The screens: their names, keys and where their file is. `file` is the screen's only data request.
const folder = (campaign) => encodeURIComponent(campaign);

export const VIEWS = [
  { view: "dashboard", label: "Dashboard", icon: "dashboard", key: "d", group: "Campaign", file: (c) => `${folder(c)}/dashboard.json`, load: () => import("../screens/dashboard.js") },
  { view: "prospects", label: "Prospects", icon: "prospects", key: "p", group: "Campaign", file: (c) => `${folder(c)}/prospects/manifest.json`, load: () => import("../screens/prospects.js"), wide: true },
  { view: "coverage", label: "Coverage", icon: "coverage", key: "c", group: "Campaign", file: (c) => `${folder(c)}/coverage.geojson`, load: () => import("../screens/coverage.js"), wide: true },
  { view: "changes", label: "Changes", icon: "undo", key: "n", group: "Campaign", file: () => null, load: () => import("../screens/changes.js"), live: true, wide: true },
  { view: "queues", label: "Queues", icon: "queues", key: "q", group: "Work", file: (c) => `${folder(c)}/queues.json`, load: () => import("../screens/queues.js") },
  { view: "machines", label: "Machines", icon: "machines", key: "m", group: "Work", file: (c) => `${folder(c)}/machines.json`, load: () => import("../screens/machines.js") },
  { view: "run", label: "Run", icon: "run", key: "r", group: "Work", file: () => null, load: () => import("../screens/run.js"), live: true },
  { view: "compare", label: "Compare", icon: "compare", key: "x", group: "Settings", file: (c) => `${folder(c)}/compare.json`, load: () => import("../screens/compare.js") },
  { view: "config", label: "Config", icon: "config", key: "s", group: "Settings", file: (c) => `${folder(c)}/config.json`, load: () => import("../screens/config.js") },
  { view: "access", label: "Access", icon: "access", key: "a", group: "Settings", file: () => null, load: () => import("../screens/access.js"), live: true },
];

export const HIDDEN = [
  { view: "campaigns", label: "Campaigns", icon: "campaigns", key: "h", file: () => "campaigns.json", load: () => import("../screens/campaigns.js"), free: true },
  { view: "company", label: "Company", icon: "prospects", file: (c, route) => `${folder(c)}/companies/${folder((route.get("id") ?? "").slice(0, 3))}.json`, load: () => import("../screens/company.js") },
];

const FREE = new Set(["campaigns", "run", "access"]);

export function viewOf(route, campaign) {
  const name = route.get("view") ?? (route.get("campaign") ? "dashboard" : "campaigns");
  const found = [...VIEWS, ...HIDDEN].find((each) => each.view === name);
  return found && (campaign || FREE.has(found.view)) ? found : HIDDEN[0];
}
