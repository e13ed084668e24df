// A real service for tests: the program of BGREMOVE_BIN, on loopback.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { createInterface } from "node:readline";

const program = env.BGREMOVE_BIN ?? "bgremove";
const email = "ada@example.com";
const password = "correct horse battery";

/** A service with an account that has 30 credits. */
export interface Service {
  url: string;
  key: string;
  /** A signing secret of the account, made as its page does. */
  secret(): Promise<string>;
  stop(): Promise<void>;
}

export async function start(): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), "bgremove-"));
  const data = ["--data", join(folder, "data")];
  const process = spawn(program, ["serve", "--addr", "127.0.0.1:0", "--private-webhooks", "--file-urls", "private", ...data], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => process.once("close", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(process.stderr).on("line", (line) => {
      const found = /msg=listening url=(\S+)/.exec(line)?.[1];
      if (found) resolve(found);
    });
    void ended.then(() => reject(new Error("the service does not listen")));
  });
  const admin = (args: string[], input = ""): string => execFileSync(program, ["admin", ...args, ...data], { input, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] });
  admin(["account", "create", email, "--credits", "30", "--password-file", "-"], password);
  const key = admin(["key", "create", email]).trim();
  return {
    url,
    key,
    async secret() {
      const headers = { "Content-Type": "application/json" };
      const session = await fetch(`${url}/api/session`, { method: "POST", headers, body: JSON.stringify({ email, password }) });
      const cookie = session.headers.getSetCookie().map((one) => one.split(";")[0]).join("; ");
      const made = await fetch(`${url}/api/account/webhooks`, { method: "POST", headers: { ...headers, Cookie: cookie }, body: "{}" });
      return ((await made.json()) as { secret: string }).secret;
    },
    async stop() {
      process.kill();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
