/**
 * @generated SignedSource<<1fb89b3d5a1b627ecd3fa76a0cea8512>>
 * @relayHash 3df9a91d63b7b7de8b4143fe87725f18
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID b6306786faec2753ee40395efa028ae334fd9fe348502c7e601bd36405c526c0

import type { ConcreteRequest } from 'relay-runtime';
export type SuggestionListQuery$variables = Record<PropertyKey, never>;
export type SuggestionListQuery$data = {
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
var v0 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v1 = {
  "alias": null,
  "args": [
    {
      "kind": "Literal",
      "name": "first",
      "value": 10
    }
  ],
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
        {
          "alias": null,
          "args": null,
          "concreteType": "User",
          "kind": "LinkedField",
          "name": "node",
          "plural": false,
          "selections": [
            (v0/*:: as any*/),
            {
              "alias": null,
              "args": null,
              "kind": "ScalarField",
              "name": "handle",
              "storageKey": null
            },
            {
              "alias": null,
              "args": null,
              "kind": "ScalarField",
              "name": "name",
              "storageKey": null
            },
            {
              "alias": null,
              "args": null,
              "kind": "ScalarField",
              "name": "avatarUrl",
              "storageKey": null
            },
            {
              "alias": null,
              "args": null,
              "kind": "ScalarField",
              "name": "viewerFollows",
              "storageKey": null
            }
          ],
          "storageKey": null
        }
      ],
      "storageKey": null
    }
  ],
  "storageKey": "suggestions(first:10)"
};
return {
  "fragment": {
    "argumentDefinitions": [],
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
          (v1/*:: as any*/)
        ],
        "storageKey": null
      }
    ],
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": [],
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
          (v1/*:: as any*/),
          (v0/*:: as any*/)
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "3df9a91d63b7b7de8b4143fe87725f18",
    "id": "b6306786faec2753ee40395efa028ae334fd9fe348502c7e601bd36405c526c0",
    "metadata": {},
    "name": "SuggestionListQuery",
    "operationKind": "query",
    "text": "query SuggestionListQuery {\n  viewer {\n    suggestions(first: 10) {\n      edges {\n        commonCount\n        node {\n          id\n          handle\n          name\n          avatarUrl\n          viewerFollows\n        }\n      }\n    }\n    id\n  }\n}\n"
  }
};
})();

(node as any).hash = "09d7dfe290af3b05de9ade1a57e1c656";

export default node;
