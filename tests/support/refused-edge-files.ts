import type { EdgeFile } from './edge-files.ts'

const refusedAs = (name: string, content: string | Buffer, refused: string): EdgeFile => ({
  name,
  content,
  refused,
})

/** Files that an import refuses as a whole. */
export const refusedEdgeFiles: readonly EdgeFile[] = [
  refusedAs(
    'Mastodon following_accounts.csv',
    'Account address,Show boosts,Notify on new posts,Languages\ngargron@mastodon.social,true,false,\nann@a.example,true,true,"en, de"\n',
    'line 1',
  ),
  refusedAs(
    'Mastodon followers.csv',
    'Account address\ngargron@mastodon.social\nann@a.example\n',
    'line 1',
  ),
  refusedAs('Mastodon blocked_accounts.csv', 'gargron@mastodon.social\nann@a.example\n', 'line 1'),
  refusedAs(
    'Mastodon muted_accounts.csv',
    'Account address,Hide notifications\nann@a.example,true\n',
    'line 1',
  ),
  {
    ...refusedAs(
      'Mastodon accounts as subjects',
      'Account address,Show boosts\nann@a.example,true\nbob@a.example,true\n',
      'line 1',
    ),
    issuer: '',
  },
  refusedAs('Mastodon lists.csv', 'friends,ann@a.example\nfriends,bob@b.example\n', 'line 1'),
  refusedAs(
    'handles of other servers',
    '@ann@a.example,@bob@b.example\n@bob@b.example,@ann@a.example\n',
    'line 1',
  ),
  refusedAs(
    'addresses of profiles',
    'https://x.com/ann,https://x.com/bob\nhttps://x.com/bob,https://x.com/ann\n',
    'line 1',
  ),
  refusedAs(
    'Bluesky did',
    'did:plc:z72i7hdynmk6r22z27h6tvur,did:plc:ewvi7nxzyoun6zhxrhs64oiz\n',
    'line 1',
  ),
  refusedAs(
    'Bluesky CAR',
    Buffer.from([
      0x3a, 0xa2, 0x65, 0x72, 0x6f, 0x6f, 0x74, 0x73, 0x81, 0xd8, 0x2a, 0x58, 0x25, 0, 1,
    ]),
    'binary',
  ),
  refusedAs(
    'Twitter archive',
    'window.YTD.following.part0 = [\n  {\n    "following" : {\n      "accountId" : "12"\n    }\n  }\n]\n',
    'Twitter',
  ),
  refusedAs(
    'Instagram JSON',
    '{\n  "relationships_following": [\n    {"title": "", "string_list_data": [{"href": "https://www.instagram.com/ann", "value": "ann"}]}\n  ]\n}\n',
    'JSON',
  ),
  refusedAs('JSON lines', '{"from":"ann","to":"bob"}\n{"from":"bob","to":"cem"}\n', 'JSON'),
  refusedAs('node-link JSON', '[["ann","bob"]]', 'JSON'),
  refusedAs(
    'GraphML',
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n<graph edgedefault="directed">\n<edge source="ann" target="bob"/>\n</graph></graphml>\n',
    'XML',
  ),
  refusedAs('GEXF without a declaration', '<gexf version="1.3">\n</gexf>\n', 'XML'),
  refusedAs(
    'GEXF in UTF-16',
    Buffer.from('\uFEFF<gexf version="1.3">\n</gexf>\n', 'utf16le'),
    'XML',
  ),
  refusedAs('a page of HTML', '\n<!DOCTYPE html>\n<html><body>Sign in</body></html>\n', 'HTML'),
  refusedAs(
    'GML',
    'Creator "igraph version 0.10"\nVersion 1\ngraph\n[\n  directed 1\n  node\n  [\n    id 0\n  ]\n]\n',
    'GML',
  ),
  refusedAs('Pajek', '*Vertices 2\n1 "ann"\n2 "bob"\n*Arcs\n1 2 1\n', 'Pajek'),
  refusedAs('Graphviz', '// generated\ndigraph G {\n  ann -> bob;\n}\n', 'Graphviz'),
  refusedAs(
    'GDF',
    'nodedef>name VARCHAR,label VARCHAR\nann,Ann\nedgedef>node1 VARCHAR,node2 VARCHAR\nann,bob\n',
    'GDF',
  ),
  refusedAs('UCINET', 'dl n=2 format=edgelist1\nlabels:\nann,bob\ndata:\n1 2\n', 'UCINET'),
  refusedAs('DIMACS', 'c a graph\np edge 3 2\ne 1 2\ne 2 3\n', 'DIMACS'),
  refusedAs(
    'a dump of SQL',
    'CREATE TABLE follows (a int, b int);\nINSERT INTO follows VALUES (1,2),(2,3);\n',
    'SQL',
  ),
  refusedAs(
    'an Excel workbook',
    Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(60, 1)]),
    'ZIP',
  ),
  refusedAs('an old Excel workbook', Buffer.from('d0cf11e0a1b11ae10000', 'hex'), 'binary'),
  refusedAs('zstd', Buffer.from('28b52ffd2400010000', 'hex'), 'zstd'),
  refusedAs('Parquet', Buffer.from('PAR1\u0015\u0000\u0015'), 'Parquet'),
  refusedAs(
    'NetworkX write_adjlist',
    '#/usr/bin/export.py\n# GMT Thu Jan  1 00:00:00 2026\n#\nann bob cem dan\nbob cem\ncem dan\ndan\n',
    'adjacency',
  ),
  refusedAs(
    'an adjacency list of three names a line',
    'ann,bob,cem\nbob,cem,ann\ncem,ann,bob\n',
    'line 1',
  ),
  refusedAs(
    'NetworkX write_multiline_adjlist',
    'ann 2\nbob {}\ncem {}\nbob 1\ncem {}\ncem 0\n',
    'adjacency',
  ),
  refusedAs('an adjacency matrix', ';ann;bob;cem\nann;0;1;0\nbob;0;0;1\ncem;1;0;0\n', 'line 1'),
  refusedAs('single letters above names', 'u,v\nann,bob\nbob,cem\ncem,ann\n', 'line 1 "u,v"'),
  refusedAs('names above numbers', 'ann,bob\n17,23\n', 'line 1 "ann,bob"'),
  refusedAs('names above many numbers', 'ann,bob\n17,23\n18,23\n23,17\n', 'line 1 "ann,bob"'),
  refusedAs(
    'unknown words above names that meet',
    'zyx;zyw\nann;bob\nbob;cem\ncem;ann\n',
    'line 1 "zyx;zyw"',
  ),
  refusedAs(
    'headings that are also handles',
    'follower,followee\nfollowee,friend\nfriend,follower\n',
    'line 1 "follower,followee"',
  ),
  refusedAs(
    'accounts of one table',
    'id,name,email\n1,ann,a@b.example\n2,bob,b@b.example\n',
    'line 1',
  ),
  refusedAs('separators that differ in most lines', 'ann,bob\nbob;cem\ncem|ann\n', 'line 1'),
  refusedAs('an empty file', '', 'no edge'),
  refusedAs('only a heading', 'follower,followee\n', 'no edge'),
  refusedAs('only comments', '# nothing\n\n', 'no edge'),
  refusedAs('only a self edge', 'ann,ann\n', 'no edge'),
  refusedAs('one name a line', 'ann\nbob\n', 'line 1'),
  refusedAs('a sorted file', 'ann,bob\nbob,cem\nfollower,followee\n', 'line 3 "follower,followee"'),
  refusedAs('people with a number', 'name,age\nann,30\nbob,31\ncem,32\n', 'line 1 "name,age"'),
  refusedAs('pandas without names of columns', '0,1\nann,bob\nbob,cem\n', 'line 1 "0,1"'),
  refusedAs('a profile list', 'Username,Full Name,URL\nann,Ann A,https://a.example\n', 'line 1'),
  refusedAs('PDF', '%PDF-1.4\nann bob\n', 'PDF'),
  refusedAs('TGF', '1 Ann\n2 Bob\n#\n1 2 follows\n', 'TGF'),
  refusedAs('METIS', '3 2\n2\n1 3\n2\n', 'line 2'),
  refusedAs('arrows', 'ann -> bob\nbob -> cem\n', 'line 1'),
  refusedAs(
    'names beside the number of their followers',
    'user,followers\nann,3\nbob,4\n',
    'line 1 "user,followers"',
  ),
  refusedAs(
    'names with numbers of followers and following',
    'Username,Name,Followers,Following\nann,Ann,5,6\nbob,Bob,7,8\n',
    'line 1 "Username,Name,Followers,Following"',
  ),
  refusedAs(
    'followers of an account with their Followers Count',
    'Bio,User Id,User Name,Name,Followers Count\n"hi, all",1,ann,Ann,5\nhello,2,bob,Bob,6\n',
    'line 1 "Bio,User Id',
  ),
  refusedAs(
    'a number of followers in German',
    'Name;Anzahl Follower\nann;5\nbob;6\n',
    'line 1 "Name;Anzahl Follower"',
  ),
  refusedAs(
    'names of rows or followers, beside numbers',
    'from to\n1 2 5\n2 3 7\n3 1 1\n',
    'Name each column',
  ),
  refusedAs(
    'unknown words in capitals above two edges',
    'Blocker,Blocked\nann,bob\ncem,dan\n',
    'line 1 "Blocker,Blocked"',
  ),
  refusedAs(
    'Mastodon domain_blocks.csv',
    '#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate\na.example,suspend,false,false,,false\n',
    'list of servers of Mastodon',
  ),
]
