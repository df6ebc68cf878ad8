// A server that misbehaves by a script: it is slow, refuses, cuts bodies, and changes between pages. A test in another
// language sends its script, and reads what came, by HTTP.

import { createServer } from "node:http";

/**
 * An answer of a script. `body` is a text, or JSON if it is no text. `delay` are seconds before the answer, `drip` seconds
 * between its bytes; `cut` is the number of bytes after which the connection ends, and `reset` ends it at once. `chunked`
 * leaves out the length.
 *
 * @typedef {{status?: number, headers?: Record<string, string>, body?: unknown, delay?: number, drip?: number, cut?: number,
 *   reset?: boolean, chunked?: boolean}} Scripted
 */

const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

export async function startFaulty() {
  const faulty = { /** @type {Scripted[]} */ script: [], calls: [] };
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    if (request.url === "/script") {
      faulty.script = JSON.parse(body);
      faulty.calls.length = 0;
      return response.end();
    }
    if (request.url === "/calls") return response.end(JSON.stringify(faulty.calls));
    faulty.calls.push({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body,
      at: Date.now() / 1000,
    });
    // The last answer is given again and again.
    const next = faulty.script.length > 1 ? faulty.script.shift() : faulty.script[0];
    await answer(response, next ?? { status: 500 }).catch(() => response.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  faulty.url = `http://127.0.0.1:${server.address().port}`;
  faulty.play = (...script) => {
    faulty.script = script;
    faulty.calls.length = 0;
  };
  faulty.stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return faulty;
}

/** @param {Scripted} scripted */
async function answer(response, { status = 200, headers = {}, body = "", delay = 0, drip, cut, reset, chunked }) {
  if (delay) await sleep(delay);
  if (reset) return response.destroy();
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const isUnsized = chunked || status === 204 || status === 304;
  response.writeHead(status, { ...(isUnsized ? {} : { "Content-Length": bytes.length }), ...headers });
  if (cut !== undefined) {
    response.write(bytes.subarray(0, cut));
    await sleep(0.05);
    return response.destroy();
  }
  if (drip) {
    for (const byte of bytes) {
      if (response.destroyed) return;
      response.write(Buffer.of(byte));
      await sleep(drip);
    }
    return response.end();
  }
  response.end(bytes);
}
