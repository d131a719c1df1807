import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isReadOnly, ValuesRefused } from '../../../../../../runtime/lib/page/ui/http.js'
import { changesOf, fieldOf, unitOf, wrongOf } from '../../../../../../runtime/lib/page/ui/model/form.js'
import { Confirm } from '../../../../../../runtime/lib/page/ui/parts/action.js'
import { Card } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { useFocusWrong } from '../../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { at, type Json, listAt, type StationError } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { t, word } from '../../i18n/index.js'
import { labelOf } from '../../i18n/plugin-texts.js'
import { type Section, sectionsOf } from '../../model/sections.js'
import type { Parameter } from '../../station/api.js'
import { document$ } from '../../station/live.js'
import { FieldRow, wordsOf } from './field.js'
import { useEntries } from './setting-form.js'

type Before = Record<string, unknown>

/** Changes that the station reverted, or could not apply, after its answer. */
const setBack = (document: Json | undefined) =>
  listAt<StationError>(document, 'base.state.errors').filter(({ code }) => code.startsWith('change-'))

/** Calls `fn` when a trial begins or ends, and when the station sets something back: the values are other ones then. */
function useTrial(troubles: readonly StationError[], fn: () => void): void {
  const isPending = at(document$.value, 'base.state.trial') !== undefined
  const now = `${isPending} ${troubles.map(({ code, t: since }) => code + since)}`
  const seen = useRef(now)
  useEffect(() => {
    if (seen.current === now) return
    seen.current = now
    fn()
  }, [now, fn])
}

/** Parameter fields by section. Entries are reviewed before they are sent, and can be undone. */
export function ParameterForm(props: {
  parameters: readonly Parameter[]
  /** Puts the sections on the page. */
  place?: (sections: readonly Section[], draw: (section: Section) => ComponentChildren) => ComponentChildren
  again: () => Promise<void>
}) {
  const { again, parameters, place = (sections, draw) => sections.map(draw) } = props
  const { change, clear, enter, entered, refused } = useEntries(again)
  const [isReviewing, setReviewing] = useState(false)
  const [before, setBefore] = useState<Before>()
  const changes = changesOf(parameters, entered)
  const { form, focusWrong } = useFocusWrong<HTMLDivElement>()
  const isWrong = parameters.some(
    ({ name, schema }) => changes.has(name) && wrongOf(fieldOf(schema), entered.get(name) ?? ''),
  )
  const isToUndo = parameters.some(
    ({ name, value }) => before && name in before && JSON.stringify(before[name]) !== JSON.stringify(value),
  )
  const undone = setBack(document$.value)
  const isUndone = undone.length > 0
  useTrial(undone, () => void again())
  useEffect(() => {
    // The previous message no longer applies.
    if (isUndone) tell('')
  }, [isUndone])

  const named = (name: string) => {
    const found = parameters.find((one) => one.name === name)
    return found ? unitOf(labelOf(found)).label : name
  }
  const { answer, run, isRunning, tell } = useSubmit(async (values: Before, undo: Before | undefined) => {
    try {
      await change(values)
    } catch (error) {
      if (!(error instanceof ValuesRefused)) throw error
      const reasons = [...error.reasons].map(([name, reason]) => `${named(name)}: ${reason}.`)
      throw new Error([t('settings.refused'), ...reasons].join(' '))
    }
    setBefore(undo)
    return t('settings.done')
  })
  const send = async (values: Before, undo: Before | undefined) => {
    setReviewing(false)
    if (!(await run(values, undo))) focusWrong()
  }
  const apply = () => {
    const shown = parameters.filter(({ name, secret }) => changes.has(name) && !secret)
    void send(Object.fromEntries(changes), Object.fromEntries(shown.map(({ name, value }) => [name, value])))
  }

  const drawSection = ({ name: section, page, own }: Section) => (
    <Card key={section} title={word('section', section)} level={3}>
      {own.map((parameter) => (
        <FieldRow
          key={parameter.name}
          parameter={parameter}
          entered={entered.get(parameter.name)}
          trouble={refused.get(parameter.name) ?? ''}
          disabled={isReadOnly.value}
          enter={(text) => enter(parameter.name, text)}
          page={page}
        />
      ))}
    </Card>
  )

  return (
    <div ref={form}>
      <p role="status">{isRunning ? t('settings.sending') : answer.text}</p>
      {before && isToUndo && (
        <button type="button" onClick={() => void send(before, undefined)}>
          {t('settings.undo', { names: Object.keys(before).map(named).join(', ') })}
        </button>
      )}
      {place(sectionsOf(parameters), drawSection)}
      {changes.size > 0 && (
        <div class="save-bar">
          <span>{t('settings.count', { count: changes.size })}</span>
          <button type="button" onClick={clear}>
            {t('settings.discard')}
          </button>
          <button type="button" class="main" onClick={() => (isWrong ? focusWrong() : setReviewing(true))}>
            {t('settings.review')}
          </button>
        </div>
      )}
      {isReviewing && (
        <Review
          changed={parameters.filter(({ name }) => changes.has(name))}
          changes={changes}
          answer={(isYes) => (isYes ? apply() : setReviewing(false))}
        />
      )}
    </div>
  )
}

/** The changes with old and new values, and their risks. */
export function Review(props: {
  changed: readonly Parameter[]
  changes: ReadonlyMap<string, unknown>
  /** Shown above; empty ones are left out. */
  notes?: readonly (string | false)[]
  /** The notes say why. */
  isBlocked?: boolean
  answer: (isYes: boolean) => void
}) {
  const { answer, changed, changes, isBlocked = false, notes = [] } = props
  const risky = changed.filter(({ endsLink, onTrial }) => endsLink || onTrial)
  return (
    <Confirm
      title={t('settings.reviewTitle')}
      yes={t('settings.apply')}
      isBlocked={isBlocked || changed.length === 0}
      answer={answer}
    >
      {notes.map((note) => note && <p key={note}>{note}</p>)}
      <table>
        <thead>
          <tr>
            <th scope="col">{t('settings.what')}</th>
            <th scope="col">{t('settings.now')}</th>
            <th scope="col">{t('settings.then')}</th>
          </tr>
        </thead>
        <tbody>
          {changed.map((one) => {
            const { name, secret, schema, value } = one
            return (
              <tr key={name}>
                <th scope="row">{labelOf(one)}</th>
                <td>{secret ? '•••' : wordsOf(one, fieldOf(schema), value)}</td>
                <td>{secret ? '•••' : wordsOf(one, fieldOf(schema), changes.get(name))}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {risky.length > 0 && (
        <p class="trouble">
          {t('settings.risky', { names: risky.map(labelOf).join(', ') })}{' '}
          {risky.some(({ onTrial }) => onTrial) && t('settings.riskyTrial')}
        </p>
      )}
    </Confirm>
  )
}
