// Sends a file, and tells how far it got: fetch does not tell that of what it sends.
import { onLoggedOut, parseExactly, type Problem, Refused } from "../api";

export interface Sending<T> {
  answer: Promise<T>;
  cancel: () => void;
}

/** Sends a body. `onSent` hears the share that has left, and 1 once the server has all of it. */
export function send<T>(path: string, body: Blob, kind: string, onSent: (share: number) => void): Sending<T> {
  const request = new XMLHttpRequest();
  const answer = new Promise<T>((resolve, reject) => {
    const fail = (status: number, title: string, detail: string): void => reject(new Refused({ status, title, detail }));
    request.upload.addEventListener("progress", (event) => event.lengthComputable && onSent(event.loaded / event.total));
    request.upload.addEventListener("load", () => onSent(1));
    request.addEventListener("error", () => fail(0, "unreachable", "the server does not answer, or took no more: is it running?"));
    request.addEventListener("abort", () => fail(0, "cancelled", "cancelled"));
    request.addEventListener("load", () => {
      if (request.status === 401) onLoggedOut();
      if (request.status >= 200 && request.status < 300) return resolve(parseExactly(request.responseText) as T);
      let told: Partial<Problem> = {};
      try {
        told = JSON.parse(request.responseText) as Partial<Problem>;
      } catch {
        // A proxy may answer in its own words.
      }
      reject(new Refused({ title: "failed", ...told, detail: told.detail ?? request.statusText, status: request.status }));
    });
    request.open("POST", path);
    request.setRequestHeader("Content-Type", kind);
    request.setRequestHeader("Accept", "application/json");
    request.send(body);
  });
  return { answer, cancel: () => request.abort() };
}
