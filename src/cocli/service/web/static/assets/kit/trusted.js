// The only policy of the page: addresses of our own scripts, and nothing else.
const below = new URL("../", import.meta.url).href;

function own(address) {
  const url = new URL(address, below).href;
  if (!url.startsWith(below)) throw new TypeError(`not a script of this site: ${url}`);
  return url;
}

const policy = globalThis.trustedTypes ? trustedTypes.createPolicy("cocli", { createScriptURL: own }) : { createScriptURL: own };

export const scriptUrl = (address) => policy.createScriptURL(address);
