/** A copy of the project in which files are changed: its own are left alone. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { packageRoot } from '../../runtime/platform/release.js'

export class TreeCopy implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), 'rtk-base-mutants-'))
  /** Of programs in the copy: the recordings lie beside the project. */
  readonly env: NodeJS.ProcessEnv = {
    ...process.env,
    NODE_OPTIONS: '',
    RTK_BASE_CAPTURES: process.env.RTK_BASE_CAPTURES ?? resolve(packageRoot(), '../shared/captures'),
  }

  constructor() {
    const own = packageRoot()
    // The bundles of shipped plugins know the sources of the project itself, which do not change: here they are made anew.
    const names = ['node_modules', '.git', '.tap', 'build/checkout/plugins']
    const left = new Set(names.map((name) => join(own, name)))
    cpSync(own, this.root, { recursive: true, preserveTimestamps: true, filter: (path) => !left.has(path) })
    symlinkSync(join(own, 'node_modules'), join(this.root, 'node_modules'))
  }

  /** @param file below the root */
  text(file: string): string {
    return readFileSync(join(this.root, file), 'utf8')
  }

  /** Runs something while the files have another text. */
  async changed<T>(files: readonly string[], text: string, run: () => T | Promise<T>): Promise<T> {
    const before = files.map((file) => [file, this.text(file)] as const)
    for (const file of files) writeFileSync(join(this.root, file), text)
    try {
      return await run()
    } finally {
      for (const [file, text] of before) writeFileSync(join(this.root, file), text)
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}
