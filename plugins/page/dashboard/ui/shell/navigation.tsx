import { Icon } from '../../../../../runtime/lib/page/ui/parts/icon.js'
import { t } from '../i18n/index.js'
import { groups, type PageGroup } from '../pages/index.js'
import { place } from '../place.js'
import { panels } from '../station/live.js'

export interface Place {
  readonly path: string
  readonly title: string
  readonly group: PageGroup
  readonly isExpert: boolean
}

/** The pages of the station, and those of its plugins, which the page for experts lists. */
export function places(): Place[] {
  const own = groups.flatMap((group) =>
    group.pages.map(({ path, title, isExpert = false }) => ({ path, title: t(title), group, isExpert })),
  )
  const device = groups.at(-1) as PageGroup
  const others = (panels.value ?? []).map(({ plugin, title }) => ({
    path: `panel/${plugin}`,
    title,
    group: device,
    isExpert: true,
  }))
  return [...own, ...others]
}

export const placeHere = (all: readonly Place[]) => all.find(({ path }) => path === place.value.path)

const isWithin = (group: PageGroup, here: Place | undefined) => (one: Place) =>
  one.group === group && (!one.isExpert || one.path === here?.path)

function Links({ of, here }: { of: readonly Place[]; here: Place | undefined }) {
  return (
    <>
      {of.map(({ path, title }) => (
        <li key={path}>
          <a href={`#/${path}`} aria-current={path === here?.path ? 'page' : undefined}>
            {title}
          </a>
        </li>
      ))}
    </>
  )
}

/** Four groups: a bar at the bottom of a phone, a column with the pages of the open group on a wide screen. */
export function Groups() {
  const all = places()
  const here = placeHere(all)
  return (
    <nav class="groups" aria-label={t('app.menu')}>
      <ul>
        {groups.map((group) => {
          const isHere = here?.group === group
          return (
            <li key={group.title}>
              <a class="group" href={`#/${group.pages[0]?.path}`} aria-current={isHere ? 'true' : undefined}>
                <Icon name={group.icon} />
                {t(group.title)}
              </a>
              <ul class="within" hidden={!isHere}>
                <Links of={all.filter(isWithin(group, here))} here={here} />
              </ul>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

/** On a phone: the pages of the group, above the content. */
export function Tabs() {
  const all = places()
  const here = placeHere(all)
  if (!here) return null
  return (
    <nav aria-label={t('app.within', { group: t(here.group.title) })}>
      <ul class="tabs">
        <Links of={all.filter(isWithin(here.group, here))} here={here} />
      </ul>
    </nav>
  )
}
