/** Words of the fleet for what stations say in codes. */
import { word } from '../../../../runtime/lib/page/ui/i18n.js'

/** The cause of a verdict; a code that no language knows is shown as it is. */
export const causeText = (code: string): string => word('why', code)
