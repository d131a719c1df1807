import type { PluginContext } from 'rtk-base/plugin'
import type { ErrorValues } from 'rtk-base/services'

/** Runs work whose failure is a standing error with the reason, until it succeeds. @returns whether it did */
export async function during(
  { errors, signal }: Pick<PluginContext, 'errors' | 'signal'>,
  code: string,
  work: () => Promise<void>,
  values: ErrorValues = {},
): Promise<boolean> {
  try {
    await work()
    errors.while(code, false)
    return true
  } catch (error) {
    if (!signal.aborted) errors.while(code, { ...values, reason: (error as Error).message })
    return false
  }
}
