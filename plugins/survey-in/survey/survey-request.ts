/** A survey-in that somebody asked for and that has not begun yet. */
export interface SurveyRequest {
  /** Who asked: `http`, `mqtt`, `console` or `plugin`; undefined while nobody did. */
  by: string | undefined
}
