/** A person of the demo, with what they write, from old to new. */
export interface Person {
  readonly handle: string
  readonly name: string
  readonly bio: string
  readonly posts: readonly string[]
}

/** Made-up people. The visitor of the demo is the first. */
export const people: readonly Person[] = [
  {
    handle: 'alice',
    name: 'Alice Moreau',
    bio: 'Cyclist, reader, maker of too many lists. Lyon.',
    posts: [
      'New week, new list. Item one: make fewer lists.',
      'Crossed the river at six this morning. No one else, two herons, perfect light.',
      'Finished the long book. Already miss everyone in it.',
      'Does anyone have a good recipe for a lot of zucchini? Asking for a very full kitchen.',
    ],
  },
  {
    handle: 'bob',
    name: 'Bob Okafor',
    bio: 'Bread, mostly sourdough. I answer questions about flour.',
    posts: [
      'Day four of the new starter. It doubled in three hours. We have lift-off. #sourdough',
      'A wet dough is not a failed dough. Wet hands, short kneads, patience.',
      'Rye today: dense, dark, gone by lunch. #sourdough',
      '@alice grate them into the bread. I am serious. 200 g for a loaf, squeeze them first.',
      'The oven light is the best television.',
      'Baked eight loaves for the street party and carried home none.',
    ],
  },
  {
    handle: 'chen',
    name: 'Chen Wei',
    bio: 'Night-sky photographer. Will travel for dark places.',
    posts: [
      'Three hours of cloud, then eleven clear minutes. That was enough.',
      'Long exposure of the valley: the only straight line is the last train home. #nightsky',
      'The comet is visible to the naked eye now. Look west, half an hour after sunset.',
      'Thermos, two pairs of socks, red torch. The rest is optional. #nightsky',
      '@dora the lens you lent me saw Saturn’s rings last night. I may never give it back.',
    ],
  },
  {
    handle: 'dora',
    name: 'Dora Lindqvist',
    bio: 'I repair cameras and sometimes use them.',
    posts: [
      'Someone brought in a 1954 rangefinder that spent ten years in a boat. It clicks again.',
      'A stuck shutter is nine times out of ten one dry drop of oil.',
      'Opened the workshop window and now a blackbird supervises.',
      'Film is back in stock. Two per person, please be kind to each other. #film',
      'Today’s repair came with a note: “belonged to my mother, no hurry”. I hurried.',
    ],
  },
  {
    handle: 'elif',
    name: 'Elif Demir',
    bio: 'Maps, trains and public space. Civil engineer.',
    posts: [
      'Good stations have one thing in common: you never have to read a sign twice.',
      'Walked the whole tram line 3 today. 21 stops, 14 benches, one excellent bakery.',
      'The new bridge opens on Saturday, and the first hour is for people on foot only. #city',
      'Counted bikes on the quay from 8 to 9: 1,204. Last year it was 811. #city',
      'A map is an argument about what matters.',
    ],
  },
  {
    handle: 'farid',
    name: 'Farid Haddad',
    bio: 'Teaches mathematics to people who say they cannot do it.',
    posts: [
      'A student asked whether zero is lonely. Best question of the term.',
      'We folded paper for an hour and proved three theorems. #maths',
      'If you are stuck, draw it. If you are still stuck, draw it badly.',
      'Exams are marked. Everyone passed. I am buying cake for 31 people.',
    ],
  },
  {
    handle: 'greta',
    name: 'Greta Holm',
    bio: 'Gardener on a roof, eleven floors up.',
    posts: [
      'First tomato of the year. Ate it standing up, still warm. #roofgarden',
      'The bees found the lavender within a day. How do they know?',
      'Wind took the bean poles. The beans do not seem to mind. #roofgarden',
      'Trading: basil, far too much, for anything that is not zucchini. Looking at you, @alice.',
      'Watered before sunrise and heard the whole city wake up.',
    ],
  },
  {
    handle: 'hugo',
    name: 'Hugo Castellanos',
    bio: 'Plays the double bass. Available for weddings and long silences.',
    posts: [
      'Carried the bass up five floors for a rehearsal that is on Thursday.',
      'New strings. The whole house knows. #jazz',
      'Played to nine people and a dog. The dog stayed for both sets. #jazz',
      'Practising slowly is a superpower that no one wants.',
    ],
  },
  {
    handle: 'ines',
    name: 'Inês Carvalho',
    bio: 'Swims in the sea all year. Writes about it at breakfast.',
    posts: [
      '11 degrees this morning. Loud on the way in, quiet on the way out. #coldwater',
      'A seal looked at me as if I were the strange one.',
      'The secret to winter swimming is a hat, and a friend with tea. #coldwater',
      'Flat sea, no wind, the horizon drawn with a ruler.',
      'Taught @elif to float today. She says that bridges are easier.',
    ],
  },
  {
    handle: 'jonas',
    name: 'Jonas Weber',
    bio: 'Rebuilds radios from before the transistor.',
    posts: [
      'It hums! After four evenings it finally hums! #radio',
      'Picked up a station from 2,100 km away on a wire in the apple tree.',
      'Found a hand-drawn circuit inside the cabinet, dated 1938, signed only “K.” #radio',
      'Warning to visitors: everything on this table is warm.',
    ],
  },
  {
    handle: 'kaya',
    name: 'Kaya Thompson',
    bio: 'Librarian. Ask me for a book you have not heard of.',
    posts: [
      'Someone returned a book that was due in 1987, with flowers.',
      'Tell me the last thing that made you laugh, and I will tell you what to read next. #books',
      'The children’s corner has voted: dragons 41, trains 38, “both” 112.',
      'We lend umbrellas now. They come back more often than the poetry. #books',
      '@hugo your quiet concert in the reading room is the most borrowed event we ever had.',
    ],
  },
  {
    handle: 'liam',
    name: 'Liam O’Connor',
    bio: 'Ferry pilot. Weather, mostly.',
    posts: [
      'Fog until ten, then the islands came out one by one.',
      'Passenger of the day: a cello, with a seat of its own and a seat belt.',
      'Wind 7, waves 3 m, nobody sick, everyone proud.',
      'Dolphins at the harbour mouth again. Fifteen minutes late and not one complaint.',
    ],
  },
]

