/**
 * @generated SignedSource<<185fcfaf77ef5f8cbe9f9d2b59c49d59>>
 * @relayHash 15a4a3a069bad57d8b2ce7ad78179cc0
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID b953531351a950618c64c74aa40535a9428ca68d94da9549d95dc66253e8eb60

import type { ConcreteRequest } from 'relay-runtime';
export type LikePostInput = {
  clientMutationId?: string | null | undefined;
  postId: string;
};
export type PostLikeMutation$variables = {
  input: LikePostInput;
};
export type PostLikeMutation$data = {
  readonly likePost: {
    readonly post: {
      readonly id: string;
      readonly likeCount: number;
      readonly viewerHasLiked: boolean;
    } | null | undefined;
  } | null | undefined;
};
export type PostLikeMutation = {
  response: PostLikeMutation$data;
  variables: PostLikeMutation$variables;
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
    "concreteType": "LikePostPayload",
    "kind": "LinkedField",
    "name": "likePost",
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
    "name": "PostLikeMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "PostLikeMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "15a4a3a069bad57d8b2ce7ad78179cc0",
    "id": "b953531351a950618c64c74aa40535a9428ca68d94da9549d95dc66253e8eb60",
    "metadata": {},
    "name": "PostLikeMutation",
    "operationKind": "mutation",
    "text": "mutation PostLikeMutation(\n  $input: LikePostInput!\n) {\n  likePost(input: $input) {\n    post {\n      id\n      likeCount\n      viewerHasLiked\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "087ce735cbaafd97d96b705c13239beb";

export default node;
