// Sends a clip to the service of BGREMOVE_SERVER and writes what comes back: cut.js INPUT OUTPUT

import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { argv, env, exit } from "node:process";
import { Client, JobFailed, ServiceError } from "../src/index.js";

const [source = "", target = ""] = argv.slice(2);
const client = new Client(env.BGREMOVE_SERVER ?? "", env.BGREMOVE_API_KEY ?? "");
try {
  const made = await client.submit(new Uint8Array(await readFile(source)), { method: "fast", pad: 0 }, { name: basename(source) });
  const job = await client.wait(made.id, { seen: (job) => console.error(job.status) });
  const result = await client.download(made.id);
  await writeFile(target, new Uint8Array(await result.arrayBuffer()), { flag: "wx" });
  console.log(`${target}: ${job.outputFormat}, ${result.size} bytes, credits left: ${made.creditsRemaining}`);
} catch (failed) {
  if (!(failed instanceof ServiceError || failed instanceof JobFailed)) throw failed;
  console.error(`${source}: ${failed.message}`);
  exit(1);
}
