import type { Facts, Truth } from '../../src/feed/truth.ts'

/** Broken on purpose: nothing is ever known of mutes and blocks, or of what else is named. */
export function forgetful(right: Truth, spoilt?: keyof Facts): Truth {
  if (!spoilt) return right
  return Object.create(right, {
    about: {
      value: async (...asked: Parameters<Truth['about']>) => ({
        ...(await right.about(...asked)),
        [spoilt]: new Map(),
      }),
    },
  })
}
