// The editor of statements. It lives in a shadow root: there it styles itself without elements that
// the policy of the page forbids.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { PostgreSQL, sql } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { isDark } from "../theme";

const colours = (dark: boolean) =>
  HighlightStyle.define([
    { tag: tags.keyword, color: dark ? "#8cc4ff" : "#0b4f9c", fontWeight: "600" },
    { tag: [tags.string, tags.special(tags.string)], color: dark ? "#a5dba8" : "#1d6b2c" },
    { tag: [tags.number, tags.bool, tags.null], color: dark ? "#f0b98d" : "#97410c" },
    { tag: tags.comment, color: dark ? "#a2adbb" : "#5a6572", fontStyle: "italic" },
    { tag: [tags.typeName, tags.standard(tags.name)], color: dark ? "#c9b3f5" : "#5b3aa8" },
  ]);

const look = (dark: boolean) =>
  EditorView.theme(
    {
      "&": { height: "100%", fontSize: "14px", color: "var(--text)", backgroundColor: "var(--card)" },
      ".cm-scroller": { fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace' },
      ".cm-content": { caretColor: "var(--text)" },
      ".cm-gutters": { backgroundColor: "var(--head)", color: "var(--faint)", border: "none" },
      ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
      "&.cm-focused": { outline: "none" },
      ".cm-cursor": { borderLeftColor: "var(--text)" },
      ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--text)", border: "1px solid var(--line)" },
      ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-text)" },
      ".cm-placeholder": { color: "var(--faint)" },
    },
    { dark },
  );

export interface Editor {
  text(): string;
  /** Shows a statement by its number, as it was left; of a new one this text. */
  open(id: number, text: string): void;
  forget(id: number): void;
  set(text: string): void;
  focus(): void;
  complete(schema: Record<string, string[]>): void;
  recolour(): void;
  /** Marks a place, counted from 1, or none. */
  mark(problem: { line: number; column: number; detail: string } | null): void;
  close(): void;
}

export function openEditor(host: HTMLElement, onRun: () => void, onChange: (text: string) => void): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const language = new Compartment();
  const style = new Compartment();
  const styled = () => [look(isDark.value), syntaxHighlighting(colours(isDark.value))];
  const spoken = (names: Record<string, string[]>) => sql({ dialect: PostgreSQL, schema: names, upperCaseKeywords: true });
  let schema: Record<string, string[]> = {};
  const stateOf = (text: string): EditorState => EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(), history(), bracketMatching(), closeBrackets(), autocompletion(), lintGutter(),
      placeholder("SELECT ..."),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": "Statement" }),
      keymap.of([
        { key: "Mod-Enter", run: () => (onRun(), true) },
        ...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap,
      ]),
      EditorView.updateListener.of((update) => update.docChanged && onChange(update.state.doc.toString())),
      language.of(spoken(schema)),
      style.of(styled()),
    ],
  });
  let shown = 0;
  // Each has its own selection and its own steps to undo.
  const left = new Map<number, EditorState>();
  const view = new EditorView({ state: stateOf(""), parent: root, root });
  const dress = (): void => view.dispatch({ effects: [language.reconfigure(spoken(schema)), style.reconfigure(styled())] });
  return {
    text: () => view.state.doc.toString(),
    open(id, text) {
      if (id === shown) return;
      if (shown !== 0) left.set(shown, view.state);
      view.setState(left.get(id) ?? stateOf(text));
      shown = id;
      dress();
    },
    forget: (id) => void left.delete(id),
    set: (changed) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: changed } }),
    focus: () => view.focus(),
    complete(names) {
      schema = names;
      dress();
    },
    recolour: dress,
    mark(problem) {
      const found: Diagnostic[] = [];
      if (problem && problem.line >= 1 && problem.line <= view.state.doc.lines) {
        const line = view.state.doc.line(problem.line);
        const from = Math.min(line.from + Math.max(problem.column - 1, 0), line.to);
        const word = /^\w+/.exec(view.state.sliceDoc(from, line.to))?.[0].length ?? 1;
        found.push({ from, to: Math.min(from + word, view.state.doc.length), severity: "error", message: problem.detail });
      }
      view.dispatch(setDiagnostics(view.state, found));
    },
    close: () => view.destroy(),
  };
}
