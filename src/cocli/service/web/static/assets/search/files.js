// The files of a search, as they come over the network.

export async function inflated(bytes, format) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A server may have undone the compression on the way: then the mark of gzip is missing.
export async function unzipped(bytes) {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? inflated(bytes, "gzip") : bytes;
}

export async function fetched(url, options = {}) {
  const answer = await fetch(url, { credentials: "same-origin", ...options });
  if (!answer.ok) throw new Error(`${url.split("/").slice(-2).join("/")}: HTTP status ${answer.status}`);
  return answer;
}
