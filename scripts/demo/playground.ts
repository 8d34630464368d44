import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A repository that may be broken: one made up, or a clone. Git sees nothing of the user's own configuration. */
export class Playground {
  readonly path: string;
  readonly #home: string;

  private constructor(root: string) {
    this.path = join(root, "repo");
    this.#home = join(root, "home");
    mkdirSync(this.#home);
  }

  static madeUp(root: string): Playground {
    const playground = new Playground(root);
    mkdirSync(playground.path);
    playground.git("init", "--quiet", "--initial-branch=main");
    playground.#introduce();
    playground.write("README.md", "# shop\n");
    playground.write("src/http.ts", "export const timeoutMs = 1_000;\n");
    playground.write("src/cart.ts", "export const cart = [];\n");
    playground.write("src/price.ts", "export const vat = 0.2;\n");
    playground.git("add", "--all");
    playground.git("commit", "--quiet", "--message=A small shop");
    return playground;
  }

  /** @throws {Error} when `source` has no commit, or is no repository. */
  static cloneOf(source: string, root: string): Playground {
    const playground = new Playground(root);
    playground.#gitIn(root, "clone", "--quiet", "--no-hardlinks", resolve(source), playground.path);
    playground.#introduce();
    if (playground.git("rev-list", "--max-count=1", "--all") === "") throw new Error(`${source} has no commit yet`);
    // A clone of a repository whose HEAD is detached has no branch.
    if (playground.git("branch", "--show-current") === "") playground.git("switch", "--quiet", "--create", "demo");
    return playground;
  }

  get branch(): string {
    return this.git("branch", "--show-current");
  }

  /** Staged, unstaged, doubly changed and untracked files, as in the middle of somebody's work. */
  makeDirty(): void {
    const [staged, unstaged, both] = this.#editable(3);
    this.write("scratch/notes to self.txt", "do not lose this\n");
    if (staged !== undefined) this.#append(staged, "staged, not committed");
    if (both !== undefined) this.#append(both, "staged first");
    for (const path of [staged, both]) if (path !== undefined) this.git("add", "--", path);
    if (both !== undefined) this.#append(both, "and changed again");
    if (unstaged !== undefined) this.#append(unstaged, "changed, not staged");
  }

  /** What must stay as it is, by the names that people know it by; `landed` is left out. */
  state(landed: readonly string[] = []): Map<string, string> {
    const isLanded = (path: string) => landed.includes(path);
    const status = this.#records("status", "--porcelain=v2", "--untracked-files=all", "-z", "--no-renames");
    const changed = status.map((record) =>
      record
        .split(" ")
        .slice(record.startsWith("1 ") ? 8 : 1)
        .join(" "),
    );
    const index = this.#records("ls-files", "--stage", "-v", "-z").filter(
      (entry) => !isLanded(entry.split("\t")[1] ?? ""),
    );
    const files = changed.map((path): [string, string] => [`content of ${path}`, this.#hash(path)]);
    return new Map([
      ["HEAD", this.git("symbolic-ref", "HEAD")],
      ["status", status.join("\n")],
      ["index", index.join("\n")],
      ...files,
    ]);
  }

  git(...args: string[]): string {
    return this.#gitIn(this.path, ...args);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.path, path)), { recursive: true });
    writeFileSync(join(this.path, path), text);
  }

  #introduce(): void {
    this.git("config", "user.name", "Demo User");
    this.git("config", "user.email", "demo@example.com");
  }

  /** Small plain files that no filter rewrites. */
  #editable(count: number): string[] {
    const found: string[] = [];
    for (const entry of this.#records("ls-files", "--stage", "-z")) {
      const [mode = "", path = ""] = [entry.slice(0, 6), entry.split("\t")[1]];
      if (mode !== "100644" || statSync(join(this.path, path)).size > 100_000) continue;
      if (!this.git("check-attr", "filter", "--", path).endsWith(": unspecified")) continue;
      found.push(path);
      if (found.length === count) break;
    }
    return found;
  }

  #append(path: string, text: string): void {
    appendFileSync(join(this.path, path), `${text}\n`);
  }

  #hash(path: string): string {
    return createHash("sha256")
      .update(readFileSync(join(this.path, path)))
      .digest("hex");
  }

  #records(...args: string[]): string[] {
    return this.git(...args)
      .split("\0")
      .slice(0, -1);
  }

  #gitIn(cwd: string, ...args: string[]): string {
    const env = {
      PATH: process.env["PATH"],
      HOME: this.#home,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      GIT_LFS_SKIP_SMUDGE: "1",
    };
    const options = { cwd, env, encoding: "utf8", maxBuffer: 256 * 1024 * 1024, stdio: "pipe" } as const;
    return execFileSync("git", args, options).replace(/\n$/, "");
  }
}
