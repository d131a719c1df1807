import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const plugins = {
  ...{ 'http-api': {}, system: {}, verdict: {}, rtcm: {}, integrity: {}, 'survey-in': {} },
  ...{ gnss: {}, 'simulated-receiver': {}, 'gnss-zed': { port: 'simulator' } },
}

/**
 * The file of a variant with a simulated receiver that opens no port but HTTP, and starts in a third of the time of the simulator.
 * @param folder where it is written
 * @param more plugins besides
 * @param changes values of parameters
 */
export function smallVariant(folder: string, more: object = {}, changes: object = {}): string {
  const file = join(folder, 'small.json')
  const variant = { name: 'small', hardware: 'test', simulator: true, changes, plugins: { ...plugins, ...more } }
  writeFileSync(file, JSON.stringify(variant))
  return file
}
