import { BlockList, isIP } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clientOf } from '../../src/graphql/rate-limit.ts'
import { lawSeed } from '../support/seed.ts'

const keyOf = (address: string) => clientOf(undefined, address).client
const ipv4Of = (bytes: readonly number[]) => bytes.join('.')
const byte = fc.nat(255)
const ipv4 = fc.tuple(byte, byte, byte, byte)
const group = fc.nat(0xffff)
const groups = fc.tuple(group, group, group, group, group, group, group, group)

/**
 * A text of an address: zeros in front or not, upper case or not, one run of zeros left out, IPv4
 * at the end.
 */
const textOf = (all: readonly number[]): fc.Arbitrary<string> =>
  fc
    .record({
      padded: fc.boolean(),
      upper: fc.boolean(),
      dotted: fc.boolean(),
      at: fc.nat(7),
      wrapping: fc.constantFrom('x', '[x]', '[x]:443', 'x%eth0', '[x%1]:80'),
    })
    .map(({ padded, upper, dotted, at, wrapping }) => {
      const hex = all.map((one) => one.toString(16).padStart(padded ? 4 : 1, '0'))
      const [high = 0, low = 0] = all.slice(6)
      const tail = dotted ? [ipv4Of([high >> 8, high & 255, low >> 8, low & 255])] : hex.slice(6)
      const parts = [...hex.slice(0, 6), ...tail]
      let end = at
      while (end < 6 && all[end] === 0) end++
      const short =
        end > at + 1 && end <= 6
          ? `${parts.slice(0, at).join(':')}::${parts.slice(end).join(':')}`
          : parts.join(':')
      return wrapping.replace('x', upper ? short.toUpperCase() : short)
    })

const sorts: Readonly<
  Record<string, (inner: readonly number[], rest: readonly number[]) => number[]>
> = {
  mapped: ([a = 0, b = 0, c = 0, d = 0]) => [0, 0, 0, 0, 0, 0xffff, (a << 8) | b, (c << 8) | d],
  translated: ([a = 0, b = 0, c = 0, d = 0]) => [0, 0, 0, 0, 0xffff, 0, (a << 8) | b, (c << 8) | d],
  NAT64: ([a = 0, b = 0, c = 0, d = 0]) => [0x64, 0xff9b, 0, 0, 0, 0, (a << 8) | b, (c << 8) | d],
  '6to4': ([a = 0, b = 0, c = 0, d = 0], rest) => [
    0x2002,
    (a << 8) | b,
    (c << 8) | d,
    ...rest.slice(3),
  ],
  Teredo: ([a = 0, b = 0, c = 0, d = 0], rest) => [
    ...[0x2001, 0, ...rest.slice(2, 6)],
    ...[((a << 8) | b) ^ 0xffff, ((c << 8) | d) ^ 0xffff],
  ],
}

test.each(Object.entries(sorts))(
  'an IPv6 address of the sort %s is the client of the IPv4 address within, in each text',
  (_, addressOf) => {
    const cases = fc
      .tuple(ipv4, groups)
      .chain(([inner, rest]) => fc.tuple(fc.constant(inner), textOf(addressOf(inner, rest))))
    fc.assert(
      fc.property(cases, fc.nat(65_535), ([inner, text], port) => {
        const plain = ipv4Of(inner)
        expect(keyOf(text)).toBe(keyOf(plain))
        expect(keyOf(`${plain}:${port}`)).toBe(keyOf(plain))
      }),
      lawSeed(),
    )
  },
)

test('two IPv6 addresses are one client exactly if their first 64 bits are equal, in each text', () => {
  const pair = fc
    .tuple(groups, groups, fc.nat(4))
    .map(([one, two, same]) => {
      const first = [0x2400 + (one[0] % 0x100), ...one.slice(1)]
      return [first, [...first.slice(0, same), ...two.slice(same)]] as const
    })
    .filter(([, two]) => two[0] !== undefined && two[0] >= 0x2400 && two[0] < 0xfe00)
    .chain(([one, two]) => fc.tuple(fc.constant(one), textOf(one), textOf(two)))
  fc.assert(
    fc.property(pair, ([one, first, second]) => {
      const network = new BlockList()
      network.addSubnet(one.map((part) => part.toString(16)).join(':'), 64, 'ipv6')
      const plain = (text: string) => text.replace(/^\[|\](:\d+)?$/g, '').replace(/%.*/, '')
      expect(isIP(plain(second))).toBe(6)
      expect(keyOf(first) === keyOf(second)).toBe(network.check(plain(second), 'ipv6'))
    }),
    lawSeed(),
  )
})

test('two IPv4 addresses are two clients, and texts that are no address are one', () => {
  expect(keyOf('1.2.3.4')).not.toBe(keyOf('1.2.3.5'))
  expect(keyOf('::ffff:102:304')).not.toBe(keyOf('::ffff:102:305'))
  expect(keyOf('64:ff9b::1.2.3.4')).not.toBe(keyOf('64:ff9b::1.2.3.5'))
  const texts = [
    '',
    'unknown',
    '_hidden',
    '1.2.3',
    '1.2.3.4.5',
    '010.0.0.1',
    '0x7f.1',
    'x'.repeat(9_000),
  ]
  expect(new Set([...texts, '[::1', ':::', '::g', '1::2::3'].map(keyOf)).size).toBe(1)
})
