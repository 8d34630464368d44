/** `lock-child.ts <common dir> <mode>`: takes the repository lock in a process of its own. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withRepositoryLock } from "../../src/journal/lock.ts";

const [commonDir = "", mode = ""] = process.argv.slice(2);
if (mode === "hold") {
  await withRepositoryLock(commonDir, async () => {
    process.stdout.write("locked\n");
    await sleep(60_000);
  });
} else {
  const counter = join(commonDir, "counter");
  process.stdout.write("ready\n");
  process.stdin.once("data", async () => {
    for (let i = 0; i < 20; i++) {
      await withRepositoryLock(commonDir, async () => {
        const value = Number(readFileSync(counter, "utf8"));
        await sleep(1); // long enough for another one to get in
        writeFileSync(counter, String(value + 1));
        appendFileSync(join(commonDir, "log"), `${process.pid}\n`);
      });
    }
    process.exit(0);
  });
}
