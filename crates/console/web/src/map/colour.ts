// Ships coloured by a column: a colour for each of a few values, or for each span of numbers.
import type { Cell, Column } from "../api";
import { isNumber } from "../grid";
import { short } from "../numbers";
import type { Fleet } from "./fleet";

/** More colours than these are not told apart. */
const VALUES_MAX = 7;
const SPANS = 6;

// For values: palettes of Paul Tol, which people who see no red or no green tell apart, each for its background.
const LIGHT = ["#332288", "#117733", "#cc6677", "#882255", "#2e8b7d", "#7d7d1f", "#aa4499"];
const DARK = ["#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33"];
// For numbers: viridis, without the end that its background swallows.
const RISING_LIGHT = ["#440154", "#443983", "#31688e", "#21918c", "#35a05a", "#7aa312"];
const RISING_DARK = ["#5a6fc0", "#3b8fb5", "#21a99c", "#4fc46a", "#a5db36", "#fde725"];

export interface Entry {
  label: string;
  colour: string;
  count: number;
}

/** Which entry of the legend each ship belongs to. */
export interface Colouring {
  entries: Entry[];
  of: Uint8Array;
}

/** How the values of a column turn into entries: made once, so that colours stay. */
export interface Scheme {
  column: string;
  labels: string[];
  isRising: boolean;
  /** Moments go on: their spans are those of the latest reading. */
  isMoving: boolean;
  entryOf: (cell: Cell) => number;
}

const isMoment = (column: Column): boolean => /^(TIMESTAMP|DATE)/i.test(column.type);

/** The columns that colours may follow. */
export const colourable = (columns: Column[], places: string[]): Column[] =>
  columns.filter((column) => !places.includes(column.name) && !/^(BINARY|JSON|ARRAY|MAP|RECORD|GEOMETRY)/i.test(column.type));

function numberOf(cell: Cell, column: Column): number {
  if (cell === null) return NaN;
  return isMoment(column) ? Date.parse(String(cell)) : Number(cell);
}

/** A moment as far as it tells two ends of a span apart. */
function moment(at: number, spanMs: number): string {
  const text = new Date(at).toISOString().replace("T", " ");
  return spanMs > 3 * 86_400_000 ? text.slice(0, 10) : text.slice(0, 16);
}

export function schemeOf(fleet: Fleet, name: string): Scheme | null {
  const at = fleet.columns.findIndex((column) => column.name === name);
  const column = fleet.columns[at];
  if (!column || fleet.rows.length === 0) return null;
  return isNumber(column) || isMoment(column) ? rising(fleet, at, column) : values(fleet, at, name);
}

function rising(fleet: Fleet, at: number, column: Column): Scheme {
  const numbers = Float64Array.from(fleet.rows, (row) => numberOf(row[at] ?? null, column)).filter(Number.isFinite).sort();
  // Apart from the outermost hundredths: one wrong number would leave all others one colour.
  const low = numbers[Math.floor(numbers.length / 100)] ?? 0;
  const high = numbers[Math.max(numbers.length - 1 - Math.floor(numbers.length / 100), 0)] ?? 1;
  const step = (high - low) / SPANS || 1;
  // Far from zero three digits would say the same of all spans.
  const maximumFractionDigits = Math.min(Math.max(1 - Math.floor(Math.log10(step)), 0), 12);
  const exact = (value: number): string => value.toLocaleString("en", { maximumFractionDigits });
  const told = (value: number): string => {
    if (isMoment(column)) return moment(value, high - low);
    return Math.max(Math.abs(low), Math.abs(high)) > 100 * step ? exact(value) : short(Math.abs(value) < step / 1e6 ? 0 : value);
  };
  const labels = Array.from({ length: SPANS }, (_, span) => {
    if (span === 0) return `below ${told(low + step)}`;
    return span === SPANS - 1 ? `from ${told(low + span * step)}` : `${told(low + span * step)} to ${told(low + (span + 1) * step)}`;
  });
  const entryOf = (cell: Cell): number => {
    const value = numberOf(cell, column);
    return Number.isFinite(value) ? Math.min(Math.max(Math.floor((value - low) / step), 0), SPANS - 1) : SPANS;
  };
  return { column: column.name, labels: [...labels, "none"], isRising: true, isMoving: isMoment(column), entryOf };
}

function values(fleet: Fleet, at: number, name: string): Scheme {
  const counts = new Map<string, number>();
  for (const row of fleet.rows) {
    const cell = row[at] ?? null;
    if (cell !== null) counts.set(String(cell), (counts.get(String(cell)) ?? 0) + 1);
  }
  const most = [...counts].sort(([a, one], [b, other]) => other - one || a.localeCompare(b)).slice(0, VALUES_MAX).map(([value]) => value);
  const places = new Map(most.map((value, index) => [value, index]));
  const entryOf = (cell: Cell): number => (cell === null ? most.length + 1 : (places.get(String(cell)) ?? most.length));
  return { column: name, labels: [...most, "other", "none"], isRising: false, isMoving: false, entryOf };
}

/** The ships by the entries of a scheme, in the colours of a theme. */
export function colouringOf(fleet: Fleet, scheme: Scheme, dark: boolean): Colouring {
  const at = fleet.columns.findIndex((column) => column.name === scheme.column);
  const palette = scheme.isRising ? (dark ? RISING_DARK : RISING_LIGHT) : dark ? DARK : LIGHT;
  const [other, none] = dark ? ["#c8ced6", "#7d8794"] : ["#4a5460", "#8b95a1"];
  const last = scheme.labels.length - 1;
  const entries = scheme.labels.map((label, index) => {
    const colour = index === last ? none! : !scheme.isRising && index === last - 1 ? other! : palette[index]!;
    return { label, colour, count: 0 };
  });
  const of = Uint8Array.from(fleet.rows, (row) => scheme.entryOf(row[at] ?? null));
  for (const entry of of) entries[entry]!.count += 1;
  return { entries, of };
}
