// A change: sent, told with its command line, undone on request. Nothing is changed in silence.
import { readAgain } from "./data.js";
import { api, send } from "./server.js";
import { tell } from "./parts.js";

export async function act(title, method, path, body, headers) {
  try {
    const answer = await send(method, path, body, headers);
    tell({ title, command: answer.command, undo: undoWith(answer) });
    readAgain();
    return answer;
  } catch (problem) {
    tell({ tone: "bad", title: `${title}: refused`, text: [problem.message, problem.hint].filter(Boolean).join(" ") });
    return null;
  }
}

// An undo names the version that it undoes, so that it never undoes what somebody else did since.
export function undoWith(answer) {
  if (!answer.undo) return null;
  const etag = answer.undo.if_match ?? answer.etag;
  return { ...answer.undo, headers: etag ? { "If-Match": etag } : undefined };
}

export const undo = (toast) => act(`${toast.title}: undone`, toast.undo.method, toast.undo.path, toast.undo.body ?? undefined, toast.undo.headers);

// A basket of commands to the machines. Those that were refused say why; the others are on their way.
export async function sendCommands(campaign, commands) {
  const answer = await send("POST", api(campaign, "commands"), { commands });
  for (const result of answer.results) {
    if (result.state === "refused") tell({ tone: "bad", title: `Refused: ${result.text}`, text: [result.reason, result.hint].filter(Boolean).join(" ") });
  }
  return answer.results;
}

export async function command(title, campaign, text, host = null) {
  try {
    const [result] = await sendCommands(campaign, [{ text, host }]);
    if (result.state === "refused") return null;
    tell({ title, text: "Sent to the machines: they answer within seconds.", command: result.command, undo: undoOf(campaign, result) });
    return result;
  } catch (problem) {
    tell({ tone: "bad", title: `${title}: refused`, text: [problem.message, problem.hint].filter(Boolean).join(" ") });
    return null;
  }
}

// A command is undone by another command.
export function undoOf(campaign, result) {
  if (!result.undo) return null;
  if (typeof result.undo === "object") return result.undo;
  return { method: "POST", path: api(campaign, "commands"), body: { commands: [{ text: result.undo, host: null }] } };
}
