/** Two ways to use the page: a finger on a phone, and the keys of a keyboard at a desk. Tasks are written once for both. */
import type { Locator, Page } from 'playwright-core'

export const modes = { finger: { width: 390, height: 844 }, keys: { width: 1440, height: 900 } } as const
export type Mode = keyof typeof modes

/** Of an element in the page: '' without the focus, else `seen`, `not seen` or `covered` by another one. */
const focusOf = `(element) => {
  if (element !== document.activeElement) return ''
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const { left, top, width, height } = element.getBoundingClientRect()
  const there = document.elementFromPoint(left + width / 2, top + height / 2)
  const isCovered = !there || !(element.contains(there) || there.contains(element))
  return outlineStyle === 'none' || outlineWidth === '0px' ? 'not seen' : isCovered ? 'covered' : 'seen'
}`

/** Further than this nobody presses Tab. */
const mostPresses = 150

export class Hands {
  readonly page: Page
  readonly #isKeys: boolean
  /** Since the task began; typing is not counted, nor is the way by Tab. */
  taps = 0
  /** Where the focus was lost, not seen, or covered. */
  readonly stumbles: string[] = []

  constructor(page: Page, mode: Mode) {
    this.page = page
    this.#isKeys = mode === 'keys'
  }

  async tap(what: Locator): Promise<void> {
    this.taps += 1
    const one = what.first()
    if (!this.#isKeys) return one.tap()
    await this.#reach(one)
    const isTicked = (await one.evaluate('(element) => /^(checkbox|radio)$/.test(element.type)')) as boolean
    const isInDialog = (await one.evaluate("(element) => element.closest('dialog') !== null")) as boolean
    const name = await nameOf(one)
    await this.page.keyboard.press(isTicked ? 'Space' : 'Enter')
    if (isInDialog && !isTicked) await this.#focusIsBack(name)
  }

  /** A phone's keyboard has a key to send a form; it belongs to typing. */
  async enter(what: Locator, text: string, { isSent = false } = {}): Promise<void> {
    const one = what.first()
    if (this.#isKeys) {
      await this.#reach(one)
      await this.page.keyboard.press('Control+A')
      await this.page.keyboard.type(text)
    } else await one.fill(text)
    if (isSent) await this.page.keyboard.press('Enter')
  }

  async #reach(one: Locator): Promise<void> {
    await one.waitFor({ state: 'visible' })
    for (let pressed = 0; pressed <= mostPresses; pressed += 1) {
      const seen = (await one.evaluate(focusOf)) as string
      if (seen !== '') {
        if (seen !== 'seen') this.stumbles.push(`${await nameOf(one)}: the focus is ${seen}`)
        return
      }
      await this.page.keyboard.press('Tab')
    }
    throw new Error(`${await nameOf(one)}: not reached by ${mostPresses} presses of Tab`)
  }

  /** After the answer to a dialog the focus is where it was before, so that Tab goes on from there. */
  async #focusIsBack(name: string): Promise<void> {
    const isBack = '![null, document.body].includes(document.activeElement)'
    const waited = this.page.waitForFunction(isBack, undefined, { timeout: 3_000 })
    await waited.catch(() => this.stumbles.push(`${name}: the focus is lost after the dialog`))
  }
}

const nameOf = async (one: Locator): Promise<string> =>
  (await one.evaluate(
    "(element) => element.getAttribute('aria-label') ?? (element.textContent.trim().slice(0, 40) || element.id)",
  )) as string
