// A CSV made in the page, where no server makes one. A spreadsheet runs no cell of it as a formula.
const RISKY = /^[=@\t\r]|^[+-](?![\d\s().-]*$)/;

function cell(value) {
  const text = Array.isArray(value) ? value.join("; ") : String(value ?? "");
  const safe = RISKY.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvOf(columns, rows) {
  return [columns, ...rows.map((row) => columns.map((name) => row[name]))].map((line) => line.map(cell).join(",")).join("\r\n");
}

export function save(name, text, type = "text/csv;charset=utf-8") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
