// What a map shows of a table: which of its columns are places, and the latest row of each shard key.
import { type Cell, type Column, post, parseExactly, type Rows, type TableInfo } from "../api";
import { quoted } from "../quoted";
import { type Box, xOf, yOf } from "./world";

const LATITUDES = ["lat", "latitude", "y"];
const LONGITUDES = ["lon", "lng", "long", "longitude", "x"];
export const FLEET_MAX = 200_000;
export const TRACK_MAX = 20_000;

/** A table with places. */
export interface Layer {
  table: TableInfo;
  lat: string;
  lon: string;
  /** The columns that name what moves; a row for each of their values is drawn. */
  shard: string[];
  /** The rest of the key, by which a track is in order. */
  rest: string[];
}

const path = (name: string): string => name.split(".").map(quoted).join(".");
const list = (names: string[], behind = ""): string => names.map((name) => quoted(name) + behind).join(", ");

/** The layer that a table makes; nothing where no columns are called as places are. */
export function layerOf(table: TableInfo): Layer | null {
  const named = (names: string[]) =>
    names.map((name) => table.columns.find((column) => column.name.toLowerCase() === name)?.name).find((found) => found);
  const [lat, lon] = [named(LATITUDES), named(LONGITUDES)];
  if (!lat || !lon) return null;
  const key = table.columns.filter((column) => typeof column.key === "number");
  key.sort((one, other) => one.key! - other.key!);
  const names = key.map((column) => column.name);
  const told = /SHARD\s*\(([^)]*)\)/i.exec(table.definition)?.[1];
  const count = told === undefined ? names.length : told.split(",").length;
  return { table, lat, lon, shard: names.slice(0, count), rest: names.slice(count) };
}

/** The conditions of a box: each side of the date line by itself, for no index answers OR. */
export function between(layer: Layer, { west, south, east, north }: Box): string[] {
  const degrees = (number: number): string => number.toFixed(6);
  const within = (name: string, low: number, high: number): string =>
    `${quoted(name)} BETWEEN ${degrees(low)} AND ${degrees(high)}`;
  const sides: [number, number][] = west <= east ? [[west, east]] : [[west, 180], [-180, east]];
  return sides.map(([low, high]) => `${within(layer.lat, south, north)} AND ${within(layer.lon, low, high)}`);
}

/** The statement for the latest row of each shard key; of one row a key those in a box, if any. */
export function latest(layer: Layer, box: Box | null = null): string {
  const { table, shard, rest } = layer;
  if (rest.length === 0) {
    const all = `SELECT * FROM ${path(table.path)}`;
    if (!box) return all;
    return between(layer, box).map((side) => `${all} WHERE ${side}`).join(" UNION ALL ");
  }
  return `SELECT DISTINCT ON (${list(shard)}) * FROM ${path(table.path)} ORDER BY ${list(shard)}, ${list(rest, " DESC")}`;
}

/** Rows with their places, as the map draws them. */
export interface Fleet {
  columns: Column[];
  rows: Cell[][];
  xs: Uint32Array;
  ys: Uint32Array;
  /** Rows without a place on earth: AIS says 91 and 181 for unknown. */
  nowhere: number;
  more: boolean;
  /** Whether it is what lies about the view, and not all that there is. */
  isPart: boolean;
}

const isPlace = (lat: Cell | undefined, lon: Cell | undefined): boolean =>
  typeof lat === "number" && typeof lon === "number" && Math.abs(lat) <= 90 && Math.abs(lon) <= 180;

export function fleetOf(layer: Layer, told: Rows, isPart = false): Fleet {
  const lat = told.columns.findIndex(({ name }) => name === layer.lat);
  const lon = told.columns.findIndex(({ name }) => name === layer.lon);
  // NUMBER comes as text where it is long.
  for (const row of told.rows) for (const at of [lat, lon]) if (typeof row[at] === "string") row[at] = Number(row[at]);
  const rows = told.rows.filter((row) => isPlace(row[lat], row[lon]));
  return {
    columns: told.columns,
    rows,
    xs: Uint32Array.from(rows, (row) => xOf(row[lon] as number)),
    ys: Uint32Array.from(rows, (row) => yOf(row[lat] as number)),
    nowhere: told.rows.length - rows.length,
    more: told.more,
    isPart,
  };
}

async function ask(layer: Layer, body: object, signal: AbortSignal, isPart = false): Promise<Fleet> {
  const answer = await post("/v1/sql", body, "application/json", signal);
  return fleetOf(layer, parseExactly(await answer.text()) as Rows, isPart);
}

export const loadFleet = (layer: Layer, box: Box | null, signal: AbortSignal): Promise<Fleet> =>
  ask(layer, { sql: latest(layer, box), limit: FLEET_MAX }, signal, box !== null);

/** All places of what a row shows, the latest ones first where there are too many. */
export async function loadTrack(layer: Layer, fleet: Fleet, row: number, signal: AbortSignal): Promise<Fleet> {
  const index = layer.shard.map((name) => fleet.columns.findIndex((column) => column.name === name));
  const parameters = index.map((at) => fleet.rows[row]![at] ?? null);
  const types = index.map((at, n) => (typeof parameters[n] === "string" ? fleet.columns[at]!.type : null));
  const wanted = layer.shard.map((name, n) => `${quoted(name)} = $${n + 1}`).join(" AND ");
  const order = layer.rest.length > 0 ? ` ORDER BY ${list(layer.rest, " DESC")}` : "";
  const text = `SELECT * FROM ${path(layer.table.path)} WHERE ${wanted}${order}`;
  const track = await ask(layer, { sql: text, parameters, types, limit: TRACK_MAX }, signal);
  track.rows.reverse();
  track.xs.reverse();
  track.ys.reverse();
  return track;
}
