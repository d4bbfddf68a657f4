/** Bundle the tests, and run them with node's own runner. */

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const names = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
const outdir = join(here, "..", ".build");
await build({ entryPoints: names.map((name) => join(here, name)), bundle: true, platform: "node", format: "esm", outdir, outExtension: { ".js": ".mjs" } });
const files = names.map((name) => join(outdir, name.replace(/\.ts$/, ".mjs")));
process.exit(spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1);
