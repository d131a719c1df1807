import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { t } from '../i18n.js'
import { FigureList } from './card.js'

export interface Column<T> {
  readonly name: string
  readonly cell: (row: T) => ComponentChildren
  readonly isNumber?: boolean
  /** The row header. */
  readonly isHead?: boolean
}

/** More columns than these are cut on a phone. */
const mostOnPhone = 3
const phone = matchMedia('(max-width: 40rem)')
const isPhone = signal(phone.matches)
phone.addEventListener('change', ({ matches }) => {
  isPhone.value = matches
})

/** A table; on a phone a list, unless its few columns fit. It scrolls by itself where it is wider than the page, also by keyboard. */
export function DataTable<T>(props: {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string | number
}) {
  const { columns, keyOf, label, rows } = props
  if (isPhone.value && columns.length > mostOnPhone) return <Rows {...props} />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
    <section class="scroll" aria-label={t('plot.tableOf', { name: label })} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" class={isNumber ? 'number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell, isHead, isNumber }) =>
                isHead ? (
                  <th key={name} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={name} class={isNumber ? 'number' : ''}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Each row by itself: its head, then names and values. */
function Rows<T>({ columns, keyOf, label, rows }: Parameters<typeof DataTable<T>>[0]) {
  const head = columns.find(({ isHead }) => isHead)
  return (
    <ul class="list" aria-label={label}>
      {rows.map((row) => (
        <li key={keyOf(row)} class="command">
          {head && (
            <p>
              <strong>{head.cell(row)}</strong>
            </p>
          )}
          <FigureList
            rows={columns.filter((one) => one !== head).map(({ name, cell }) => [name, cell(row)] as const)}
          />
        </li>
      ))}
    </ul>
  )
}
