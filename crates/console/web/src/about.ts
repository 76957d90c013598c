// What this is, who looks at it, and whose work is in it.
import type { Me } from "./api";
import { html } from "./html";

export function About({ me }: { me: Me }) {
  const rights = [
    ...me.roles.map((role) => `role ${role}`),
    ...me.grants.map((grant) => `${grant.allow.join(", ")} on ${grant.table ? `table ${grant.table}` : `pairs ${grant.pairs}`}`),
  ];
  return html`<section>
    <h1>About</h1>
    <dl class="facts">
      <dt>Version</dt><dd>${me.version}</dd>
      <dt>User</dt><dd>${me.user ?? "anybody: the server has no users"}</dd>
      <dt>Rights</dt><dd>${me.has_users ? rights.join("; ") || "none" : "everything"}</dd>
    </dl>
    <p>The page calls its own server and no other. It may do what its user may do.
      <a href="/v1/openapi.json">The description of the calls</a> is for everybody.</p>
    <p><a href="LICENSES.txt">Licences of the packages in this page</a>. Coasts: Natural Earth, in the public domain.</p>
    <h2>Keys</h2>
    <dl class="facts">
      <dt><kbd>Ctrl</kbd> <kbd>Enter</kbd></dt><dd>runs the statement</dd>
      <dt><kbd>Esc</kbd>, then <kbd>Tab</kbd></dt><dd>leaves the editor</dd>
      <dt><kbd>↑</kbd> <kbd>↓</kbd> <kbd>←</kbd> <kbd>→</kbd></dt><dd>move in a grid, and move the map</dd>
      <dt><kbd>1</kbd> to <kbd>5</kbd></dt><dd>choose the span of the overview</dd>
      <dt><kbd>+</kbd> <kbd>-</kbd></dt><dd>zoom the map</dd>
    </dl>
  </section>`;
}
