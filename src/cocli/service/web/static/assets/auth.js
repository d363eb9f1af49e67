// The page at /auth: takes the one-time token out of the address, posts it, and goes on.
const told = document.getElementById("told");
const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname);

async function enter() {
  if (!token) { told.textContent = "There is no token in this address. Open the link that cocli web printed."; return; }
  const response = await fetch("/auth", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }) });
  if (response.ok) { location.replace("/"); return; }
  const body = await response.json().catch(() => null);
  told.textContent = [body?.error?.message ?? "The link was refused.", body?.error?.hint].filter(Boolean).join(" ");
}

enter().catch(() => { told.textContent = "The server does not answer."; });
