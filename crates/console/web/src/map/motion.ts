// The way of ships between two readings: each goes straight from where it is seen to its new place.
import type { Cell } from "../api";
import type { Fleet } from "./fleet";

/** Shorter or longer than this nobody wants to look at. */
const [SPAN_MIN_MS, SPAN_MAX_MS] = [300, 10_000];

export interface Motion {
  fromX: Uint32Array;
  fromY: Uint32Array;
  /** Where the ships are now: what is drawn, and what a click finds. */
  seen: Fleet;
  /** How many are under way. */
  moving: number;
  started: number;
  spanMs: number;
}

/** What tells a ship from others, by the columns of its key. */
function names({ columns, rows }: Fleet, shard: string[]): Cell[] {
  const places = shard.map((name) => columns.findIndex((column) => column.name === name));
  const [first] = places;
  if (places.length === 1 && first !== undefined) return rows.map((row) => row[first] ?? null);
  return rows.map((row) => places.map((at) => String(row[at])).join("/"));
}

/** Begins the way from what is seen to a new reading. Who is new is there at once. */
export function setOut(before: Fleet | null, after: Fleet, shard: string[], now: number, spanMs: number): Motion {
  const fromX = after.xs.slice();
  const fromY = after.ys.slice();
  let moving = 0;
  if (before) {
    const [old, fresh] = [names(before, shard), names(after, shard)];
    let known: Map<Cell, number> | null = null;
    fresh.forEach((name, ship) => {
      // Readings are in the order of the key: mostly the same ship is at the same place.
      let at: number | undefined = old[ship] === name ? ship : undefined;
      if (at === undefined) {
        known ??= new Map(old.map((one, index) => [one, index]));
        at = known.get(name);
      }
      if (at === undefined || (before.xs[at] === after.xs[ship] && before.ys[at] === after.ys[ship])) return;
      fromX[ship] = before.xs[at]!;
      fromY[ship] = before.ys[at]!;
      moving += 1;
    });
  }
  const seen = moving > 0 ? { ...after, xs: fromX.slice(), ys: fromY.slice() } : after;
  return { fromX, fromY, seen, moving, started: now, spanMs: Math.min(Math.max(spanMs, SPAN_MIN_MS), SPAN_MAX_MS) };
}

/** Moves all ships to where they are at a moment. Whether they have come to their places. */
export function goOn(motion: Motion, after: Fleet, now: number): boolean {
  const share = Math.min((now - motion.started) / motion.spanMs, 1);
  const { fromX, fromY, seen } = motion;
  if (motion.moving === 0) return true;
  for (let ship = 0; ship < fromX.length; ship++) {
    // Differences wrap at the date line by themselves: a ship that crosses it takes the short way.
    seen.xs[ship] = (fromX[ship]! + Math.round(((after.xs[ship]! - fromX[ship]!) | 0) * share)) >>> 0;
    seen.ys[ship] = fromY[ship]! + Math.round((after.ys[ship]! - fromY[ship]!) * share);
  }
  return share >= 1;
}
