/** The link to the router: its states, its turns and its figures. */
export { LinkFigures } from './figures.js'
export { type CallOptions, RouterLink } from './router-link.js'
