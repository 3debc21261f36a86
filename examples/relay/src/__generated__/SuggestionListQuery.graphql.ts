/**
 * @generated SignedSource<<6350ddca84b2bbcd7396bc982cb929bd>>
 * @relayHash d33637365f0506e50ee6348bbdc138f7
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 43d6970dc4071a0ff47867eb936b9cf52e8ca3648ae05b51ff8007c586365ccb

import type { ConcreteRequest } from 'relay-runtime';
export type SuggestionListQuery$variables = {
  guide: string;
};
export type SuggestionListQuery$data = {
  readonly user: {
    readonly avatarUrl: string | null | undefined;
    readonly following: {
      readonly edges: ReadonlyArray<{
        readonly node: {
          readonly avatarUrl: string | null | undefined;
          readonly handle: string;
          readonly id: string;
          readonly name: string;
          readonly viewerFollows: boolean;
        } | null | undefined;
      }>;
    };
    readonly handle: string;
    readonly id: string;
    readonly name: string;
    readonly viewerFollows: boolean;
  } | null | undefined;
  readonly viewer: {
    readonly suggestions: {
      readonly edges: ReadonlyArray<{
        readonly commonCount: number;
        readonly node: {
          readonly avatarUrl: string | null | undefined;
          readonly handle: string;
          readonly id: string;
          readonly name: string;
          readonly viewerFollows: boolean;
        } | null | undefined;
      }>;
    };
  } | null | undefined;
};
export type SuggestionListQuery = {
  response: SuggestionListQuery$data;
  variables: SuggestionListQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "guide"
  }
],
v1 = [
  {
    "kind": "Literal",
    "name": "first",
    "value": 10
  }
],
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v3 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "handle",
  "storageKey": null
},
v4 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "name",
  "storageKey": null
},
v5 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "avatarUrl",
  "storageKey": null
},
v6 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "viewerFollows",
  "storageKey": null
},
v7 = {
  "alias": null,
  "args": null,
  "concreteType": "User",
  "kind": "LinkedField",
  "name": "node",
  "plural": false,
  "selections": [
    (v2/*:: as any*/),
    (v3/*:: as any*/),
    (v4/*:: as any*/),
    (v5/*:: as any*/),
    (v6/*:: as any*/)
  ],
  "storageKey": null
},
v8 = {
  "alias": null,
  "args": (v1/*:: as any*/),
  "concreteType": "SuggestionConnection",
  "kind": "LinkedField",
  "name": "suggestions",
  "plural": false,
  "selections": [
    {
      "alias": null,
      "args": null,
      "concreteType": "SuggestionEdge",
      "kind": "LinkedField",
      "name": "edges",
      "plural": true,
      "selections": [
        {
          "alias": null,
          "args": null,
          "kind": "ScalarField",
          "name": "commonCount",
          "storageKey": null
        },
        (v7/*:: as any*/)
      ],
      "storageKey": null
    }
  ],
  "storageKey": "suggestions(first:10)"
},
v9 = {
  "alias": null,
  "args": [
    {
      "kind": "Variable",
      "name": "handle",
      "variableName": "guide"
    }
  ],
  "concreteType": "User",
  "kind": "LinkedField",
  "name": "user",
  "plural": false,
  "selections": [
    (v2/*:: as any*/),
    (v3/*:: as any*/),
    (v4/*:: as any*/),
    (v5/*:: as any*/),
    (v6/*:: as any*/),
    {
      "alias": null,
      "args": (v1/*:: as any*/),
      "concreteType": "FollowConnection",
      "kind": "LinkedField",
      "name": "following",
      "plural": false,
      "selections": [
        {
          "alias": null,
          "args": null,
          "concreteType": "FollowEdge",
          "kind": "LinkedField",
          "name": "edges",
          "plural": true,
          "selections": [
            (v7/*:: as any*/)
          ],
          "storageKey": null
        }
      ],
      "storageKey": "following(first:10)"
    }
  ],
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "SuggestionListQuery",
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "Viewer",
        "kind": "LinkedField",
        "name": "viewer",
        "plural": false,
        "selections": [
          (v8/*:: as any*/)
        ],
        "storageKey": null
      },
      (v9/*:: as any*/)
    ],
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "SuggestionListQuery",
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "Viewer",
        "kind": "LinkedField",
        "name": "viewer",
        "plural": false,
        "selections": [
          (v8/*:: as any*/),
          (v2/*:: as any*/)
        ],
        "storageKey": null
      },
      (v9/*:: as any*/)
    ]
  },
  "params": {
    "cacheID": "d33637365f0506e50ee6348bbdc138f7",
    "id": "43d6970dc4071a0ff47867eb936b9cf52e8ca3648ae05b51ff8007c586365ccb",
    "metadata": {},
    "name": "SuggestionListQuery",
    "operationKind": "query",
    "text": "query SuggestionListQuery(\n  $guide: String!\n) {\n  viewer {\n    suggestions(first: 10) {\n      edges {\n        commonCount\n        node {\n          id\n          handle\n          name\n          avatarUrl\n          viewerFollows\n        }\n      }\n    }\n    id\n  }\n  user(handle: $guide) {\n    id\n    handle\n    name\n    avatarUrl\n    viewerFollows\n    following(first: 10) {\n      edges {\n        node {\n          id\n          handle\n          name\n          avatarUrl\n          viewerFollows\n        }\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "eb42162151da6d52742a39cf2c8733c6";

export default node;
