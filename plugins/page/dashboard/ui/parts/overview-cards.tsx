import { MapCard } from './map-card.js'
import { DayCard } from './plots/day-card.js'
import { SkyCard } from './sky-card.js'

/** The sky, the rovers, the day: below the verdict and the chain, and loaded after them. */
export const OverviewCards = () => (
  <>
    <div class="columns">
      <SkyCard />
      <MapCard />
    </div>
    <DayCard />
  </>
)
