// A file of this computer: what the server is told that it is, and how it begins.

const KINDS: [RegExp, string][] = [
  [/\.(csv|txt)(\.\w+)?$/i, "text/csv"],
  [/\.(jsonl|ndjson|json)(\.\w+)?$/i, "application/x-ndjson"],
  [/\.parquet$/i, "application/vnd.apache.parquet"],
  [/\.(arrow|feather|ipc)$/i, "application/vnd.apache.arrow.file"],
  [/\.arrows$/i, "application/vnd.apache.arrow.stream"],
];
/** Of these a beginning, cut at the end of a line, is a file by itself. */
const LINES = /\.(csv|jsonl|ndjson)$/i;
const HEAD_BYTES = 1 << 20;
const LINE_END = 10;

/** The media type of a file by its name; the server looks at the content of others. */
export const kindOf = (name: string): string => KINDS.find(([ending]) => ending.test(name))?.[1] ?? "application/octet-stream";

/** What is enough of a file to see its columns, and whether that is all of it. */
export async function headOf(file: File): Promise<{ head: Blob; isWhole: boolean }> {
  if (!LINES.test(file.name) || file.size <= HEAD_BYTES) return { head: file, isWhole: true };
  const bytes = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const end = bytes.lastIndexOf(LINE_END);
  // A line of more than a mebibyte: then the whole file goes.
  return end < 0 ? { head: file, isWhole: true } : { head: file.slice(0, end + 1), isWhole: false };
}

/** A name for a table that takes the file: its own, in letters that need no quotes. */
export function tableNameOf(name: string): string {
  const stem = name.replace(/\..*$/, "").toLowerCase().replace(/\W+/g, "_").replace(/^_+|_+$/g, "");
  return /^[a-z_]/.test(stem) ? stem : `t_${stem}`;
}
