// Stands in for npm where tests must not need it: the two commands that Writ uses, for a registry
// that has all files of a package in one answer. It fails as npm fails.
"use strict";
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");

const words = process.argv.slice(2);
const registry = process.env.npm_config_registry;

function fail(code, summary) {
  console.log(JSON.stringify({ error: { code, summary } }));
  process.exit(1);
}

if (words[0] === "config") {
  console.log(words[2] === "registry" ? registry : "undefined");
} else if (!words.includes("--ignore-scripts")) {
  fail("ESCRIPTS", "scripts would have been run");
} else {
  const spec = words[words.length - 1];
  const at = spec.indexOf("@", 1);
  const name = at < 0 ? spec : spec.slice(0, at);
  const proxy = new URL(process.env.http_proxy);
  http
    .get(
      { host: proxy.hostname, port: proxy.port, path: `${registry}/${name}`, headers: { Host: new URL(registry).host } },
      (answer) => {
        let body = "";
        answer.on("data", (piece) => (body += piece));
        answer.on("end", () => install(name, answer.statusCode, body));
      },
    )
    .on("error", (e) => fail(e.code, e.message));
}

function install(name, status, body) {
  if (status === 502) fail("ECONNREFUSED", "no answer");
  if (status !== 200) fail("E" + status, "Not Found");
  const found = JSON.parse(body);
  if (found.broken) fail("EINTEGRITY", "other bytes than the registry has the digest of");
  if (found.garbage) {
    console.log("not JSON");
    process.exit(1);
  }
  const folder = path.join("node_modules", name);
  for (const [file, text] of Object.entries(found.files)) {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    fs.writeFileSync(path.join(folder, file), text);
  }
  const entry = { version: found.version, integrity: found.integrity, hasInstallScript: found.scripts };
  fs.writeFileSync(
    "node_modules/.package-lock.json",
    JSON.stringify({ packages: { ["node_modules/" + name]: entry } }),
  );
  console.log("{}");
}
