// A plan as a tree: EXPLAIN tells it as lines, deeper ones further right.
import { html } from "../html";

interface Step {
  text: string;
  children: Step[];
}

export function parsePlan(text: string): Step[] {
  const roots: Step[] = [];
  const open: { indent: number; step: Step }[] = [];
  for (const line of text.split("\n")) {
    if (!line.trim()) continue;
    const indent = line.length - line.trimStart().length;
    while (open.length > 0 && open[open.length - 1]!.indent >= indent) open.pop();
    const step = { text: line.trim(), children: [] };
    (open[open.length - 1]?.step.children ?? roots).push(step);
    open.push({ indent, step });
  }
  return roots;
}

/** How a scan finds its rows, which is what to look at first in a slow statement. */
const WAY = /\bpath=(.*?)(?=, columns=|$)/;

function Detail({ text }: { text: string }) {
  const found = WAY.exec(text);
  if (!found) return html`<span>${text}</span>`;
  const way = found[1]!.trim();
  return html`<span>${text.slice(0, found.index)}<span class=${`pill ${way.startsWith("full scan") ? "warn" : "good"}`}>${way}</span>${text.slice(found.index + found[0].length)}</span>`;
}

function Steps({ steps }: { steps: Step[] }): unknown {
  return html`<ul>${steps.map(({ text, children }) => {
    const [, name = text, rest = ""] = /^([\w ]+?)(?::\s*(.*))?$/s.exec(text) ?? [];
    return html`<li><b>${name}</b>${rest && html` <${Detail} text=${rest} />`}${children.length > 0 && html`<${Steps} steps=${children} />`}</li>`;
  })}</ul>`;
}

export function Plan({ parts }: { parts: [string, string][] }) {
  return html`<div class="plan" tabindex="0" role="region" aria-label="Plan">${parts.map(
    ([kind, text]) => html`<h2>${kind.charAt(0).toUpperCase() + kind.slice(1).replaceAll("_", " ")}</h2><${Steps} steps=${parsePlan(text)} />`,
  )}</div>`;
}
