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
export const narrow = holds("(max-width: 719px)");

/** The theme that the page around a frame tells: a message { theme: "dark" }. */
const around = signal<"dark" | "light" | null>(null);
if (typeof window !== "undefined" && window.parent !== window) {
  addEventListener("message", ({ source, data }: MessageEvent) => {
    if (source === window.parent && (data?.theme === "dark" || data?.theme === "light")) around.value = data.theme;
  });
}

export const dark = computed(() => (theme.value === "auto" ? (around.value ? around.value === "dark" : prefers.value) : theme.value === "dark"));

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

/** Colours and marks mean the same in Python's pictures: a test compares these with `src/rosenblatt/plot/style.py`. */
const LIGHT: Palette = {
  paper: "#ffffff", ink: "#15191e", faint: "#5b6570", grid: "#e8ebee", outline: "#15191e", tint: 0.11,
  plus: "#0072b2", minus: "#d55e00", wrong: "#b00020", right: "#00795a", average: "#00795a", pocket: "#a34a80",
  classes: ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255", "#999933"],
};
const DARK: Palette = {
  paper: "#14181d", ink: "#f2f4f6", faint: "#98a2ad", grid: "#262c34", outline: "#05070a", tint: 0.13,
  plus: "#56b4e9", minus: "#f08a3c", wrong: "#ff8a93", right: "#2fc79a", average: "#2fc79a", pocket: "#e79ac4",
  classes: ["#f08a3c", "#56b4e9", "#00b486", "#e79ac4", "#f0e442", "#8f9bff", "#c95f8e", "#b8b36a"],
};

/** The mark of each class; of two, the first is minus. */
export const MARKS = ["circle", "plus", "triangle", "diamond", "square", "triangle down", "pentagon", "star"] as const;

export const palette = computed<Palette>(() => (dark.value ? DARK : LIGHT));
