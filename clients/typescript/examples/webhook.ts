// Prints the ends of jobs that a service sends: webhook.js PORT, with the secret in BGREMOVE_WEBHOOK_SECRET

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { argv, env } from "node:process";
import { verifyWebhook } from "../src/index.js";

const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request.setEncoding("utf8")) body += String(part);
  try {
    const event = await verifyWebhook(body, request.headers as Record<string, string>, env.BGREMOVE_WEBHOOK_SECRET ?? "");
    response.writeHead(204).end();
    console.log(event.type, event.data.id);
  } catch (wrong) {
    response.writeHead(400).end((wrong as Error).message);
  }
});
server.listen(Number(argv[2]), "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
