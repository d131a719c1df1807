/** Metadata of the shipped plugins without their code: written when they are built, read when only a name is known. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ErrorKind } from '../../schemas/error-table.js'
import { catalogueFolder, packageRoot } from '../platform/release.js'
import type { PluginDefinition } from '../plugin.js'

export interface CatalogueEntry {
  /** Ids of its services. */
  readonly provides: readonly string[]
  /** Commands that the specification names. */
  readonly commands: readonly string[]
  readonly errors: readonly ErrorKind[]
  /** The plugin adds to the support report. */
  readonly reports: boolean
}
/** By name of the plugin. */
export type Catalogue = Readonly<Record<string, CatalogueEntry>>

export const catalogueName = 'catalogue.json'

export function catalogueOf(definitions: Iterable<PluginDefinition>): Catalogue {
  return Object.fromEntries(
    [...definitions].map(({ name, provides = [], commands = [], errors = {}, report }) => [
      name,
      {
        provides: provides.map(({ id }) => id),
        commands,
        errors: Object.values(errors),
        reports: report !== undefined,
      },
    ]),
  )
}

/**
 * The catalogue of a device: of the shipped plugins that it does not have, the commands are known all the same, for its
 * answers.
 */
export function withCommandsOf(shipped: Catalogue, own: Catalogue): Catalogue {
  const others = Object.entries(shipped).filter(([, { commands }]) => commands.length > 0)
  return {
    ...Object.fromEntries(
      others.map(([name, { commands }]) => [name, { provides: [], commands, errors: [], reports: false }]),
    ),
    ...own,
  }
}

/** The catalogue of the plugins that come with this code; empty where a build does not have it yet. */
export function readCatalogue(root = packageRoot()): Catalogue {
  try {
    return JSON.parse(readFileSync(join(catalogueFolder(root), catalogueName), 'utf8')) as Catalogue
  } catch {
    return {}
  }
}

/** Service or command → the shipped plugin that brings it. */
export function homesOf(catalogue: Catalogue, what: 'provides' | 'commands'): Record<string, string> {
  return Object.fromEntries(Object.entries(catalogue).flatMap(([name, entry]) => entry[what].map((id) => [id, name])))
}
