// The definition of a table that takes the columns of a file.
import type { Column } from "../api";
import { quoted } from "../quoted";

/** Its text. Of several columns of a key the first one is the shard key: its rows lie together. */
export function definitionOf(table: string, columns: Column[], key: string[]): string {
  const lines = columns.map(({ name, type }) => `  ${quoted(name)} ${type}`);
  const names = key.map(quoted);
  const [first, ...rest] = names;
  if (first !== undefined) lines.push(`  PRIMARY KEY (${[rest.length > 0 ? `SHARD(${first})` : first, ...rest].join(", ")})`);
  return `CREATE TABLE ${table.split(".").map(quoted).join(".")} (\n${lines.join(",\n")}\n)`;
}

/** The columns that most likely are the key: one called so, else the first. */
export function keyOf(columns: Column[]): string[] {
  const named = columns.find(({ name }) => /^(id|key|mmsi|uuid)$/i.test(name)) ?? columns[0];
  const moment = columns.find(({ name, type }) => type.startsWith("TIMESTAMP") && name !== named?.name);
  return [named, moment].flatMap((column) => (column ? [column.name] : []));
}
