import { placeFrom } from '../../../../runtime/lib/page/ui/place.js'

export const place = placeFrom('status')
