// The value of a pair: a picture, JSON, text, or bytes.
import { html } from "../html";
import { pictureOf } from "../picture";

/** The value as text; nothing for bytes that are none. */
export function textOf(value: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(value);
  } catch {
    return null;
  }
}

const HEX_BYTES = 1024;

function hexOf(value: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(value.length, HEX_BYTES); at += 16) {
    const row = [...value.slice(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${letters}`);
  }
  return lines.join("\n");
}

function base64Of(value: Uint8Array): string {
  let text = "";
  for (let at = 0; at < value.length; at += 8192) text += String.fromCharCode(...value.subarray(at, at + 8192));
  return btoa(text);
}

export function Value({ value, name }: { value: Uint8Array; name: string }) {
  const picture = pictureOf(base64Of(value));
  if (picture) return html`<img class="whole" src=${picture} alt=${`picture of ${name}`} />`;
  const text = textOf(value);
  if (text === null) return html`<pre class="card" tabindex="0">${hexOf(value)}</pre>
    ${value.length > HEX_BYTES && html`<p class="hint">The first ${HEX_BYTES} bytes.</p>`}`;
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // It is text, and no JSON.
  }
  return html`<pre class="card" tabindex="0">${shown}</pre>`;
}
