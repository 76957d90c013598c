// Light or dark: the system's choice, unless this browser was told another one.
import { signal } from "@preact/signals";

const KEY = "tonnage.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const chosen = (): string | null => localStorage.getItem(KEY);

export const isDark = signal(false);

function apply(): void {
  isDark.value = (chosen() ?? (dark.matches ? "dark" : "light")) === "dark";
  document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
}

export function toggleTheme(): void {
  localStorage.setItem(KEY, isDark.value ? "light" : "dark");
  apply();
}

dark.addEventListener("change", apply);
apply();
