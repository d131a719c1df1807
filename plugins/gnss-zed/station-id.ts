import { createHash } from 'node:crypto'

/**
 * The station ID of a new station, 1–4095, drawn from its serial number: two neighbours that nobody gave an ID hardly ever share it, and
 * a rover or `rtcm-in` knows them apart by it. 0 is what every station has that was never told.
 */
export function drawnStationId(serial: string): number {
  return 1 + (createHash('sha256').update(serial).digest().readUInt32BE() % 4095)
}
