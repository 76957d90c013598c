// The form for a user's name and password, or for a token. Scripts keep neither.
import { useState } from "preact/hooks";
import { post, Refused } from "./api";
import { html } from "./html";

export function Login({ onDone }: { onDone: () => void }) {
  const [failure, setFailure] = useState("");
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    setBusy(true);
    setFailure("");
    try {
      const user = String(given.get("user")) || undefined;
      await post("/v1/login", { user, secret: String(given.get("secret")) });
      form.reset();
      onDone();
    } catch (error) {
      setFailure(error instanceof Refused ? error.problem.detail : String(error));
    } finally {
      setBusy(false);
    }
  };
  return html`<main class="login">
    <form onSubmit=${submit} class="card">
      <h1><span class="mark" aria-hidden="true"></span>Tonnage</h1>
      <label>User <input name="user" autocomplete="username" autofocus /></label>
      <label>Password <input name="secret" type="password" autocomplete="current-password" required /></label>
      <p class="hint">With a token, leave the user empty.</p>
      <div role="alert">${failure && html`<p class="failure">${failure}</p>`}</div>
      <button class="primary" disabled=${isBusy}>${isBusy ? "Checking" : "Log in"}</button>
    </form>
  </main>`;
}
