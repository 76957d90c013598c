// Pairs of bytes: their keys by path, and the value of one.
import { useEffect, useState } from "preact/hooks";
import { type Me, said } from "../api";
import { html } from "../html";
import { bytes } from "../numbers";
import { address, note, place } from "../router";
import { deletePair, type ListedPair, listKeys, PAGE, readPair, type StoredPair, writePair } from "./calls";
import { textOf, Value } from "./value";

function Keys({ path, chosen, onPath }: { path: string; chosen: string | null; onPath: (path: string) => void }) {
  const [keys, setKeys] = useState<ListedPair[] | null>(null);
  const [isMore, setMore] = useState(false);
  const [failure, setFailure] = useState("");
  const take = async (known: ListedPair[]): Promise<void> => {
    try {
      const page = await listKeys(path, known[known.length - 1]?.key ?? null);
      setKeys([...known, ...page]);
      setMore(page.length === PAGE);
      setFailure("");
    } catch (error) {
      setFailure(said(error));
    }
  };
  useEffect(() => void take([]), [path]);
  const begin = path.length > 1 ? path : "/";
  return html`<aside aria-label="Keys"><label class="unseen" for="path">Path</label>
    <input id="path" type="search" placeholder="/path/of/a/key" value=${begin} onChange=${(event: Event) => onPath((event.target as HTMLInputElement).value || "/")} />
    ${failure && html`<p class="failure" role="alert">${failure}</p>`}
    ${!keys ? html`<p class="hint">${failure ? "" : "Loading"}</p>` : keys.length === 0 ? html`<p class="hint">No pair is at or below this path.</p>`
      : html`<ul class="tree">${keys.map(({ key }) => html`<li key=${key}><a href=${address("pairs", { path, key })} aria-current=${key === chosen ? "true" : undefined}>${key}</a></li>`)}</ul>`}
    ${isMore && html`<button onClick=${() => void take(keys ?? [])}>More</button>`}</aside>`;
}

interface OneProps {
  keyText: string;
  me: Me;
  onGone: () => void;
}

function One({ keyText, me, onGone }: OneProps) {
  const [pair, setPair] = useState<StoredPair | null>(null);
  const [draft, setDraft] = useState<string | null>(null);
  const [isSure, setSure] = useState(false);
  const [failure, setFailure] = useState("");
  const [done, setDone] = useState("");
  const look = async (): Promise<void> => {
    setPair(await readPair(keyText));
    setDraft(null);
    setSure(false);
  };
  const guarded = (act: () => Promise<void>, outcome: string): void => {
    setFailure("");
    setDone("");
    act().then(() => setDone(outcome), (error: unknown) => setFailure(said(error)));
  };
  useEffect(() => guarded(look, ""), [keyText]);
  const may = (right: Me["allow"][number]): boolean => me.allow_pairs.includes(right);
  const text = pair && textOf(pair.value);
  return html`<section class="table" aria-label="Pair"><div class="tools"><h1>${keyText}</h1><span class="spring"></span>
      ${pair && may("update") && text !== null && draft === null && html`<button onClick=${() => setDraft(text)}>Edit</button>`}
      ${pair && may("delete") && (isSure
        ? html`<button class="danger" onClick=${() => guarded(async () => { await deletePair(keyText, pair.etag); onGone(); }, "")}>Delete the pair</button><button onClick=${() => setSure(false)}>Keep it</button>`
        : html`<button onClick=${() => setSure(true)}>Delete</button>`)}</div>
    ${failure && html`<p class="failure" role="alert">${failure}</p>`}
    <p class="hint" role="status">${done}</p>
    ${pair && html`<p class="hint">${bytes(pair.value.length)}, version ${pair.etag.replaceAll('"', "")}${pair.expiresMs ? `, until ${new Date(pair.expiresMs).toLocaleString()}` : ""}</p>
      ${draft === null ? html`<${Value} value=${pair.value} name=${keyText} />`
        : html`<label for="value" class="unseen">Value</label><textarea id="value" rows="14" spellcheck="false" value=${draft} onInput=${(event: Event) => setDraft((event.target as HTMLTextAreaElement).value)}></textarea>
          <div class="tools"><button class="primary" onClick=${() => guarded(async () => { await writePair(keyText, draft, pair.etag); await look(); }, "Saved")}>Save</button>
            <button onClick=${() => setDraft(null)}>Leave it as it is</button></div>`}`}</section>`;
}

function New({ onMade }: { onMade: (key: string) => void }) {
  const [key, setKey] = useState("/");
  const [value, setValue] = useState("");
  const [failure, setFailure] = useState("");
  const make = (): void => {
    setFailure("");
    writePair(key, value, null).then(() => onMade(key), (error: unknown) => setFailure(said(error)));
  };
  return html`<section class="table" aria-label="New pair"><h1>New pair</h1>
    <label for="key">Key</label><input id="key" value=${key} onInput=${(event: Event) => setKey((event.target as HTMLInputElement).value)} />
    <label for="value">Value</label><textarea id="value" rows="8" spellcheck="false" value=${value} onInput=${(event: Event) => setValue((event.target as HTMLTextAreaElement).value)}></textarea>
    ${failure && html`<p class="failure" role="alert">${failure}</p>`}
    <div class="tools"><button class="primary" disabled=${key.length < 2} onClick=${make}>Store</button></div></section>`;
}

export default function PairsScreen({ me }: { me: Me }) {
  const path = place.value.query.get("path") ?? "/";
  const chosen = place.value.query.get("key");
  // A new key changes the list, and so does one that is deleted.
  const [turn, setTurn] = useState(0);
  const go = (query: Record<string, string>): void => {
    note("pairs", query);
    place.value = { screen: "pairs", query: new URLSearchParams(query) };
    setTurn((turn) => turn + 1);
  };
  return html`<${Keys} key=${turn} path=${path} chosen=${chosen} onPath=${(path: string) => go({ path })} />
    ${chosen ? html`<${One} key=${chosen} keyText=${chosen} me=${me} onGone=${() => go({ path })} />`
      : me.allow_pairs.includes("insert") ? html`<${New} onMade=${(key: string) => go({ path, key })} />`
      : html`<section class="table"><h1>Pairs</h1><p class="hint">Choose a key.</p></section>`}`;
}
