// The program as programs in Node use it: node --test test_server.mjs, with MOCK_SERVER=path of the program.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { after, before, test } from "node:test";

let server, url;

before(async () => {
  server = spawn(process.env.MOCK_SERVER, ["--port", "0", "--origin", "https://api.example.com"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(server.stdout, "data");
  url = String(line).trim().split(" ").pop();
});

after(async () => {
  server.kill("SIGTERM");
  assert.deepEqual(await once(server, "exit"), [0, null]);
});

async function stub(stub) {
  const response = await fetch(`${url}/__mock/stubs`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(stub),
  });
  assert.equal(response.status, 201, await response.text());
}

test("fetch gets JSON, and its query with brackets, spaces and letters matches", async () => {
  await stub({ path: "/search", query: { "ids[]": ["1", "2"], q: "a b", name: "café" }, response: { json: { n: 1.5 } } });
  const query = new URLSearchParams([["ids[]", "1"], ["ids[]", "2"], ["q", "a b"], ["name", "café"]]);
  assert.deepEqual(await (await fetch(`${url}/search?${query}`)).json(), { n: 1.5 });
  assert.equal((await fetch(`${url}/search?ids[]=1&ids[]=2&q=a+b&name=café&x={|}`)).status, 200);
});

test("A body of unknown length and one in parts arrive", async () => {
  await stub({ method: "POST", path: "/upload", json: { a: 1 }, response: { status: 204 } });
  const parts = new ReadableStream({
    start(controller) {
      for (const part of ['{"a"', ":1}"]) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  assert.equal((await fetch(`${url}/upload`, { method: "POST", body: parts, duplex: "half" })).status, 204);
  assert.equal((await fetch(`${url}/upload`, { method: "POST", body: JSON.stringify({ a: 1 }) })).status, 204);
});

test("Events come one by one", async () => {
  await stub({ path: "/events", response: { events: ["a", { data: "b", type: "t", id: "1" }], delay: 0.05 } });
  let text = "";
  for await (const part of (await fetch(`${url}/events`)).body) text += Buffer.from(part);
  assert.equal(text, "data: a\n\nevent: t\nid: 1\ndata: b\n\n");
});

test("A client that waits with its body is told to go on", async () => {
  await stub({ method: "PUT", path: "/wait", response: { text: "done" } });
  const request = http.request(`${url}/wait`, { method: "PUT", headers: { Expect: "100-continue", "Content-Length": 3 } });
  const response = once(request, "response");
  request.flushHeaders();
  await once(request, "continue");
  request.end("abc");
  const [head] = await response;
  assert.equal(head.statusCode, 200);
  head.resume();
});

test("Redirects and cookies of the served origin are for this server", async () => {
  await stub({ path: "/old", response: { status: 302, headers: { Location: "https://api.example.com/new", "Set-Cookie": "a=1; Domain=example.com; Secure" } } });
  await stub({ path: "/new", response: { text: "here" } });
  assert.equal((await fetch(`${url}/old`, { redirect: "manual" })).headers.getSetCookie()[0], "a=1");
  assert.equal(await (await fetch(`${url}/old`)).text(), "here");
});

test("Fifty requests at once, over kept connections, are answered", async () => {
  await stub({ path: "/many/*", response: { json: [] } });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 10 });
  const statuses = await Promise.all([...Array(50).keys()].map(async (index) => {
    const request = http.get(`${url}/many/${index}`, { agent, headers: { Cookie: "c=".padEnd(8000, "x") } });
    const [response] = await once(request, "response");
    response.resume();
    await once(response, "end");
    return response.statusCode;
  }));
  assert.deepEqual(new Set(statuses), new Set([200]));
  agent.destroy();
});

test("An answer that never comes can be given up, and a request without an answer says what to do", async () => {
  await stub({ path: "/slow", response: { delay: 100 } });
  await assert.rejects(fetch(`${url}/slow`, { signal: AbortSignal.timeout(100) }));
  const response = await fetch(`${url}/nothing`);
  assert.equal(response.status, 501);
  assert.match(await response.text(), /POST \/__mock\/stubs/);
});
