// Writes a table as CSV (RFC 4180) or JSON, and offers it as a file.
import { oneLine } from './visible';

export type Cell = string | number | null;

/// A cell is one line. A text that a spreadsheet would execute as a formula gets an apostrophe
/// before it; some spreadsheets skip white space before a formula.
function csvCell(cell: Cell): string {
  if (cell === null) return '';
  let text = oneLine(String(cell));
  if (typeof cell === 'string' && /^ *[=+\-@]/.test(text)) text = `'${text}`;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOf(keys: string[], rows: Cell[][]): string {
  return [keys, ...rows].map((row) => row.map(csvCell).join(',')).join('\r\n') + '\r\n';
}

export function jsonOf(keys: string[], rows: Cell[][]): string {
  const objects = rows.map((row) => {
    const object = Object.create(null) as Record<string, Cell>;
    keys.forEach((key, i) => (object[key] = row[i] ?? null));
    return object;
  });
  return JSON.stringify(objects, null, 1);
}

export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
