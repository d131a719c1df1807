import { placeFrom } from '../../../runtime/ui/place.js'

export const place = placeFrom('overview')
