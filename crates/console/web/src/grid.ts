// A grid of any number of rows: only those in view are elements.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Cell, Column } from "./api";
import { html } from "./html";
import { pictureOf } from "./picture";

const ROW = 24;
/** Browsers end an element at some 17 million pixels: beyond this the scroll bar is scaled. */
const HEIGHT_MAX = 8_000_000;
const NUMBERS = /^(BYTE|SHORT|INTEGER|INT|LONG|FLOAT|DOUBLE|NUMBER|DECIMAL|BIGINT|SMALLINT|U?INT\d+|Decimal|Int|UInt|Float)/i;

export const isNumber = (column: Column): boolean => NUMBERS.test(column.type);

/** A cell as text; nothing for NULL. */
export function cellText(cell: Cell): string | null {
  if (cell === null || cell === undefined) return null;
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}

interface Props {
  columns: Column[];
  rows: Cell[][];
  label: string;
  selected?: number;
  onSelect?: (row: number) => void;
}

/** Widths in characters, of the names and of the first rows. */
function widths(columns: Column[], rows: Cell[][]): number[] {
  return columns.map((column, at) => {
    let most = column.name.length + 1;
    if (column.type.startsWith("BINARY")) return Math.max(most, 12) * 8.1 + 20;
    for (const row of rows.slice(0, 100)) most = Math.max(most, (cellText(row[at] ?? null) ?? "NULL").length);
    return Math.min(Math.max(most, 6), 40) * 8.1 + 20;
  });
}

function sized(pixels: { width?: number; height?: number; top?: number }) {
  return (element: HTMLElement | null): void => {
    if (!element) return;
    if (pixels.width !== undefined) element.style.width = `${pixels.width}px`;
    if (pixels.height !== undefined) element.style.height = `${pixels.height}px`;
    if (pixels.top !== undefined) element.style.transform = `translateY(${pixels.top}px)`;
  };
}

function Content({ cell, column }: { cell: Cell; column: Column }) {
  const picture = column.type.startsWith("BINARY") && typeof cell === "string" ? pictureOf(cell) : null;
  if (picture) return html`<img src=${picture} alt=${`picture of ${column.name}`} />`;
  const text = cellText(cell);
  if (text === null) return html`<span class="null">NULL</span>`;
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

export function Grid({ columns, rows, label, selected, onSelect }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const [view, setView] = useState({ top: 0, height: 400 });
  const [at, setAt] = useState({ row: 0, column: 0 });
  const real = rows.length * ROW;
  const shown = Math.min(real, HEIGHT_MAX);
  // One pixel of the bar is so many of the rows.
  const scale = shown > view.height ? (real - view.height) / (shown - view.height) : 1;
  const look = () => box.current && setView({ top: box.current.scrollTop, height: Math.max(box.current.clientHeight - ROW, ROW) });
  useEffect(() => {
    look();
    const watch = new ResizeObserver(look);
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, [rows]);
  const first = Math.max(0, Math.floor((view.top * scale) / ROW) - 5);
  const last = Math.min(rows.length, first + Math.ceil(view.height / ROW) + 12);
  const wide = widths(columns, rows);
  const total = wide.reduce((sum, width) => sum + width, 0);
  const shift = view.top * scale - view.top;

  const move = (row: number, column: number) => {
    row = Math.min(Math.max(row, 0), rows.length - 1);
    column = Math.min(Math.max(column, 0), columns.length - 1);
    setAt({ row, column });
    onSelect?.(row);
    const element = box.current!;
    const top = row * ROW;
    if (top < view.top * scale) element.scrollTop = top / scale;
    if (top + ROW > view.top * scale + view.height) element.scrollTop = (top + ROW - view.height) / scale;
    const left = wide.slice(0, column).reduce((sum, width) => sum + width, 0);
    if (left < element.scrollLeft) element.scrollLeft = left;
    const over = left + wide[column]! - element.scrollLeft - element.clientWidth;
    if (over > 0) element.scrollLeft += over;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.floor(view.height / ROW) - 1;
    const steps: Record<string, [number, number]> = {
      ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1],
      PageDown: [page, 0], PageUp: [-page, 0], Home: [-at.row, 0], End: [rows.length, 0],
    };
    const step = steps[event.key];
    if (!step || rows.length === 0) return;
    event.preventDefault();
    move(at.row + step[0], at.column + step[1]);
  };
  const active = rows.length > 0 ? `${id}-${at.row}-${at.column}` : undefined;
  return html`<div class="grid" role="grid" tabindex="0" ref=${box} onScroll=${look} onKeyDown=${onKeyDown}
      aria-label=${label} aria-rowcount=${rows.length + 1} aria-colcount=${columns.length} aria-activedescendant=${active}>
    <div class="grid-row head" role="row" aria-rowindex="1" ref=${sized({ width: total })}>
      ${columns.map((column, index) => html`<div role="columnheader" title=${column.type} class=${isNumber(column) ? "number" : ""}
        ref=${sized({ width: wide[index]! })}>${column.name}</div>`)}
    </div>
    <div class="grid-body" role="presentation" ref=${sized({ height: shown, width: total })}>
      ${rows.slice(first, last).map((row, offset) => {
        const index = first + offset;
        return html`<div class=${`grid-row ${index === selected ? "selected" : ""}`} role="row" key=${index}
            aria-rowindex=${index + 2} aria-selected=${index === selected} ref=${sized({ top: index * ROW - shift, width: total })}>
          ${columns.map((column, c) => html`<div role="gridcell" id=${`${id}-${index}-${c}`} ref=${sized({ width: wide[c]! })}
            class=${`${isNumber(column) ? "number" : ""} ${index === at.row && c === at.column ? "at" : ""}`}
            onClick=${() => move(index, c)}><${Content} cell=${row[c] ?? null} column=${column} /></div>`)}
        </div>`;
      })}
    </div>
  </div>`;
}
