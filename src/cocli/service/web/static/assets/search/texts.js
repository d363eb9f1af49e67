// How texts are compared: folded as `cocli.app.web.prospects.folding` folds them, which a test compares.

const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
const NUMBER = /^[+(]?[0-9][0-9().+/-]*$/;
const LEAST_DIGITS = 5;
export const decoder = new TextDecoder();
export const encoder = new TextEncoder();

export function folding(rules) {
  const marks = new RegExp("[" + rules.marks.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join("") + "]", "gu");
  const letters = new Map(Object.entries(rules.letters));
  return (text) => {
    if (/[^\x00-\x7f]/.test(text)) {
      text = text.normalize("NFKD").replace(marks, "");
      text = Array.from(text.toLowerCase(), (letter) => letters.get(letter) ?? letter).join("");
    } else text = text.toLowerCase();
    return text.split(SPACES).filter(Boolean).join(" ");
  };
}

export function termsOf(query, fold) {
  return [...new Set(fold(query || "").split(" ").filter(Boolean))];
}

export function digitsOf(term) {
  const digits = term.replace(/[^0-9]/g, "");
  return NUMBER.test(term) && digits.length >= LEAST_DIGITS && digits !== term ? digits : "";
}

// A slice keeps the long text alive that it was cut from; this is a text of its own.
export const owned = (text) => decoder.decode(encoder.encode(text));

export function compareText(one, other) {
  return one < other ? -1 : one > other ? 1 : 0;
}

export function compareBytes(one, other) {
  const left = encoder.encode(one), right = encoder.encode(other);
  for (let place = 0; place < Math.min(left.length, right.length); place++) if (left[place] !== right[place]) return left[place] - right[place];
  return left.length - right.length;
}
