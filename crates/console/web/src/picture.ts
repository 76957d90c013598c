// Pictures among binary values: told by their first bytes, never by a name. No SVG, which has code.

const KINDS: [string, RegExp][] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
  ["image/avif", /^[^]{4}ftypavif/],
];
const made = new Map<string, string>();
const MADE_MAX = 500;

/** The address of a picture in this page, for a value in base64; nothing if it is none. */
export function pictureOf(base64: string): string | null {
  const known = made.get(base64);
  if (known) return known;
  let start: string;
  try {
    start = atob(base64.slice(0, 24));
  } catch {
    return null;
  }
  const kind = KINDS.find(([, bytes]) => bytes.test(start))?.[0];
  if (!kind) return null;
  if (made.size >= MADE_MAX) {
    made.forEach((url) => URL.revokeObjectURL(url));
    made.clear();
  }
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const url = URL.createObjectURL(new Blob([bytes], { type: kind }));
  made.set(base64, url);
  return url;
}