/** What people see while someone watches. A post has one, and one of the remarks. */
export const moments: readonly string[] = [
  'Just looked up: what a sky.',
  'The printer worked at the first try.',
  'Rain on the roof, book on the knee. #books',
  'The market has the first cherries.',
  'Someone is practising the trumpet two streets away.',
  'Missed the bus, met a friend.',
  'A very small dog just stopped all the traffic. #city',
  'Found my gloves in the coat of last winter.',
  'The neighbours are singing in the stairwell again.',
  'Fixed the squeaking door with a pencil.',
  'Counted four rainbows between two stations.',
  'The bakery gave me the burnt corner, on purpose.',
  'Learned to say “thank you” in a sixth language.',
  'Power cut in our street: all at once, candles. #city',
  'The cat has chosen the new chair.',
  'Walked home the long way.',
  'Tried my grandmother’s soup from memory.',
  'A stranger returned my umbrella.',
  'Saw the first swallow of the year.',
]

export const remarks: readonly string[] = [
  'That will do for today.',
  'No further questions.',
  'Small victories!',
  'I did not expect that.',
  'How is your day?',
  'More of this, please.',
  'My day is made.',
  'Who else has seen it?',
  'It was worth the wait.',
  'Tomorrow again.',
  'I am still smiling.',
]

export const replies: readonly string[] = [
  'This made my day.',
  'Same here!',
  'I want to see pictures.',
  'Well said.',
  'How did you do that?',
  'Next time call me, I am coming along.',
  'You are not alone in this.',
]
