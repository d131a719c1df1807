import type { ComponentChildren } from 'preact'
import { t } from '../i18n/index.js'

export interface Column<T> {
  readonly name: string
  readonly cell: (row: T) => ComponentChildren
  readonly isNumber?: boolean
  /** The row header. */
  readonly isHead?: boolean
}

/** A table that scrolls separately on a narrow screen, also by keyboard. */
export function DataTable<T>(props: {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string | number
}) {
  const { columns, keyOf, label, rows } = props
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
