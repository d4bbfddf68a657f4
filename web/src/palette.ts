/** Colours by Okabe and Ito, which people with any colour vision tell apart, for light and dark. */

import { type Signal, computed, signal } from "@preact/signals";
import { theme } from "./player.ts";

/** Whether a media query holds, kept up to date; false where there is no screen. */
function holds(query: string): Signal<boolean> {
  const media = typeof matchMedia === "undefined" ? null : matchMedia(query);
  const found = signal(media?.matches ?? false);
  media?.addEventListener("change", (event) => (found.value = event.matches));
  return found;
}

const prefers = holds("(prefers-color-scheme: dark)");
export const wide = holds("(min-width: 1180px)");

export const dark = computed(() => (theme.value === "auto" ? prefers.value : theme.value === "dark"));

export interface Palette {
  readonly paper: string;
  readonly ink: string;
  readonly faint: string;
  readonly grid: string;
  readonly outline: string;
  readonly plus: string;
  readonly minus: string;
  readonly wrong: string;
  readonly right: string;
  readonly average: string;
  readonly pocket: string;
  readonly tint: number;
  /** One for each class; the first two are minus and plus. */
  readonly classes: readonly string[];
}

export const palette = computed<Palette>(() =>
  dark.value
    ? { paper: "#14181d", ink: "#f2f4f6", faint: "#98a2ad", grid: "#262c34", outline: "#05070a", plus: "#e69f00", minus: "#56b4e9", wrong: "#ff7a3d", right: "#2fc79a", average: "#2fc79a", pocket: "#e79ac4", tint: 0.13, classes: ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00", "#5b8ff0", "#b8c0c8"] }
    : { paper: "#ffffff", ink: "#15191e", faint: "#5b6570", grid: "#e8ebee", outline: "#15191e", plus: "#e69f00", minus: "#0072b2", wrong: "#c44900", right: "#00795a", average: "#00795a", pocket: "#a34a80", tint: 0.11, classes: ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8a939c"] },
);
