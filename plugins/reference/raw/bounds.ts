/** How much of a disk the archive may take. */

import { join } from 'node:path'
import { disk } from 'rtk-base/files'
import { type ArchivedHour, hour_ms } from './hour-files.js'

const day_ms = 24 * hour_ms
const mega = 1_048_576

export interface ArchiveBounds {
  readonly size_bytes: number
  /** Left free for everything else on the disk. Undefined: 256 MB, or a quarter of a smaller disk than 1 GB. */
  readonly free_bytes: number | undefined
  readonly days: number
}

export interface DiskSpace {
  readonly total_bytes: number
  /** For this user. */
  readonly free_bytes: number
}

export async function spaceOf(path: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await disk.statfs(path)
  return { total_bytes: blocks * bsize, free_bytes: bavail * bsize }
}

/** Bytes that stay free on a disk. */
export const reserveOf = (bounds: ArchiveBounds, { total_bytes }: DiskSpace): number =>
  bounds.free_bytes ?? Math.min(256 * mega, total_bytes / 4)

/** For the station's errors: the disk has no room for the archive. */
export function shortText(bounds: ArchiveBounds, disk: DiskSpace): string {
  const [reserve_mb, total_mb] = [reserveOf(bounds, disk), disk.total_bytes].map((bytes) => Math.round(bytes / mega))
  return reserveOf(bounds, disk) >= disk.total_bytes
    ? `raw.free_mb is ${reserve_mb}, and the disk has ${total_mb} MB in all`
    : `less than ${reserve_mb} MB are free on the disk`
}

/**
 * The hours that have to go, to keep the bounds: the oldest.
 * @param hours oldest first, without the one that is being written
 * @param written_bytes of the hour that is being written
 */
export function excess(
  hours: readonly ArchivedHour[],
  written_bytes: number,
  bounds: ArchiveBounds,
  disk: DiskSpace,
  utc_ms: number,
): readonly ArchivedHour[] {
  const reserve_bytes = reserveOf(bounds, disk)
  let total_bytes = hours.reduce((sum, { bytes }) => sum + bytes, written_bytes)
  let free_bytes = disk.free_bytes
  let count = 0
  for (const { bytes, hour_ms: start_ms } of hours) {
    const isOld = start_ms < utc_ms - bounds.days * day_ms
    if (free_bytes >= reserve_bytes && total_bytes <= bounds.size_bytes && !isOld) break
    free_bytes += bytes
    total_bytes -= bytes
    count++
  }
  return hours.slice(0, count)
}

/** The folder `rtk-base-raw` on another disk, which must be mounted. */
export async function folderOn(other: string, dataFolder: string): Promise<string> {
  const [given, data] = await Promise.all([disk.stat(other), disk.stat(dataFolder)])
  if (given.dev === data.dev) throw new Error(`${other} is on the disk of the data folder: is the other disk mounted?`)
  const path = join(other, 'rtk-base-raw')
  await disk.mkdir(path, { recursive: true, mode: 0o700 })
  return path
}
