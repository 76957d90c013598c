// Builds ../dist from src: the same bytes from the same sources, on every machine.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { coast } from "./coast.mjs";

const web = dirname(fileURLToPath(import.meta.url));
const dist = join(web, "..", "dist");
const TYPES = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  txt: "text/plain; charset=utf-8",
  bin: "application/octet-stream",
};

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Packs bytes; the header of gzip names no system and no time. */
function pack(bytes) {
  const packed = gzipSync(bytes, { level: 9 });
  packed[9] = 255;
  return packed;
}

/** The licence of each package whose code is in the bundle. */
function licences(metafile) {
  const used = new Set();
  for (const output of Object.values(metafile.outputs)) {
    for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
      const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
      if (found && bytesInOutput > 0) used.add(found[1]);
    }
  }
  used.add("world-atlas");
  return [...used].sort().map((name) => {
    const folder = join(web, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    const text = file ? readFileSync(join(folder, file), "utf8").trim() : "";
    if (!text) throw new Error(`${name} has no licence text`);
    return `${name} ${version} (${license})\n\n${text}\n`;
  }).join(`\n${"-".repeat(72)}\n\n`);
}

const bundle = await build({
  absWorkingDir: web,
  entryPoints: { app: "src/main.ts", style: "src/app.css" },
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  minify: true,
  metafile: true,
  write: false,
  outdir: "out",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  legalComments: "none",
  charset: "utf8",
  define: { COAST: JSON.stringify(`coast-${sha256(coast()).slice(0, 8).toUpperCase()}.bin`) },
});

const files = new Map();
for (const { path, contents } of bundle.outputFiles) files.set(relative(join(web, "out"), path), contents);
files.set(`coast-${sha256(coast()).slice(0, 8).toUpperCase()}.bin`, coast());
files.set("LICENSES.txt", Buffer.from(licences(bundle.metafile)));
const named = (start, end) => [...files.keys()].find((name) => name.startsWith(start) && name.endsWith(end));
const page = readFileSync(join(web, "src", "index.html"), "utf8")
  .replace("APP", named("app-", ".js"))
  .replace("STYLE", named("style-", ".css"));
files.set("index.html", Buffer.from(page));

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
const entries = [];
for (const name of [...files.keys()].sort()) {
  const packed = pack(files.get(name));
  writeFileSync(join(dist, `${name}.gz`), packed);
  const type = TYPES[name.split(".").pop()];
  const tag = sha256(packed).slice(0, 16);
  const fixed = /-[0-9A-Z]{8}\.\w+$/.test(name);
  entries.push(`    Asset {
        name: ${JSON.stringify(name)},
        bytes_gz: include_bytes!("${name}.gz"),
        content_type: ${JSON.stringify(type)},
        etag: "\\"${tag}\\"",
        is_unchanging: ${fixed},
    },\n`);
}
writeFileSync(join(dist, "assets.in"), `&[\n${entries.join("")}]\n`);

/** All files of a folder, sorted, without what npm puts there. */
function walk(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === "node_modules") return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? walk(path) : [path];
  });
}
const root = join(web, "..");
const sums = [...walk(web), ...walk(dist)]
  .map((path) => relative(root, path))
  .sort()
  .map((path) => `${sha256(readFileSync(join(root, path)))}  ${path}\n`);
if (existsSync(join(dist, "SUMS"))) throw new Error("dist was not emptied");
writeFileSync(join(dist, "SUMS"), sums.join(""));

for (const name of readdirSync(dist)) console.log(String(readFileSync(join(dist, name)).length).padStart(8), name);
