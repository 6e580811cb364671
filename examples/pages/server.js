// Static files on a port of this machine's choice.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json",
  ".txt": "text/plain; charset=utf-8", ".jpg": "image/jpeg", ".png": "image/png", ".wasm": "application/wasm",
};

/** The file that is asked for, and its size; none where the address is not one of a file in the folder. */
function asked(folder, url) {
  try {
    const path = normalize(decodeURIComponent(new URL(url, "http://local").pathname));
    const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
    const status = statSync(file);
    return status.isFile() ? { file, size: status.size } : undefined;
  } catch {
    return undefined;
  }
}

/** Serves a folder; the address and how to end it. */
export async function serve(folder, port = 0) {
  const server = createServer((request, response) => {
    const found = asked(folder, request.url);
    if (!found) {
      response.writeHead(404).end();
      return;
    }
    const type = TYPES[extname(found.file)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "content-length": found.size }); // pages say how much is there
    createReadStream(found.file).pipe(response);
  });
  await new Promise((listening, refused) => {
    server.once("error", refused);
    server.listen(port, "127.0.0.1", listening);
  });
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
