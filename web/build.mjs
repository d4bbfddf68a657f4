/** Build the page: one HTML file with its style and script, into the Python package or the folder given. */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(here, "..", "src", "rosenblatt", "lab");
const MOST = 280_000;

async function bundled(entry, options) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    write: false,
    legalComments: "none",
    charset: "utf8",
    target: ["chrome110", "firefox115", "safari16.4"],
    ...options,
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `sha256-${createHash("sha256").update(text, "utf8").digest("base64")}`;
const script = (await bundled("main.tsx", { format: "iife", jsx: "automatic", jsxImportSource: "preact" })).replaceAll("</script", "<\\/script");
const style = await bundled("style.css", {});
const page = readFileSync(join(here, "src", "page.html"), "utf8")
  .replace("SCRIPT-HASH", () => hash(script))
  .replace("STYLE-HASH", () => hash(style))
  .replace("STYLE", () => style)
  .replace("SCRIPT<", () => `${script}<`);
const bytes = Buffer.byteLength(page);
if (bytes > MOST) throw new Error(`The page has ${bytes} bytes; at most ${MOST} are allowed.`);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "index.html"), page);
console.log(`${bytes} bytes, ${gzipSync(page, { level: 9 }).length} gzipped`);
