// Builds the files that the Python package carries: the drawing module for any page, and the scripts of the report and of
// the explorer with it inside. `--check` builds again and compares with what is committed.
import {build} from "esbuild";
import {readFile, writeFile} from "node:fs/promises";

const into = new URL("../src/icefield/page/", import.meta.url);
const common = {bundle: true, minify: true, charset: "utf8", target: "es2022", legalComments: "none", write: false};
const files = [
  {name: "draw.js", entryPoints: ["source/index.js"], format: "esm"},
  {name: "report.js", entryPoints: ["source/report/main.js"], format: "iife"},
  {name: "live.js", entryPoints: ["source/live/start.js"], format: "iife"},
  {name: "explore.js", entryPoints: ["source/explore/index.js"], format: "esm", loader: {".css": "text"}},
];
let stale = false;
for (const {name, ...options} of files) {
  const built = await build({...common, ...options, absWorkingDir: new URL(".", import.meta.url).pathname});
  const text = built.outputFiles[0].text, path = new URL(name, into);
  if (process.argv.includes("--check")) {
    const kept = await readFile(path, "utf8").catch(() => "");
    if (kept !== text) { stale = true; console.error(`${name} is not what its source gives: run \`make page\` and commit it`); }
  } else {
    await writeFile(path, text);
    console.log(`${name}: ${(text.length / 1024).toFixed(1)} kB`);
  }
}
process.exitCode = stale ? 1 : 0;
