// The users, how they log in, and what they may do.
import { useEffect, useState } from "preact/hooks";
import { readPlain, type Right, said } from "../api";
import { html } from "../html";
import { loadTables, tables } from "../sql/catalog";

interface Grant {
  table?: string;
  pairs?: string;
  allow: Right[];
}

interface User {
  name: string;
  has_password: boolean;
  tokens: number;
  certificates: number;
  roles: string[];
  grants: Grant[];
  allow?: Right[];
}

const many = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

function logins(user: User): string {
  const ways = [user.has_password && "password", user.tokens > 0 && many(user.tokens, "token"), user.certificates > 0 && many(user.certificates, "certificate")];
  return ways.filter(Boolean).join(", ") || "no login";
}

const grantText = ({ table, pairs, allow }: Grant): string => `${table ?? `pairs ${pairs}`}: ${allow.join(", ")}`;

export function Users() {
  const [users, setUsers] = useState<User[] | null>(null);
  const [hasUsers, setHasUsers] = useState(true);
  const [table, setTable] = useState("");
  const [failure, setFailure] = useState("");
  useEffect(() => void loadTables().catch((error: unknown) => setFailure(said(error))), []);
  useEffect(() => {
    const query = table ? `?table=${encodeURIComponent(table)}` : "";
    readPlain<{ has_users: boolean; users: User[] }>(`/v1/users${query}`).then((answer) => {
      setUsers(answer.users);
      setHasUsers(answer.has_users);
      setFailure("");
    }, (error: unknown) => setFailure(said(error)));
  }, [table]);
  return html`<div class="tools"><h2>Users</h2><span class="spring"></span>
      <label>Who may do what with <select value=${table} onChange=${(event: Event) => setTable((event.target as HTMLSelectElement).value)}>
        <option value="">choose a table</option>${tables.value.map(({ path }) => html`<option value=${path} selected=${path === table}>${path}</option>`)}</select></label></div>
    ${failure && html`<p class="failure" role="alert">${failure}</p>`}
    ${!users ? html`<p class="hint">${failure ? "" : "Loading"}</p>`
      : !hasUsers ? html`<p class="notice">This server has no users: everyone who reaches it may do everything. Start it with <code>--users</code> and a file of them.</p>`
      : html`<div class="scrolls" tabindex="0" role="region" aria-label="Users"><table class="plain numbers">
        <thead><tr><th scope="col">User</th><th scope="col" class="text">Logs in by</th><th scope="col" class="text">Roles</th><th scope="col" class="text">Grants</th>${table && html`<th scope="col" class="text">May with ${table}</th>`}</tr></thead>
        <tbody>${users.map((user) => html`<tr key=${user.name}><th scope="row">${user.name}</th><td class="text">${logins(user)}</td>
          <td class="text">${user.roles.map((role) => html`<span class="pill">${role}</span> `)}</td>
          <td class="text wraps">${user.grants.map((grant) => html`<div>${grantText(grant)}</div>`)}</td>
          ${table && html`<td class="text"><span class=${user.allow && user.allow.length > 0 ? "pill good" : "pill"}>${user.allow?.join(", ") || "nothing"}</span></td>`}</tr>`)}</tbody>
      </table></div>`}`;
}
