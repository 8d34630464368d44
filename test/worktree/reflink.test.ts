import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, statfsSync, truncateSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { type TreePath, toWorktreePath } from "../../src/git/names.ts";
import { copyPaths } from "../../src/worktree/copy.ts";
import { test } from "../support/repo.ts";

const canMakeXfs = process.getuid?.() === 0 && spawnSync("mkfs.xfs", ["-V"]).status === 0;
const MIB = 1024 * 1024;

test.runIf(canMakeXfs)("copies share their blocks where the file system can", async ({ repo }) => {
  const image = join(repo.base, "image");
  const disk = join(repo.base, "disk");
  writeFileSync(image, "");
  truncateSync(image, 400 * MIB);
  execFileSync("mkfs.xfs", ["-q", "-m", "reflink=1", image]);
  await mkdir(disk);
  execFileSync("mount", ["-o", "loop", image, disk]);
  try {
    const [from, to] = [join(disk, "from"), join(disk, "to")];
    for (const folder of [from, to]) await mkdir(folder);
    writeFileSync(join(from, "large"), Buffer.alloc(64 * MIB, "x"));
    for (let index = 0; index < 100; index++) writeFileSync(join(from, `${index}`), Buffer.alloc(MIB / 2, "y"));
    execFileSync("sync", ["--file-system", disk]);
    const used = () => {
      const { blocks, bfree, bsize } = statfsSync(disk);
      return (blocks - bfree) * bsize;
    };
    const before = used();

    const names = ["large", ...Array.from({ length: 100 }, (_, index) => `${index}`)] as TreePath[];
    const { bytes } = await copyPaths(toWorktreePath(from), toWorktreePath(to), names);

    execFileSync("sync", ["--file-system", disk]);
    expect(bytes).toBe(114 * MIB);
    expect(used() - before).toBeLessThan(8 * MIB);
    writeFileSync(join(to, "large"), "changed");
    expect(readFileSync(join(from, "large")).length).toBe(64 * MIB);
  } finally {
    execFileSync("umount", [disk]);
  }
});
