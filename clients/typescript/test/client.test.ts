// Tests against a real service, and retries against a server that fails first.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env, execPath } from "node:process";
import { createInterface } from "node:readline";
import { after, before, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { Client, JobFailed, ServiceError, verifyWebhook } from "../src/index.js";
import { start, type Service } from "./service.js";

const clip = new Uint8Array(readFileSync(env.BGREMOVE_TEST_CLIP ?? ""));
const file = { name: "clip.gif" };
let service: Service;
let client: Client;

before(async () => {
  service = await start();
  client = new Client(service.url, service.key, { minWait: 10 });
});
after(() => service.stop());

test("a clip comes back", async () => {
  const first = await client.submit(clip, { method: "fast", crop: false }, { ...file, idempotencyKey: "order-1" });
  const again = await client.submit(new File([clip], "clip.gif"), { method: "fast", crop: false }, { idempotencyKey: "order-1" });
  assert.deepEqual(again, first);
  const seen: string[] = [];
  const job = await client.wait(first.id, { seen: (job) => seen.push(job.status) });
  assert.equal(seen.at(-1), "done");
  assert.equal(job.metadata.frameCount, 3);
  const result = await client.download(first.id);
  assert.deepEqual([result.type, result.size], ["image/gif", job.metadata.outputSize]);
  assert.deepEqual([...new Uint8Array(await result.arrayBuffer()).slice(6, 10)], [48, 0, 40, 0]);
  const listed: string[] = [];
  for await (const job of client.jobs({ status: "done", since: new Date(Date.now() - 3_600_000) })) listed.push(job.id);
  assert.ok(listed.includes(first.id));
  assert.ok((await client.usage()).total.jobs >= 1);
  assert.equal((await client.estimate(9.2)).cost, 10);
  assert.equal((await client.account()).credits, (await client.estimate(1)).creditsRemaining);
  assert.equal((await client.cancel(first.id)).status, "done");
  await assert.rejects(client.download(first.id), { code: "not_found" }); // its files are removed
});

test("a clip is fetched", async (t) => {
  const server = createServer((request, response) => response.writeHead(request.url === "/clip.gif" ? 200 : 404).end(clip));
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const made = await client.submit(new URL("/clip.gif", url), { method: "fast" });
  assert.equal((await client.wait(made.id)).metadata.originalName, "clip.gif");
  await assert.rejects(client.submit(new URL("/none.gif", url)), (failed: ServiceError) => {
    assert.deepEqual([failed.facts.field, failed.message], ["fileUrl", `fileUrl ${url}/none.gif answered 404`]);
    return true;
  });
});

test("refusals have facts", async () => {
  await assert.rejects(client.submit(clip, { pad: 99 }, file), (failed: ServiceError) => {
    assert.deepEqual([failed.code, failed.facts.field, failed.facts.status, failed.message], ["bad_request", "pad", 400, "pad must be between 0 and 50"]);
    return true;
  });
  await assert.rejects(client.submit(clip, { hints: [{ keep: true, click: [900, 2] }] }, file), (failed: ServiceError) => failed.facts.field === "hints");
  await assert.rejects(new Client(service.url, "bgr_wrong").account(), { code: "unauthorized" });
  assert.throws(() => new Client("clips.example", "bgr_1"), TypeError);
  await assert.rejects(client.submit(clip), TypeError);
});

test("a webhook is verified", async () => {
  const secret = await service.secret();
  const arrived = listen();
  const made = await client.submit(clip, { method: "fast" }, { ...file, webhookUrl: await arrived.url });
  const { headers, body } = await arrived.message;
  const event = await verifyWebhook(body, headers, secret);
  assert.deepEqual([event.type, event.data.id], ["job.done", made.id]);
  const hour = String(Math.floor(Date.now() / 1000) - 3600);
  await assert.rejects(verifyWebhook(body + " ", headers, secret), /no signature/);
  await assert.rejects(verifyWebhook(body, headers, "whsec_" + btoa("another secret")), /no signature/);
  await assert.rejects(verifyWebhook(body, { ...headers, "webhook-id": "msg_other" }, secret), /no signature/);
  await assert.rejects(verifyWebhook(body, { ...headers, "webhook-timestamp": hour }, secret), /no timestamp/);
});

test("the example runs", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bgremove-"));
  try {
    const target = join(folder, "cut.gif");
    const run = [join(import.meta.dirname, "..", "examples", "cut.js"), env.BGREMOVE_TEST_CLIP ?? "", target];
    const { stdout } = await promisify(execFile)(execPath, run, { env: { ...env, BGREMOVE_SERVER: service.url, BGREMOVE_API_KEY: service.key } });
    assert.match(stdout, /cut\.gif: gif, \d+ bytes/);
    assert.deepEqual([...readFileSync(target).subarray(6, 10)], [18, 0, 20, 0]); // without padding
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the example of webhooks runs", async () => {
  const run = [join(import.meta.dirname, "..", "examples", "webhook.js"), "0"];
  const endpoint = spawn(execPath, run, { env: { ...env, BGREMOVE_WEBHOOK_SECRET: await service.secret() }, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const lines = createInterface(endpoint.stdout)[Symbol.asyncIterator]();
    const url = String((await lines.next()).value);
    assert.equal((await fetch(url, { method: "POST", body: "{}" })).status, 400);
    const made = await client.submit(clip, { method: "fast" }, { ...file, webhookUrl: url });
    assert.equal((await lines.next()).value, `job.done ${made.id}`);
  } finally {
    endpoint.kill();
  }
});

/** An endpoint for one webhook. */
function listen(): { url: Promise<string>; message: Promise<{ headers: Record<string, string>; body: string }> } {
  const server = createServer();
  return {
    url: new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))),
    message: new Promise((resolve) =>
      server.once("request", async (request: IncomingMessage, response) => {
        let body = "";
        for await (const part of request.setEncoding("utf8")) body += String(part);
        response.writeHead(204, { Connection: "close" }).end();
        server.close();
        resolve({ headers: request.headers as Record<string, string>, body });
      }),
    ),
  };
}

