/**
 * The browser half of `rtk-base/page`: the parts that the station's page and the fleet's are made of, for a panel (`panelOf`) or a page
 * (`openPage`, `Shell`; import `rtk-base/page/ui/styles.css` there) of your own. They are Preact components.
 */
export { EventStream } from './event-stream.js'
export {
  ask,
  change,
  isReadOnly,
  json,
  loginWanted,
  post,
  Refused,
  type Session,
  session,
  sessions,
  ValuesRefused,
  withBody,
} from './http.js'
export {
  ago,
  duration,
  type Fill,
  figure,
  type Language,
  language,
  locale,
  moment,
  notation,
  setTexts,
  type Texts,
  textOf,
  word,
} from './i18n.js'
export { Action, Confirm } from './parts/action.js'
export { Bands, type DrawnBand, type DrawnTime } from './parts/bands.js'
export { Card, FigureList, Outcome, Tone, type ToneName } from './parts/card.js'
export { CopyButton } from './parts/copy-button.js'
export { type Column, DataTable } from './parts/data-table.js'
export { Empty } from './parts/empty.js'
export { Field, type FieldProps, FileField, type Option, Options, Switch } from './parts/form/field.js'
export { Form } from './parts/form/form.js'
export { SchemaField, type SchemaFieldProps } from './parts/form/schema-field.js'
export { type Answer, reasonOf, type Submission, useSubmit } from './parts/form/submit.js'
export { Icon, type IconName } from './parts/icon.js'
export { Later, type Loaded, useLoaded, Waiting } from './parts/loaded.js'
export { Outlet } from './parts/outlet.js'
export { type PanelProps, panelOf } from './parts/panel.js'
export { type Curve, type Note, Plot, type PlotProps } from './parts/plot.js'
export { openPage, Shell } from './parts/shell.js'
export { type Gap, Timeline } from './parts/timeline.js'
export { type Value, ValueCard, ValueList } from './parts/values.js'
export { type Place, placeFrom } from './place.js'
export { at, type Json, listAt, numberAt, textAt } from './station/document.js'
