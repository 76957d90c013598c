// Users and the audit log, for administrators.
import { html } from "../html";
import { Audit } from "./audit";
import { Users } from "./users";

export default function SecurityScreen() {
  return html`<h1>Security</h1><${Users} /><${Audit} />`;
}
