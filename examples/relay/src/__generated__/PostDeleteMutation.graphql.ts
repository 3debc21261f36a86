/**
 * @generated SignedSource<<821aa3a0ecf147aa64ee1cc4bd1f1644>>
 * @relayHash 169ada571cf64ba02471b96253b79f58
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 37b53dadccc16e63df793ec5f38af3d11e5c5ac0abfabfa819e8a6afe2cc688c

import type { ConcreteRequest } from 'relay-runtime';
export type DeletePostInput = {
  clientMutationId?: string | null | undefined;
  postId: string;
};
export type PostDeleteMutation$variables = {
  input: DeletePostInput;
};
export type PostDeleteMutation$data = {
  readonly deletePost: {
    readonly deletedPostId: string;
    readonly viewer: {
      readonly id: string;
      readonly user: {
        readonly id: string;
        readonly postCount: number | null | undefined;
      } | null | undefined;
    };
  } | null | undefined;
};
export type PostDeleteMutation = {
  response: PostDeleteMutation$data;
  variables: PostDeleteMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "input"
  }
],
v1 = [
  {
    "kind": "Variable",
    "name": "input",
    "variableName": "input"
  }
],
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "deletedPostId",
  "storageKey": null
},
v3 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v4 = {
  "alias": null,
  "args": null,
  "concreteType": "Viewer",
  "kind": "LinkedField",
  "name": "viewer",
  "plural": false,
  "selections": [
    (v3/*:: as any*/),
    {
      "alias": null,
      "args": null,
      "concreteType": "User",
      "kind": "LinkedField",
      "name": "user",
      "plural": false,
      "selections": [
        (v3/*:: as any*/),
        {
          "alias": null,
          "args": null,
          "kind": "ScalarField",
          "name": "postCount",
          "storageKey": null
        }
      ],
      "storageKey": null
    }
  ],
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "PostDeleteMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "DeletePostPayload",
        "kind": "LinkedField",
        "name": "deletePost",
        "plural": false,
        "selections": [
          (v2/*:: as any*/),
          (v4/*:: as any*/)
        ],
        "storageKey": null
      }
    ],
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "PostDeleteMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "DeletePostPayload",
        "kind": "LinkedField",
        "name": "deletePost",
        "plural": false,
        "selections": [
          (v2/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "filters": null,
            "handle": "deleteRecord",
            "key": "",
            "kind": "ScalarHandle",
            "name": "deletedPostId"
          },
          (v4/*:: as any*/)
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "169ada571cf64ba02471b96253b79f58",
    "id": "37b53dadccc16e63df793ec5f38af3d11e5c5ac0abfabfa819e8a6afe2cc688c",
    "metadata": {},
    "name": "PostDeleteMutation",
    "operationKind": "mutation",
    "text": "mutation PostDeleteMutation(\n  $input: DeletePostInput!\n) {\n  deletePost(input: $input) {\n    deletedPostId\n    viewer {\n      id\n      user {\n        id\n        postCount\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "846e9eb979a2a47662956ac2f9e24585";

export default node;
