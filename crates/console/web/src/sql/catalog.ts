// What completion knows: the tables that the user may see, and their columns.
import { signal } from "@preact/signals";
import { read, type TableInfo } from "../api";

export const tables = signal<TableInfo[]>([]);

export async function loadTables(): Promise<TableInfo[]> {
  tables.value = (await read<{ tables: TableInfo[] }>("/v1/tables")).tables;
  return tables.value;
}

/** Names of tables with those of their columns, as the editor takes them. */
export function completions(): Record<string, string[]> {
  return Object.fromEntries(tables.value.map(({ path, columns }) => [path, columns.map(({ name }) => name)]));
}
