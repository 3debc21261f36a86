/**
 * @generated SignedSource<<7e6d192664fde182a463ee2aece7291b>>
 * @relayHash e5da878b8d02f6d9182f84eae8d16dd2
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 761ef2fd3ca0d7c8c90cabddf6732930994d5747b9f52af991c68df3ad9a42c8

import type { ConcreteRequest } from 'relay-runtime';
export type UnlikePostInput = {
  clientMutationId?: string | null | undefined;
  postId: string;
};
export type PostUnlikeMutation$variables = {
  input: UnlikePostInput;
};
export type PostUnlikeMutation$data = {
  readonly unlikePost: {
    readonly post: {
      readonly id: string;
      readonly likeCount: number;
      readonly viewerHasLiked: boolean;
    } | null | undefined;
  } | null | undefined;
};
export type PostUnlikeMutation = {
  response: PostUnlikeMutation$data;
  variables: PostUnlikeMutation$variables;
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
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "input",
        "variableName": "input"
      }
    ],
    "concreteType": "UnlikePostPayload",
    "kind": "LinkedField",
    "name": "unlikePost",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "Post",
        "kind": "LinkedField",
        "name": "post",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "id",
            "storageKey": null
          },
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "likeCount",
            "storageKey": null
          },
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "viewerHasLiked",
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ],
    "storageKey": null
  }
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "PostUnlikeMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "PostUnlikeMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "e5da878b8d02f6d9182f84eae8d16dd2",
    "id": "761ef2fd3ca0d7c8c90cabddf6732930994d5747b9f52af991c68df3ad9a42c8",
    "metadata": {},
    "name": "PostUnlikeMutation",
    "operationKind": "mutation",
    "text": "mutation PostUnlikeMutation(\n  $input: UnlikePostInput!\n) {\n  unlikePost(input: $input) {\n    post {\n      id\n      likeCount\n      viewerHasLiked\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "67709b1197ba19385938d79be465b7ce";

export default node;
