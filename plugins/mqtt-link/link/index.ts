/** The state machine of the link: attempts, retries, holds, pings. */
export { Link } from './link.js'
