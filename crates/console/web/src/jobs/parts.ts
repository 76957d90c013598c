// What became of the records of a load, as a bar.
import { html } from "../html";
import { whole } from "../numbers";
import type { Counts } from "./follow";

export function Parts({ counts }: { counts: Counts }) {
  const all = Math.max(counts.read, 1);
  const parts: [string, number][] = [["inserted", counts.inserted], ["existed", counts.existed + counts.overtaken], ["failed", counts.failed]];
  return html`<div class="parts" role="img" aria-label=${parts.map(([name, count]) => `${whole(count)} ${name}`).join(", ")}>${parts.map(
    ([name, count]) => count > 0 && html`<span class=${name} ref=${(element: HTMLElement | null) => void (element && (element.style.width = `${(count / all) * 100}%`))}></span>`,
  )}</div>`;
}
