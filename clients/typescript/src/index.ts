/**
 * A client of a bgremove service, which takes the background out of animations and video. It runs
 * in Node 20.3 and in browsers.
 *
 *     const client = new Client("https://clips.example", key);
 *     const made = await client.submit(file, { method: "fast" });
 *     await client.wait(made.id);
 *     const result = await client.download(made.id);
 *
 * Temporary failures are retried: too many requests, an unavailable service, broken connections.
 * All attempts of a submission carry one Idempotency-Key, so it is charged once.
 */

import type { components } from "./schema.js";

type Schemas = components["schemas"];
export type Estimate = Schemas["Estimate"];
export type Hint = Schemas["Hint"];
export type Job = Schemas["Job"];
export type JobCreated = Schemas["JobCreated"];
export type JobStatus = Schemas["JobStatus"];
export type KeyAccount = Schemas["KeyAccount"];
export type KeyJob = Schemas["KeyJob"];
export type Usage = Schemas["Usage"];
export type WebhookEvent = Schemas["WebhookEvent"];

/** The options of a job, which the API describes. */
export type Options = Schemas["Options"] & { hints?: Hint[] };

/** Settings of a submission. */
export interface Submission {
  /** The name of the file, such as clip.gif; without it, that of a File. */
  name?: string;
  /** The same key within 24 hours finds the job of an earlier submission; without it, a random one. */
  idempotencyKey?: string;
  /** An https address that is told of the end of the job. */
  webhookUrl?: string;
}

/** How a client works. */
export interface Settings {
  /** How often a request is sent: 8. */
  tries?: number;
  /** The pause before the second try in milliseconds, which then grows: 500. */
  minWait?: number;
  /** The longest pause in milliseconds: 300,000. A service that asks for more is not waited for. */
  maxWait?: number;
  /** How long a request may take in milliseconds: 600,000. */
  timeout?: number;
}

/** Facts of a ServiceError. */
export interface Facts {
  /** The HTTP status; 0 without an answer. */
  status: number;
  /** The option that it is about. */
  field?: string;
  /** Milliseconds that the service asks to wait. */
  retryAfter?: number;
  /** The answer, with what else it has, such as creditsRemaining. */
  body: Record<string, unknown>;
}

/** A refusal by the service, or a service that cannot be reached. */
export class ServiceError extends Error {
  override name = "ServiceError";
  /**
   * Of a submission that may have been taken although it failed: sent again with it, the same file
   * and options are not charged twice.
   */
  idempotencyKey?: string;

  /** The code is the API's, which is "unavailable" for a proxy's error too, or "unreachable", "unexpected" or "damaged". */
  constructor(readonly code: string, message: string, readonly facts: Facts = { status: 0, body: {} }, options?: ErrorOptions) {
    super(message, options);
  }

  /** Whether the same request may succeed later. */
  get temporary(): boolean {
    if (this.code === "idempotency_conflict") return this.facts.retryAfter !== undefined;
    return ["unreachable", "damaged", "unavailable"].includes(this.code) || [408, 425, 429, 502, 503, 504].includes(this.facts.status);
  }
}

/** Refusals of a submission that say that no earlier try of it was taken either. */
const nothingTaken = ["bad_request", "idempotency_conflict", "insufficient_credits", "payload_too_large", "unreadable_file"];

/** A job that has failed or was cancelled. Its credits were given back. */
export class JobFailed extends Error {
  override name = "JobFailed";

  constructor(readonly job: Job) {
    super(`${job.id}: ${job.error ?? job.status}`);
  }
}

/** Asks one service with one API key. */
export class Client {
  readonly #server: string;
  readonly #key: string;
  readonly #settings: Required<Settings>;

