// The rows of a statement as a file. The server writes it, so the statement runs once more.
import { post } from "../api";
import { save } from "../download";

export interface FileKind {
  title: string;
  media: string;
  ending: string;
}

export const FILE_KINDS: FileKind[] = [
  { title: "CSV", media: "text/csv", ending: "csv" },
  { title: "JSON", media: "application/x-ndjson", ending: "jsonl" },
  { title: "Parquet", media: "application/vnd.apache.parquet", ending: "parquet" },
];

/** Whether a statement does nothing but read: another one must not be run again for a file. */
export function isRead(text: string): boolean {
  const bare = text.replace(/--.*$/gm, " ").replace(/\/\*[^]*?\*\//g, " ").trim();
  if (/^(select|values|show|describe|table|\()/i.test(bare)) return true;
  // A change may follow these.
  return /^(with|explain)\b/i.test(bare) && !/\b(insert|update|delete|merge|replace)\b/i.test(bare);
}

export async function download(text: string, kind: FileKind, signal: AbortSignal): Promise<void> {
  const answer = await post("/v1/sql", { sql: text }, kind.media, signal);
  save(`result.${kind.ending}`, [await answer.blob()], kind.media);
}
