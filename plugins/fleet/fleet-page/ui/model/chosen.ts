/** Settings that a person chose of those of a station, and what was entered for them. Pure. */
import { fieldOf, type Schema, valueFrom } from '../../../../../runtime/lib/page/ui/model/form.js'
import type { Json } from '../../../../../runtime/lib/page/ui/station/document.js'
import type { StationSettings as Published } from '../../../../../schemas/station.js'

/** A schema is what forms need of it. */
export type Parameter = Omit<Published['parameters'][number], 'schema'> & { readonly schema: Schema }
export type StationAction = Omit<Published['actions'][number], 'input'> & { readonly input: Schema }
export interface StationSettings {
  readonly parameters: readonly Parameter[]
  readonly actions: readonly StationAction[]
}

/** Name of a setting → the text of its field. */
export type Chosen = ReadonlyMap<string, string>

/** The values to send. */
export const valuesOf = (known: readonly Parameter[], chosen: Chosen): Json =>
  Object.fromEntries(
    known.flatMap(({ name, schema }) => {
      const text = chosen.get(name)
      return text === undefined ? [] : [[name, valueFrom(fieldOf(schema), text)] as const]
    }),
  )

/** The input of an action as it was entered, part by part. */
export const inputOf = ({ input }: StationAction, entered: Chosen): Json =>
  Object.fromEntries(
    Object.entries(input.properties ?? {}).flatMap(([name, schema]) => {
      const text = entered.get(name)
      return text === undefined || text === '' ? [] : [[name, valueFrom(fieldOf(schema), text)] as const]
    }),
  )
