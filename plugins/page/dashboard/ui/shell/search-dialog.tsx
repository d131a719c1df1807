import { useState } from 'preact/hooks'
import { choiceText, fieldOf, unitOf } from '../../../../../runtime/lib/page/ui/model/form.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { useModal } from '../../../../../runtime/lib/page/ui/parts/modal.js'
import { allTexts, t, word } from '../i18n/index.js'
import { helpOf, labelOf, partOf } from '../i18n/plugin-texts.js'
import { findIn, pageText, type SearchEntry } from '../model/search.js'
import { type Section, sectionsOf } from '../model/sections.js'
import { api, type Parameter } from '../station/api.js'
import { places } from './navigation.js'

const load = async (): Promise<SearchEntry[]> => {
  const parameters = await api.parameters()
  return parameters.map((one) => ({
    title: unitOf(labelOf(one)).label,
    words: `${one.name} ${one.title} ${helpOf(one)}`,
    // Its unit and choices, and what its section and the page with its form are called.
    text: [
      labelOf(one),
      word('search.unit', unitOf(labelOf(one)).unit),
      one.plugin,
      choicesText(one),
      ...sectionsOf([one]).map(sectionText),
    ].join(' '),
    kind: 'setting' as const,
    to: `settings?find=${encodeURIComponent(one.name)}`,
  }))
}

function choicesText({ name, schema }: Parameter): string {
  const field = fieldOf(schema)
  return field.choices.map((choice) => partOf(name, String(choice), choiceText(field, String(choice)))).join(' ')
}
const sectionText = ({ name, page }: Section): string => `${word('section', name)} ${page ? word('words', page) : ''}`

/** Finds pages, tasks and settings by what people call them. */
export function SearchDialog({ close }: { close: () => void }) {
  const [sought, setSought] = useState('')
  const dialog = useModal()
  const settings = useLoaded(load)
  const texts = allTexts()
  const pages = places().map(
    ({ path, title }): SearchEntry => ({
      title,
      words: word('words', path),
      text: pageText(path, texts),
      kind: 'page',
      to: path,
    }),
  )
  const found = findIn([...pages, ...(settings.value ?? [])], sought, t('search.synonyms'))
  return (
    <dialog ref={dialog} class="search" aria-label={t('search.open')} onClose={close}>
      <label for="search">{t('search.hint')}</label>
      <input
        id="search"
        type="search"
        autocomplete="off"
        value={sought}
        // The browser would only empty the field.
        onKeyDown={({ key }) => key === 'Escape' && close()}
        onInput={({ currentTarget }) => setSought(currentTarget.value)}
      />
      <p class="quiet" role="status">
        {sought && t('search.count', { count: found.length })}
      </p>
      <ul class="list">
        {found.map(({ title, kind, to }) => (
          <li key={to}>
            <a class="search-link target" href={`#/${to}`} onClick={close}>
              {title}
              <span class="quiet search-kind">{t(`search.${kind}`)}</span>
            </a>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <button type="button" onClick={close}>
          {t('confirm.no')}
        </button>
      </div>
    </dialog>
  )
}
