// One row, each cell in full: documents as trees, pictures as pictures.
import type { Cell, Column } from "../api";
import { cellText } from "../grid";
import { html } from "../html";
import { pictureOf } from "../picture";

/** Deeper than this a document is shown as its text. */
const DEPTH_MAX = 20;

function Document({ value, depth = 0 }: { value: unknown; depth?: number }): unknown {
  if (value === null || typeof value !== "object" || depth > DEPTH_MAX) return html`<code>${JSON.stringify(value)}</code>`;
  const members = Object.entries(value);
  if (members.length === 0) return html`<code>${Array.isArray(value) ? "[]" : "{}"}</code>`;
  return html`<ul class="document">${members.slice(0, 200).map(([name, member]) => {
    const isLeaf = member === null || typeof member !== "object";
    return isLeaf
      ? html`<li><b>${name}</b> <${Document} value=${member} /></li>`
      : html`<li><details open=${depth < 1}><summary>${name}</summary><${Document} value=${member} depth=${depth + 1} /></details></li>`;
  })}${members.length > 200 && html`<li class="hint">and ${members.length - 200} more</li>`}</ul>`;
}

function Value({ cell, column }: { cell: Cell; column: Column }) {
  if (cell === null) return html`<span class="null">NULL</span>`;
  const picture = column.type.startsWith("BINARY") && typeof cell === "string" ? pictureOf(cell) : null;
  if (picture) return html`<img src=${picture} alt=${`picture of ${column.name}`} />`;
  if (typeof cell === "object") return html`<${Document} value=${cell} />`;
  const text = cellText(cell)!;
  return text.length > 5_000 ? `${text.slice(0, 5_000)}… (${text.length.toLocaleString("en")} characters)` : text;
}

export function RowView({ columns, cells }: { columns: Column[]; cells: Cell[] }) {
  return html`<div class="row" tabindex="0" role="region" aria-label="Row"><dl class="facts">${columns.map(
    (column, at) => html`<dt>${column.name}</dt><dd><${Value} cell=${cells[at] ?? null} column=${column} /></dd>`,
  )}</dl></div>`;
}