type Answer = [status: number, headers: Record<string, string>, body: string];

/** A server with an answer for each request; status 0 breaks the connection. */
async function answers(t: TestContext, ...left: Answer[]): Promise<{ url: string; keys: unknown[] }> {
  const keys: unknown[] = [];
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    keys.push(request.headers["idempotency-key"]);
    const [status, headers, body] = left.shift() ?? [500, {}, ""];
    if (status === 0) return void request.socket.destroy();
    response.writeHead(status, headers).end(body);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys };
}

test("a submission has one key", async (t) => {
  const made = JSON.stringify({ id: "job_1", status: "queued", creditsRemaining: 1, links: {} });
  const busy = JSON.stringify({ error: "idempotency_conflict" });
  const { url, keys } = await answers(t, [0, {}, ""], [429, { "Retry-After": "0" }, ""], [503, {}, "<html>"], [409, { "Retry-After": "0" }, busy], [202, {}, made]);
  assert.equal((await new Client(url, "bgr_1", { minWait: 1 }).submit(clip, {}, file)).id, "job_1");
  assert.deepEqual([keys.length, new Set(keys).size], [5, 1]);
});

test("a failure tells the key", async (t) => {
  const { url, keys } = await answers(t, [503, {}, ""], [503, {}, ""]);
  await assert.rejects(new Client(url, "bgr_1", { minWait: 1, tries: 2 }).submit(clip, {}, file), (failed: ServiceError) => failed.idempotencyKey === keys[0]);
});

test("an answer is lost", async (t) => {
  for (const [status, error, told] of [[401, "unauthorized", true], [404, "not_found", true], [402, "insufficient_credits", false], [409, "idempotency_conflict", false]] as const) {
    const { url, keys } = await answers(t, [0, {}, ""], [status, {}, JSON.stringify({ error })]);
    await assert.rejects(new Client(url, "bgr_1", { minWait: 1 }).submit(clip, {}, file), (failed: ServiceError) => {
      assert.deepEqual([failed.code, failed.idempotencyKey], [error, told ? keys[0] : undefined]);
      return true;
    });
  }
});

test("a proxy has no answer", async (t) => {
  const { url, keys } = await answers(t, [524, {}, "<html>"], [500, {}, "<html>"], [500, {}, '{"error":"internal"}']);
  await assert.rejects(new Client(url, "bgr_1", { minWait: 1 }).submit(clip, {}, file), (failed: ServiceError) => {
    assert.deepEqual([keys.length, failed.code, failed.idempotencyKey], [3, "internal", keys[0]]);
    return true;
  });
});

test("settings without a value are the defaults", async (t) => {
  const { url, keys } = await answers(t, [503, {}, ""], [503, {}, ""], [200, {}, "{}"]);
  await new Client(url, "bgr_1", { minWait: 1, tries: undefined, maxWait: undefined, timeout: undefined }).account();
  assert.equal(keys.length, 3);
});

test("a long pause is not waited for", async (t) => {
  const { url } = await answers(t, [429, { "Retry-After": "3600" }, '{"error":"rate_limited"}']);
  await assert.rejects(new Client(url, "bgr_1").account(), (failed: ServiceError) => failed.facts.retryAfter === 3_600_000);
});

test("a redirect is not followed", async (t) => {
  const { url } = await answers(t, [302, { Location: "http://127.0.0.1:1/" }, ""]);
  await assert.rejects(new Client(url, "bgr_1").account(), { code: "unexpected" });
});

test("a failed job is told", async (t) => {
  const { url } = await answers(t, [200, {}, '{"id":"job_1","status":"failed","error":"timed_out"}']);
  await assert.rejects(new Client(url, "bgr_1").wait("job_1"), (failed: JobFailed) => failed.message === "job_1: timed_out");
});

test("waiting can be given up", async (t) => {
  const { url } = await answers(t, [200, {}, '{"id":"job_1","status":"queued","error":null}']);
  const stop = new AbortController();
  const reason = new Error("enough");
  await assert.rejects(new Client(url, "bgr_1").wait("job_1", { poll: 60_000, seen: () => setImmediate(() => stop.abort(reason)), signal: stop.signal }), reason);
});

test("waiting can be given up while the service is away", { timeout: 20_000 }, async (t) => {
  const { url } = await answers(t, [503, { "Retry-After": "120" }, ""]);
  const stop = new AbortController();
  const reason = new Error("enough");
  setTimeout(() => stop.abort(reason), 100);
  await assert.rejects(new Client(url, "bgr_1").wait("job_1", { signal: stop.signal }), reason);
});

test("a damaged download is fetched again", async (t) => {
  const ETag = `"${createHash("sha256").update("GIF89a").digest("hex")}"`;
  const { url } = await answers(t, [200, { ETag }, "GIF8"], [200, { ETag }, "GIF89a"]);
  assert.equal((await new Client(url, "bgr_1", { minWait: 1 }).download("job_1")).size, 6);
});
