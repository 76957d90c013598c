// Clients of Redis for Node with their defaults: `node redis_node.mjs LIBRARY CASE HOST PORT`.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const require = createRequire(join(process.env.NODE_CLIENTS, "package.json"));
const [library, name, host, port] = process.argv.slice(2);

// What both libraries do, under one name each.
const ioredis = {
  async open() {
    const Redis = require("ioredis");
    return new Redis({ host, port: Number(port) });
  },
  set: (client, key, value) => client.set(key, value, "EX", 100),
  push: (client, key, value) => client.rpush(key, value),
  pop: async (client, key, seconds) => (await client.blpop(key, seconds))?.[1] ?? null,
  async subscribe(client, channel, got) {
    client.on("message", (_, message) => got(message));
    await client.subscribe(channel);
  },
  unsubscribe: (client, channel) => client.unsubscribe(channel),
  transaction: async (client) =>
    (await client.multi().set("t", 1).incr("t").exec()).map(([error, reply]) => error ?? reply),
  close: (client) => client.quit(),
};

const nodeRedis = {
  async open() {
    const client = require("redis").createClient({ socket: { host, port: Number(port) } });
    client.on("error", (error) => { throw error; });
    await client.connect();
    return client;
  },
  set: (client, key, value) => client.set(key, value, { EX: 100 }),
  push: (client, key, value) => client.rPush(key, value),
  pop: async (client, key, seconds) => (await client.blPop(key, seconds))?.element ?? null,
  subscribe: (client, channel, got) => client.subscribe(channel, got),
  unsubscribe: (client, channel) => client.unsubscribe(channel),
  transaction: (client) => client.multi().set("t", 1).incr("t").exec(),
  close: (client) => client.close(),
};

const calls = { ioredis, redis: nodeRedis }[library];

async function until(isSo) {
  for (let turn = 0; !(await isSo()); turn++) {
    assert.ok(turn < 6_000, "it does not come to pass");
    await sleep(10);
  }
}

const cases = {
  async connects() {
    const client = await calls.open();
    assert.equal(await calls.set(client, "a", "1"), "OK");
    assert.equal(await client.get("a"), "1");
    assert.deepEqual(await calls.transaction(client), ["OK", 2]);
    const many = await Promise.all(Array.from({ length: 10_000 }, () => client.incr("n")));
    assert.deepEqual(many, many.map((_, index) => index + 1));
    await calls.close(client);
  },
  async messages() {
    const [reader, writer, got] = [await calls.open(), await calls.open(), []];
    await calls.subscribe(reader, "news", (message) => got.push(message));
    for (let number = 0; number < 1_000; number++) await writer.publish("news", String(number));
    await until(() => got.length === 1_000);
    assert.deepEqual(got, got.map((_, index) => String(index)));
    await calls.unsubscribe(reader, "news");
    assert.equal(await writer.publish("news", "x"), 0);
    await calls.close(reader);
    await calls.close(writer);
  },
  async waits() {
    const [reader, writer] = [await calls.open(), await calls.open()];
    assert.equal(await calls.pop(reader, "jobs", 0.2), null);
    const popped = calls.pop(reader, "jobs", 60);
    await until(async () => (await writer.info("clients")).includes("blocked_clients:1"));
    assert.equal(await calls.push(writer, "jobs", "x"), 1);
    assert.equal(await popped, "x");
    await calls.close(reader);
    await calls.close(writer);
  },
};

await cases[name]();
