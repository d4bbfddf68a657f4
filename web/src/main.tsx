import { answer } from "./bridge.ts";

declare global {
  // eslint-disable-next-line no-var
  var rosenblattLab: { answer: (text: string) => string };
}
globalThis.rosenblattLab = { answer };
