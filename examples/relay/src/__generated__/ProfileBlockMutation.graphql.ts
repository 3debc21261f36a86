/**
 * @generated SignedSource<<c57f98fb9768e1093386587862a0eec9>>
 * @relayHash 2536a20246bd202e1070cbba2458cbb4
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 40aecdd848ac57b095c5e8acd87e0e33bd5fefadcbf0ad263301af5975d92e61

import type { ConcreteRequest } from 'relay-runtime';
import type { FragmentRefs } from "relay-runtime";
export type BlockUserInput = {
  clientMutationId?: string | null | undefined;
  user: UserRef;
};
export type UserRef = {
  handle: string;
  id?: never;
} | {
  handle?: never;
  id: string;
};
export type ProfileBlockMutation$variables = {
  input: BlockUserInput;
};
export type ProfileBlockMutation$data = {
  readonly blockUser: {
    readonly user: {
      readonly " $fragmentSpreads": FragmentRefs<"Profile_user">;
    } | null | undefined;
  } | null | undefined;
};
export type ProfileBlockMutation = {
  response: ProfileBlockMutation$data;
  variables: ProfileBlockMutation$variables;
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
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "ProfileBlockMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "BlockUserPayload",
        "kind": "LinkedField",
        "name": "blockUser",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "User",
            "kind": "LinkedField",
            "name": "user",
            "plural": false,
            "selections": [
              {
                "args": null,
                "kind": "FragmentSpread",
                "name": "Profile_user"
              }
            ],
            "storageKey": null
          }
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
    "name": "ProfileBlockMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "BlockUserPayload",
        "kind": "LinkedField",
        "name": "blockUser",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "User",
            "kind": "LinkedField",
            "name": "user",
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
                "name": "bio",
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
                "name": "bannerUrl",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "followerCount",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "followingCount",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "postCount",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "viewerFollows",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "followsViewer",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "viewerHasBlocked",
                "storageKey": null
              },
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "viewerGroups",
                "storageKey": null
              }
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "2536a20246bd202e1070cbba2458cbb4",
    "id": "40aecdd848ac57b095c5e8acd87e0e33bd5fefadcbf0ad263301af5975d92e61",
    "metadata": {},
    "name": "ProfileBlockMutation",
    "operationKind": "mutation",
    "text": "mutation ProfileBlockMutation(\n  $input: BlockUserInput!\n) {\n  blockUser(input: $input) {\n    user {\n      ...Profile_user\n      id\n    }\n  }\n}\n\nfragment Profile_user on User {\n  id\n  handle\n  name\n  bio\n  avatarUrl\n  bannerUrl\n  followerCount\n  followingCount\n  postCount\n  viewerFollows\n  followsViewer\n  viewerHasBlocked\n  viewerGroups\n}\n"
  }
};
})();

(node as any).hash = "f62318c75113ed53aa1289759c9af7f0";

export default node;