  constructor(server: string, key: string, settings: Settings = {}) {
    const url = URL.canParse(server) ? new URL(server) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
      throw new TypeError("server must be an address such as https://clips.example");
    }
    if (!/^[!-~]+$/.test(key)) throw new TypeError("key must be an API key of the service");
    this.#server = server.replace(/\/+$/, "");
    this.#key = key;
    const { tries = 8, minWait = 500, maxWait = 300_000, timeout = 600_000 } = settings;
    this.#settings = { tries, minWait, maxWait, timeout };
  }

  /** Sends a file or its bytes, or the address of one for the service to fetch, and charges it once. */
  async submit(file: Blob | Uint8Array<ArrayBuffer> | URL, options: Options = {}, submission: Submission = {}): Promise<JobCreated> {
    const form = new FormData();
    for (const [field, value] of Object.entries({ ...options, webhookUrl: submission.webhookUrl })) {
      if (value !== undefined) form.append(field, typeof value === "string" ? value : JSON.stringify(value));
    }
    if (file instanceof URL) {
      form.append("fileUrl", file.href);
    } else {
      const name = submission.name ?? (file instanceof Blob && "name" in file ? String(file.name) : "");
      if (!name) throw new TypeError("bytes need a name such as clip.gif");
      form.append("file", file instanceof Blob ? file : new Blob([file]), name);
    }
    const key = submission.idempotencyKey ?? crypto.randomUUID();
    return this.#json("POST", "/api/v1/jobs", { body: form, headers: { "Idempotency-Key": key } });
  }

  /** The state of a job. */
  job(id: string): Promise<Job> {
    return this.#json("GET", path(id));
  }

  /**
   * Returns when a job is done. It throws JobFailed if it failed or was cancelled, and the reason of
   * the signal when that aborts. seen gets the job after each look at it.
   */
  async wait(id: string, { poll = 250, seen, signal }: { poll?: number; seen?: (job: Job) => void; signal?: AbortSignal } = {}): Promise<Job> {
    for (let pause = poll; ; pause = Math.min(pause * 1.5, 12 * poll)) {
      signal?.throwIfAborted();
      const job: Job = await this.#json("GET", path(id), {}, signal);
      seen?.(job);
      if (job.status === "done") return job;
      if (job.status !== "queued" && job.status !== "processing") throw new JobFailed(job);
      await sleep(pause * (0.8 + Math.random() * 0.4), signal);
    }
  }

  /** The result of a job that is done, checked against the service's digest. */
  download(id: string): Promise<Blob> {
    return this.#retry(async () => {
      const [answer, content] = await this.#ask("GET", path(id) + "/download", {});
      const digest = answer.headers.get("ETag")?.replace(/"/g, "") ?? "";
      if (digest.length === 64 && digest !== hex(await crypto.subtle.digest("SHA-256", content))) {
        throw new ServiceError("damaged", "the download differs from the service's file");
      }
      return new Blob([content], { type: answer.headers.get("Content-Type") ?? "" });
    });
  }

  /**
   * Cancels a job that has not ended; its credits are given back. One that has ended loses its files.
   * The answer is the job as it is then.
   */
  cancel(id: string): Promise<Job> {
    return this.#json("DELETE", path(id));
  }

  /** The jobs of the key, newest first: all, those in a state, or those created since a time. */
  async *jobs({ status, since }: { status?: JobStatus; since?: Date } = {}): AsyncGenerator<KeyJob, void> {
    const query = new URLSearchParams({ limit: "100", ...(status && { status }), ...(since && { since: since.toISOString() }) });
    for (;;) {
      const page: Schemas["KeyJobPage"] = await this.#json("GET", `/api/v1/jobs?${query}`);
      yield* page.jobs;
      if (page.next === null) return;
      query.set("before", page.next);
    }
  }

  /** The balance and the limits of the key's account. */
  account(): Promise<KeyAccount> {
    return this.#json("GET", "/api/v1/account");
  }

  /** What the account used from one day to another ("2026-11-30"), by default in 30 days. */
  usage({ from, to }: { from?: string; to?: string } = {}): Promise<Usage> {
    return this.#json("GET", `/api/v1/usage?${new URLSearchParams({ ...(from && { from }), ...(to && { to }) })}`);
  }

  /** The price of a clip of so many seconds. Nothing is charged. */
  estimate(duration: number): Promise<Estimate> {
    return this.#json("POST", "/api/v1/estimate", { body: JSON.stringify({ duration }), headers: { "Content-Type": "application/json" } });
  }

  #json<T>(method: string, path: string, request: RequestInit = {}, signal?: AbortSignal): Promise<T> {
    return this.#retry(async () => {
      const [, content] = await this.#ask(method, path, request, signal);
      try {
        return JSON.parse(new TextDecoder().decode(content)) as T;
      } catch {
        throw new ServiceError("unexpected", `${method} ${path}: the answer is not that of a bgremove service`);
      }
    }, signal, new Headers(request.headers).get("Idempotency-Key") ?? undefined);
  }

  /** One try. */
  async #ask(method: string, path: string, request: RequestInit, signal?: AbortSignal): Promise<[Response, ArrayBuffer]> {
    const limit = AbortSignal.timeout(this.#settings.timeout);
    let answer: Response, content: ArrayBuffer;
    try {
      answer = await fetch(this.#server + path, {
        ...request, method, redirect: "manual", // the key is for one server
        headers: { Authorization: `Bearer ${this.#key}`, ...request.headers },
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      content = await answer.arrayBuffer();
    } catch (broken) {
      signal?.throwIfAborted();
      throw new ServiceError("unreachable", `${this.#server}: ${reason(broken)}`, undefined, { cause: broken });
    }
    if (!answer.ok) throw refusal(answer, content);
    return [answer, content];
  }

  /**
   * Tries until there is an answer that another try would not change. key is the idempotency key of
   * a submission; the error of one that may have been taken has it.
   */
  async #retry<T>(once: () => Promise<T>, signal?: AbortSignal, key?: string): Promise<T> {
    const { tries, minWait, maxWait } = this.#settings;
    let lost = false; // a try, whatever the next says
    for (let tried = 1; ; tried++) {
      try {
        return await once();
      } catch (failed) {
        if (!(failed instanceof ServiceError)) throw failed;
        lost ||= failed.temporary || failed.facts.status >= 500;
        if (lost && (failed.temporary || !nothingTaken.includes(failed.code))) failed.idempotencyKey = key;
        const after = failed.facts.retryAfter ?? 0;
        if (!failed.temporary || tried >= tries || after > maxWait) throw failed;
        const step = Math.min(maxWait, minWait * 2 ** (tried - 1));
        await sleep(Math.max(after + (Math.random() * Math.min(step, after)) / 4, step * (0.5 + Math.random() / 2)), signal);
      }
    }
  }
}

