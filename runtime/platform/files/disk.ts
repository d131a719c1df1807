/**
 * The disk, as a port: all that the runtime and its plugins write goes through this one object, and what they read of it. A test replaces
 * functions of it, so that a whole station runs on a disk that fails.
 */
import * as sync from 'node:fs'
import * as promises from 'node:fs/promises'

const { chmod, copyFile, lstat, mkdir, open, readdir, readFile, rename, rm, stat, statfs, writeFile } = promises
const {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} = sync
const { createReadStream, createWriteStream, openAsBlob, statSync, writeFileSync, writeSync } = sync

export const disk = {
  ...{ chmod, copyFile, lstat, mkdir, open, readdir, readFile, rename, rm, stat, statfs, writeFile },
  // For code that cannot wait: a start, and a process that is ending.
  ...{ chmodSync, closeSync, fsyncSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync },
  ...{ statSync, writeFileSync, writeSync },
  ...{ createReadStream, createWriteStream, openAsBlob },
}
export type Disk = typeof disk
export type FileHandle = promises.FileHandle

/** Operations of a disk that a store, a durable file and an installation need. */
export type FileSystem = Pick<
  Disk,
  'chmod' | 'copyFile' | 'lstat' | 'mkdir' | 'open' | 'readdir' | 'readFile' | 'rename' | 'rm' | 'stat'
>
