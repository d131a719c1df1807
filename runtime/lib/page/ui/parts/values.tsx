/** Values of a document with their labels: what is shown, from where, and how it is written. */
import type { ComponentChildren } from 'preact'
import { figure, textOf } from '../i18n.js'
import { at, type Json } from '../station/document.js'
import { Card, FigureList, Tone, type ToneName } from './card.js'

/** Of a number: its unit and its digits after the point. Of anything: its words; '' for a value that says nothing. */
type Written = readonly [unit: string, digits?: number] | ((value: unknown, document: Json) => ComponentChildren)

/** A value that is missing or empty has no row. */
export type Value<Label extends string = string> = readonly [label: Label, path: string, written?: Written]

function writtenValue(document: Json, [, path, written]: Value): ComponentChildren {
  const value = at(document, path)
  if (value === undefined || value === null || value === '') return ''
  if (typeof written === 'function') return written(value, document)
  const [unit, digits = 0] = written ?? ['']
  if (typeof value === 'number') return figure(value, digits, unit)
  return Array.isArray(value) ? value.join(', ') : String(value)
}

/** @param props.of labels are keys of texts */
export const ValueList = ({ document, of }: { document: Json; of: readonly Value[] }) => (
  <FigureList rows={of.map((one) => [textOf(one[0]), writtenValue(document, one)] as const)} />
)

/** A card for a block of the document: its state in words, what is wrong, its values. Nothing where the block is missing. */
export function ValueCard(props: {
  document: Json
  /** Path of the block. */
  block: string
  title: string
  state?: readonly [tone: ToneName, text: string]
  /** Below the state. */
  trouble?: ComponentChildren
  of?: readonly Value[]
  children?: ComponentChildren
}) {
  const { block, children, document, of, state, title, trouble } = props
  if (at(document, block) === undefined) return null
  return (
    <Card title={title}>
      {state && (
        <p class="large">
          <Tone tone={state[0]}>{state[1]}</Tone>
        </p>
      )}
      {trouble && <p class="trouble">{trouble}</p>}
      {of && <ValueList document={document} of={of} />}
      {children}
    </Card>
  )
}
