/** The marks of classes: each has a shape and a colour of its own, so that either tells classes apart. */

import type { JSX } from "preact";
import { MARKS, palette } from "./palette.ts";

type Corner = readonly [number, number];

const ring = (n: number, r: number, turn: number): Corner[] => Array.from({ length: n }, (_, k) => [r * Math.sin((2 * Math.PI * k) / n + turn), -r * Math.cos((2 * Math.PI * k) / n + turn)]);
const arm = 0.38;

/** Corners of each shape for radius 1; none for a circle. */
const SHAPES: Record<(typeof MARKS)[number], readonly Corner[]> = {
  circle: [],
  plus: [[-arm, -1.15], [arm, -1.15], [arm, -arm], [1.15, -arm], [1.15, arm], [arm, arm], [arm, 1.15], [-arm, 1.15], [-arm, arm], [-1.15, arm], [-1.15, -arm], [-arm, -arm]],
  triangle: ring(3, 1.3, 0),
  diamond: ring(4, 1.25, 0),
  square: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
  "triangle down": ring(3, 1.3, Math.PI),
  pentagon: ring(5, 1.1, 0),
  star: Array.from({ length: 10 }, (_, k): Corner => ring(10, k % 2 ? 0.55 : 1.35, 0)[k]),
};

const corners = (code: number): readonly Corner[] => SHAPES[MARKS[code % MARKS.length]];

/** Colours come round with the shapes, one further each time, so that 64 classes differ. */
export function colourOf(code: number): string {
  const { classes } = palette.value;
  return classes[(code + Math.floor(code / MARKS.length)) % classes.length];
}

/** Add a mark to the path of a canvas. */
export function draw(context: CanvasRenderingContext2D, code: number, x: number, y: number, r: number): void {
  const all = corners(code);
  if (!all.length) {
    context.moveTo(x + r, y);
    context.arc(x, y, r, 0, 2 * Math.PI);
    return;
  }
  context.moveTo(x + all[0][0] * r, y + all[0][1] * r);
  for (let k = 1; k < all.length; k++) context.lineTo(x + all[k][0] * r, y + all[k][1] * r);
  context.closePath();
}

/** A mark as the d of an SVG path. */
export function markPath(code: number, x: number, y: number, r: number): string {
  const all = corners(code);
  if (!all.length) return `M${(x + r).toFixed(2)} ${y.toFixed(2)}a${r} ${r} 0 1 0 ${-2 * r} 0a${r} ${r} 0 1 0 ${2 * r} 0z`;
  return `M${all.map(([a, b]) => `${(x + a * r).toFixed(2)} ${(y + b * r).toFixed(2)}`).join("L")}z`;
}

/** The mark of a class, in text. */
export function Badge({ code }: { code: number }): JSX.Element {
  return (
    <svg class="mark" width="15" height="15" viewBox="-7.5 -7.5 15 15" aria-hidden="true" focusable="false">
      <path d={markPath(code, 0, 0, 5)} fill={colourOf(code)} stroke={palette.value.outline} stroke-width="1.4" stroke-linejoin="round" />
    </svg>
  );
}
