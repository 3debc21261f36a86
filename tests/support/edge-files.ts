import { gzipSync } from 'node:zlib'
import { refusedEdgeFiles } from './refused-edge-files.ts'

/** An edge list as a tool or a person writes it, and what an import must make of it. */
export interface EdgeFile {
  readonly name: string
  readonly content: string | Buffer
  /** The names are subjects of this issuer, not handles. */
  readonly issuer?: string
  /** `from>to` of each edge in the order of the file. Undefined: the file is refused. */
  readonly edges?: readonly string[]
  /** The lines that hold no edge. Those that are not named are zero. */
  readonly lines?: Readonly<
    Partial<Record<'headings' | 'comments' | 'empty' | 'self' | 'invalid', number>>
  >
  /** What the refusal says. */
  readonly refused?: string
}

const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')
const abc = ['ann>bob', 'bob>cem', 'cem>ann']
const numbers = ['1>2', '2>3', '3>1']

/** Files that an import reads. */
const readable: readonly EdgeFile[] = [
  {
    name: 'SNAP',
    content:
      '# Directed graph (each unordered pair of nodes is saved once): p2p.txt\n# Nodes: 3 Edges: 3\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n3\t1\n',
    edges: numbers,
    lines: { comments: 3 },
  },
  {
    name: 'SNAP with signs',
    content: '# FromNodeId\tToNodeId\tSign\n1\t2\t-1\n2\t3\t1\n3\t1\t1\n',
    edges: numbers,
    lines: { comments: 1 },
  },
  {
    name: 'SNAP with times',
    content: '1 2 1082040961\n2 3 1082155839\n3 1 1082414391\n',
    edges: numbers,
  },
  {
    name: 'MUSAE, a heading of id_1,id_2',
    content: 'id_1,id_2\n1,2\n2,3\n3,1\n',
    edges: numbers,
    lines: { headings: 1 },
  },
  {
    name: 'KONECT',
    content: '% sym unweighted\n% 3 3 3\n1 2 \n2 3 \n3 1 \n',
    edges: numbers,
    lines: { comments: 2 },
  },
  {
    name: 'KONECT with weights and times',
    content: '% asym weighted\n1 2\t1 1082040961\n2 3\t1 1082155839\n3 1\t1 1082414391\n',
    edges: numbers,
    lines: { comments: 1 },
  },
  {
    name: 'Matrix Market, with a line of sizes',
    content: '%%MatrixMarket matrix coordinate pattern symmetric\n%\n3 3 3\n1 2\n2 3\n3 1\n',
    edges: numbers,
    lines: { comments: 2, headings: 1 },
  },
  {
    name: 'NetworkX write_edgelist',
    content: "ann bob {}\nbob cem {'weight': 3, 'since': '2020 01'}\ncem ann {}\n",
    edges: abc,
  },
  {
    name: 'NetworkX write_weighted_edgelist',
    content: 'ann bob 1.5\nbob cem 2\ncem ann 7e-1\n',
    edges: abc,
  },
  {
    name: 'NetworkX with commas',
    content: "ann,bob,{'weight': 3, 'since': 2020}\nbob,cem,{}\ncem,ann,{}\n",
    edges: abc,
  },
  {
    name: 'pandas with its index',
    content: ',source,target\n0,ann,bob\n1,bob,cem\n2,cem,ann\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'Gephi edges',
    content:
      'Source,Target,Type,Id,Label,timeset,Weight\nann,bob,Directed,0,,,1.0\nbob,cem,Directed,1,"one, two",,1.0\ncem,ann,Directed,2,,,2.0\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'Gephi with semicolons, and the target first',
    content: 'Id;Target;Source;Label\n0;bob;ann;x\n1;cem;bob;\n2;ann;cem;\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'Neo4j admin import',
    content:
      ':START_ID,since:int,:END_ID,:TYPE\nann,2019,bob,FOLLOWS\nbob,2020,cem,FOLLOWS\ncem,2021,ann,FOLLOWS\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'Neo4j admin import with an id space',
    content:
      ':START_ID(User-ID);:END_ID(User-ID);:TYPE\nann;bob;FOLLOWS\nbob;cem;FOLLOWS\ncem;ann;FOLLOWS\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'Neo4j cypher-shell',
    content: 'a.name, b.name\n"ann", "bob"\n"bob", "cem"\n"cem", "ann"\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'Neo4j apoc.export.csv, with its nodes',
    content:
      '"_id","_labels","name","_start","_end","_type"\n"1",":User","ann",,,\n,,,"1","2","FOLLOWS"\n,,,"2","3","FOLLOWS"\n,,,"3","1","FOLLOWS"\n',
    edges: numbers,
    lines: { headings: 1, invalid: 1 },
  },
  {
    name: 'R write.csv with names of rows',
    content: '"","from","to"\n"1","ann","bob"\n"2","bob","cem"\n"3","cem","ann"\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'R write.table, whose heading has a field less',
    content: '"from" "to"\n"1" "ann" "bob"\n"2" "bob" "cem"\n"3" "cem" "ann"\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'R read.table names',
    content: 'V1\tV2\nann\tbob\nbob\tcem\ncem\tann\n',
    edges: abc,
    lines: { headings: 1 },
  },
  { name: 'igraph ncol', content: 'ann bob 3\nbob cem\ncem ann 0.5\n', edges: abc },
  {
    name: 'Excel in German: sep=, semicolons, decimal commas, empty rows',
    content:
      'sep=;\r\nFollower Name;Followee Name;Gewicht\r\nann;bob;0,5\r\nbob;cem;1,25\r\ncem;ann;2\r\n;;\r\n;;\r\n',
    edges: abc,
    lines: { headings: 2, empty: 2 },
  },
  {
    name: 'Excel Unicode text: UTF-16 with tabs',
    content: utf16('Abonn\u00e9\tAbonnement\r\nann\tbob\r\nbob\tcem\r\ncem\tann\r\n'),
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'UTF-16 of big endian',
    content: utf16('from,to\nann,bob\nbob,cem\ncem,ann\n').swap16(),
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'Excel CSV UTF-8 with a byte order mark',
    content: '\uFEFFfollower,followee\r\nann,bob\r\nbob,cem\r\ncem,ann\r\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'Excel for Mac: lines end with CR',
    content: 'from;to\rann;bob\rbob;cem\rcem;ann\r',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'LibreOffice: all quoted, trailing separators',
    content: '"Follower","Followee",""\n"ann","bob",\n"bob","cem",\n"cem","ann",""\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'Google Sheets: no-break spaces, blanks and empty rows',
    content: 'User, Follows\n\u00a0ann , bob\nbob,\u00a0cem\u00a0\n  \n,\n cem,ann\n',
    edges: abc,
    lines: { headings: 1, empty: 2 },
  },
  {
    name: 'two empty lines and a comment before the heading',
    content: '\n\n// exported today\nsource target\nann bob\nbob cem\ncem ann\n',
    edges: abc,
    lines: { headings: 1, comments: 1, empty: 2 },
  },
  {
    name: 'pipes',
    content: 'user_a|user_b\nann|bob\nbob|cem\ncem|ann\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'psql: an aligned table',
    content:
      ' follower | followee \n----------+----------\n ann      | bob\n bob      | cem\n cem      | ann\n(3 rows)\n',
    edges: abc,
    lines: { headings: 1, comments: 1, invalid: 1 },
  },
  {
    name: 'mysql: a table with frames',
    content:
      '+------+------+\n| from | to   |\n+------+------+\n| ann  | bob  |\n| bob  | cem  |\n| cem  | ann  |\n+------+------+\n',
    edges: abc,
    lines: { headings: 1, comments: 3 },
  },
  {
    name: 'a table of SQL with an id and dates',
    content:
      'id,follower_id,followed_id,created_at\n10,ann,bob,2024-01-02 03:04:05\n11,bob,cem,2024-01-02 03:04:05\n12,cem,ann,2024-01-02 03:04:05\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'following_user_id, followed_user_id',
    content: 'followed_user_id,following_user_id\nbob,ann\ncem,bob\nann,cem\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'user and follower: the second follows the first',
    content: 'user_id\tfollower_id\n2\t1\n3\t2\n1\t3\n',
    edges: numbers,
    lines: { headings: 1 },
  },
  {
    name: 'French',
    content: 'suiveur;suivi\nann;bob\nbob;cem\ncem;ann\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'Spanish',
    content: 'Seguidor,Seguido\nann,bob\nbob,cem\ncem,ann\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'German',
    content: 'von;nach;seit\nann;bob;2020\nbob;cem;2021\ncem;ann;2022\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'Russian',
    content: 'подписчик,автор\nann,bob\nbob,cem\ncem,ann\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'labels in the third column',
    content: 'ann,bob,friend\nbob,cem,"a, b"\ncem,ann,\n',
    edges: abc,
  },
  {
    name: 'names with @ and capitals',
    content: '@Ann,@Bob\n@bob,\u200bcem\nCEM,@ann\n',
    edges: abc,
  },
  {
    name: 'self edges, duplicates and malformed lines',
    content: 'ann bob\nbob bob\nann bob\nbob cem\ncem a@b\ncem ann\n',
    edges: ['ann>bob', 'ann>bob', 'bob>cem', 'cem>ann'],
    lines: { self: 1, invalid: 1 },
  },
  {
    name: 'two files, one behind the other',
    content: 'from,to\nann,bob\nbob,cem\nfrom,to\ncem,ann\n',
    edges: abc,
    lines: { headings: 2 },
  },
  {
    name: 'gzip',
    content: gzipSync('from,to\nann,bob\nbob,cem\ncem,ann\n'),
    edges: abc,
    lines: { headings: 1 },
  },
  { name: 'one line', content: 'ann,bob', edges: ['ann>bob'] },
  {
    name: 'a heading and one edge',
    content: 'follower,followee\nann,bob\n',
    edges: ['ann>bob'],
    lines: { headings: 1 },
  },
  {
    name: 'handles that look like headings',
    content: 'user1 user2\nuser2 user3\nuser4 user1\n',
    edges: ['user1>user2', 'user2>user3', 'user4>user1'],
  },
  { name: 'single letters', content: 'a b\nb c\nc a\n', edges: ['a>b', 'b>c', 'c>a'] },
  {
    name: 'pairs that do not meet',
    content: 'ann,bob\ncem,dan\neve,fay\n',
    edges: ['ann>bob', 'cem>dan', 'eve>fay'],
  },
  { name: 'numbers before names', content: '17,23\nann,bob\n', edges: ['17>23', 'ann>bob'] },
  {
    name: 'names beside numbers that meet',
    content: 'ann,bob\n17,ann\n23,17\n',
    edges: ['ann>bob', '17>ann', '23>17'],
  },
  { name: 'a name beside a number', content: 'ann,17\n17,23\n', edges: ['ann>17', '17>23'] },
  {
    name: 'subjects of Auth0',
    issuer: '',
    content: 'follower,followee\nauth0|5f7c,"google, ""oauth2""|7"\ngoogle-oauth2|1,auth0|5f7c\n',
    edges: ['auth0|5f7c>google, "oauth2"|7', 'google-oauth2|1>auth0|5f7c'],
    lines: { headings: 1 },
  },
  {
    name: 'subjects that are addresses of mail',
    issuer: '',
    content: 'ann@a.example;bob@b.example;0,5\nbob@b.example;ann@a.example;1,5\n',
    edges: ['ann@a.example>bob@b.example', 'bob@b.example>ann@a.example'],
  },
  {
    name: 'a title above the heading',
    content: 'Followers of 2026,,\n,,\nFollower,Followee,Since\nann,bob,1\nbob,cem,2\ncem,ann,3\n',
    edges: abc,
    lines: { headings: 1, empty: 1, invalid: 1 },
  },
  {
    name: 'ids and names of both',
    content:
      'user_id,user_screen_name,follower_id,follower_screen_name\n2,bob,1,ann\n3,cem,2,bob\n1,ann,3,cem\n',
    edges: numbers,
    lines: { headings: 1 },
  },
  {
    name: 'Person A and Person B',
    content: 'Person A,Person B,Since\nann,bob,1\nbob,cem,2\ncem,ann,3\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'an unknown word beside follower and followee',
    content: 'follower_xy,followee_xy\nann,bob\nbob,cem\ncem,ann\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'a table of Markdown',
    content: '| who | whom |\n|:--|--:|\n| ann | bob |\n| bob | cem |\n| cem | ann |\n',
    edges: abc,
    lines: { headings: 1, comments: 1 },
  },
  {
    name: 'a comment that names the target first',
    content: '# ToNodeId\tFromNodeId\n2\t1\n3\t2\n1\t3\n',
    edges: numbers,
    lines: { comments: 1 },
  },
  {
    name: 'R write.table without quotes, whose heading has a field less',
    content: 'from to\n1 ann bob\n2 bob cem\n3 cem ann\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'R write.table of filtered rows',
    content: '"from" "to"\n"3" "ann" "bob"\n"7" "bob" "cem"\n"9" "cem" "ann"\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'a weight that the heading does not name',
    content: 'from to\n1 2 5\n2 3 7\n3 1 0.5\n',
    edges: numbers,
    lines: { headings: 1 },
  },
  {
    name: 'SPSS without names of variables',
    content: '\uFEFFVAR00001;VAR00002\r\nann;bob\r\nbob;cem\r\n',
    edges: ['ann>bob', 'bob>cem'],
    lines: { headings: 1 },
  },
  {
    name: 'a time that is called Followed Since, before the followee',
    content: 'Follower ID,Followed Since,Followee ID\n1,2024,2\n2,2024,3\n3,2025,1\n',
    edges: numbers,
    lines: { headings: 1 },
  },
  {
    name: 'kinds of users before their names',
    content:
      'Source Type,Source,Target Type,Target\nuser,ann,user,bob\nuser,bob,user,cem\nuser,cem,user,ann\n',
    edges: abc,
    lines: { headings: 1 },
  },
  {
    name: 'a comment that names the target first, before another one',
    content: '# ToNodeId FromNodeId\n# Nodes: 3 Edges: 3\n2 1\n3 2\n1 3\n',
    edges: numbers,
    lines: { comments: 2 },
  },
  {
    name: 'a comment that names the target first, and no weight',
    content: '# target source\nbob ann 3\ncem bob 4\nann cem 5\n',
    edges: abc,
    lines: { comments: 1 },
  },
]

/** Files of many tools, each with what an import must make of it. */
export const edgeFiles: readonly EdgeFile[] = [...readable, ...refusedEdgeFiles]
