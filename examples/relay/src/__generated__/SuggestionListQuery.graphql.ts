/**
 * @generated SignedSource<<7b8f21a4f61f20bd3ac47aa744468c5c>>
 * @relayHash 64561f9a1281952a313a6d23a4ad0b13
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 729469fbce6922f264922b50800a31fcb60a7c97f4232d58085ec7f8f527d1c0

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
          readonly isViewer: boolean;
          readonly name: string;
          readonly viewerFollows: boolean;
        } | null | undefined;
      }>;
    };
    readonly handle: string;
    readonly id: string;
    readonly isViewer: boolean;
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
          readonly isViewer: boolean;
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
  "name": "isViewer",
  "storageKey": null
},
v7 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "viewerFollows",
  "storageKey": null
},
v8 = {
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
    (v6/*:: as any*/),
    (v7/*:: as any*/)
  ],
  "storageKey": null
},
v9 = {
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
        (v8/*:: as any*/)
      ],
      "storageKey": null
    }
  ],
  "storageKey": "suggestions(first:10)"
},
v10 = {
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
    (v7/*:: as any*/),
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
            (v8/*:: as any*/)
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
          (v9/*:: as any*/)
        ],
        "storageKey": null
      },
      (v10/*:: as any*/)
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
          (v9/*:: as any*/),
          (v2/*:: as any*/)
        ],
        "storageKey": null
      },
      (v10/*:: as any*/)
    ]
  },
  "params": {
    "cacheID": "64561f9a1281952a313a6d23a4ad0b13",
    "id": "729469fbce6922f264922b50800a31fcb60a7c97f4232d58085ec7f8f527d1c0",
    "metadata": {},
    "name": "SuggestionListQuery",
    "operationKind": "query",
    "text": "query SuggestionListQuery(\n  $guide: String!\n) {\n  viewer {\n    suggestions(first: 10) {\n      edges {\n        commonCount\n        node {\n          id\n          handle\n          name\n          avatarUrl\n          isViewer\n          viewerFollows\n        }\n      }\n    }\n    id\n  }\n  user(handle: $guide) {\n    id\n    handle\n    name\n    avatarUrl\n    isViewer\n    viewerFollows\n    following(first: 10) {\n      edges {\n        node {\n          id\n          handle\n          name\n          avatarUrl\n          isViewer\n          viewerFollows\n        }\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "9c10a50be1ecea48993347bb784e58ec";

export default node;
