// Builds an example's page and serves it on this computer.
//
//   node examples/pages/serve.js NAME [PORT]       NAME: browser or ocr
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { serve } from "./server.js";

const examples = join(import.meta.dirname, "..");
const names = readdirSync(examples).filter((name) => existsSync(join(examples, name, "index.html")));

function fail(why) {
  console.error(`serve.js: ${why}`);
  process.exit(1);
}

const [name, port = "8080", ...more] = process.argv.slice(2);
if (!names.includes(name) || more.length > 0) fail(`one of ${names.join(", ")} expected, and a port if 8080 is not free`);
if (!/^\d+$/.test(port) || Number(port) > 65535) fail(`the port is ${JSON.stringify(port)}, a number up to 65535 expected`);

// The port first: building takes minutes.
const { address } = await serve(join(examples, "../target", name), Number(port)).catch(({ code, message }) =>
  fail(code === "EADDRINUSE" ? `port ${port} is in use, give another: node examples/pages/serve.js ${name} PORT` : message));
spawn(join(import.meta.dirname, "build.sh"), [name], { stdio: "inherit" }).on("exit", (code) => {
  if (code !== 0) fail(`the page of ${name} could not be built`);
  console.log(`The page is at ${address} (Ctrl-C ends it).`);
});
