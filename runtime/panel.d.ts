/**
 * Types of a panel (`rtk-base/panel`): the exports of the browser module of a panel (`stationPage`), and its access to the
 * station. Add `dom` to `lib` in the `tsconfig.json` of the panel.
 */

/** Access of a panel to the station. Requests have the rights of the person who uses the page. */
export interface PanelStation {
  /** Calls `fn` with the status document, at once and then about once a second. The returned function ends it. */
  onDocument(fn: (document: Readonly<Record<string, unknown>>) => void): () => void
  /** `GET` of a path of this station, e.g. `/epoch-meter`: resolves with the JSON of the answer, rejects if it is refused. */
  get(path: string): Promise<unknown>
  /** `POST /change`; resolves with the result, and the errors of refused values. */
  change(values: Readonly<Record<string, unknown>>): Promise<{
    readonly result: 'ok' | 'failed'
    readonly errors?: readonly { readonly name: string; readonly message: string }[]
  }>
  /** `POST /actions/name`; resolves with the text for a person, and the value for programs if the action has one. */
  act(
    name: string,
    input?: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly text: string; readonly value?: unknown }>
  /** The language of the page: `en`, `de`. When it changes, the panel is closed and shown again. */
  readonly language: string
}

/**
 * The function that the module exports as `show`. It draws into `element`, which is empty and belongs to the panel. The
 * Content-Security-Policy of the page forbids inline styles, inline scripts and `innerHTML`. The returned function is
 * called when the panel is left or replaced.
 */
export type ShowPanel = (element: HTMLElement, station: PanelStation) => (() => void) | undefined