/**
 * The event of a webhook's request, as Standard Webhooks signs it. body is the text that arrived,
 * unchanged. It throws if no signature by the secret fits, or if the message is older than
 * tolerance milliseconds.
 */
export async function verifyWebhook(body: string, headers: Headers | Record<string, string>, secret: string, tolerance = 300_000): Promise<WebhookEvent> {
  const given = new Headers(headers);
  const [id, at, signatures] = ["id", "timestamp", "signature"].map((name) => given.get(`webhook-${name}`) ?? "") as [string, string, string];
  if (!/^\d+$/.test(at) || Math.abs(Date.now() - Number(at) * 1000) > tolerance) {
    throw new Error("the webhook has no timestamp of the last minutes");
  }
  const key = await crypto.subtle.importKey("raw", bytes(secret.replace(/^whsec_/, "")), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const signed = new TextEncoder().encode(`${id}.${at}.${body}`);
  for (const one of signatures.split(" ")) {
    if (one.startsWith("v1,") && (await crypto.subtle.verify("HMAC", key, bytes(one.slice(3)), signed))) return JSON.parse(body) as WebhookEvent;
  }
  throw new Error("no signature of the webhook is by this secret");
}

function path(id: string): string {
  return `/api/v1/jobs/${encodeURIComponent(id)}`;
}

/** The error of an answer that is none of success. */
function refusal(answer: Response, content: ArrayBuffer): ServiceError {
  let body: Record<string, unknown> = {};
  try {
    const said: unknown = JSON.parse(new TextDecoder().decode(content));
    if (typeof said === "object" && said !== null) body = said as Record<string, unknown>;
  } catch {
    // it is a proxy's
  }
  const code = typeof body.error === "string" ? body.error : answer.status >= 500 ? "unavailable" : "unexpected";
  const message = typeof body.message === "string" ? body.message : `the service answered ${answer.status} (${code.replace(/_/g, " ")})`;
  return new ServiceError(code, message, { status: answer.status, field: typeof body.field === "string" ? body.field : undefined, retryAfter: retryAfter(answer.headers), body });
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("Retry-After") ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

function reason(broken: unknown): string {
  if (!(broken instanceof Error)) return String(broken);
  return broken.cause instanceof Error ? broken.cause.message : broken.message;
}

function bytes(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

function hex(digest: ArrayBuffer): string {
  return Array.from(new Uint8Array(digest), (b) => b.toString(16).padStart(2, "0")).join("");
}

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted(); // nothing tells of it later
    const timer = setTimeout(done, milliseconds);
    function done(): void {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }
    function aborted(): void {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", aborted, { once: true });
  });
}
