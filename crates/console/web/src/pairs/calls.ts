// Pairs of bytes by their keys: what the server says of them.
import { call } from "../api";

export interface ListedPair {
  key: string;
  expires_at_ms?: number;
}

export interface StoredPair {
  value: Uint8Array;
  etag: string;
  expiresMs: number | null;
}

export const PAGE = 200;

/** Keys at and below a path, or that begin so, after one of them. */
export async function listKeys(path: string, after: string | null): Promise<ListedPair[]> {
  const query = new URLSearchParams({ limit: String(PAGE), keys_only: "true" });
  // A path that ends in a slash is meant whole; what follows the last slash is how a component begins.
  const end = path.lastIndexOf("/");
  const [under, prefix] = [path.slice(0, end), path.slice(end + 1)];
  if (under) query.set("under", under);
  if (prefix) query.set("prefix", decodeURIComponent(prefix));
  if (after) query.set("after", after);
  const text = await (await call(`/v1/pairs?${query}`)).text();
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line) as ListedPair);
}

const address = (key: string): string => `/v1/pair?${new URLSearchParams({ key })}`;

export async function readPair(key: string): Promise<StoredPair> {
  const answer = await call(address(key));
  const expires = answer.headers.get("tonnage-expires-at-ms");
  return { value: new Uint8Array(await answer.arrayBuffer()), etag: answer.headers.get("etag") ?? "", expiresMs: expires ? Number(expires) : null };
}

/** Stores a value, if the pair is still the one that was read; a new one if there is none of the key. */
export async function writePair(key: string, value: BodyInit, etag: string | null): Promise<void> {
  const headers: Record<string, string> = etag ? { "If-Match": etag } : { "If-None-Match": "*" };
  await call(address(key), { method: "PUT", headers, body: value });
}

export async function deletePair(key: string, etag: string): Promise<void> {
  await call(address(key), { method: "DELETE", headers: { "If-Match": etag } });
}
