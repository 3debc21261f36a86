/**
 * @generated SignedSource<<9996c8eb4ee8bd9fbdc771c0672e63eb>>
 * @relayHash 5e28be626e29d947b450c08a1522e6fd
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID f1616f38d609e4be4cf37e6affd61fc23fac295a4d88284284f6aa4a15d1aca2

import type { ConcreteRequest } from 'relay-runtime';
export type FollowUserInput = {
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
export type FollowMutation$variables = {
  input: FollowUserInput;
};
export type FollowMutation$data = {
  readonly followUser: {
    readonly user: {
      readonly followerCount: number | null | undefined;
      readonly id: string;
      readonly viewerFollows: boolean;
      readonly viewerGroups: ReadonlyArray<string>;
    } | null | undefined;
    readonly viewer: {
      readonly id: string;
      readonly user: {
        readonly followingCount: number | null | undefined;
        readonly id: string;
      } | null | undefined;
    };
  } | null | undefined;
};
export type FollowMutation = {
  response: FollowMutation$data;
  variables: FollowMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "input"
  }
],
v1 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v2 = [
  {
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "input",
        "variableName": "input"
      }
    ],
    "concreteType": "FollowUserPayload",
    "kind": "LinkedField",
    "name": "followUser",
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
          (v1/*:: as any*/),
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
            "name": "viewerFollows",
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
      },
      {
        "alias": null,
        "args": null,
        "concreteType": "Viewer",
        "kind": "LinkedField",
        "name": "viewer",
        "plural": false,
        "selections": [
          (v1/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "concreteType": "User",
            "kind": "LinkedField",
            "name": "user",
            "plural": false,
            "selections": [
              (v1/*:: as any*/),
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "followingCount",
                "storageKey": null
              }
            ],
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
    "name": "FollowMutation",
    "selections": (v2/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "FollowMutation",
    "selections": (v2/*:: as any*/)
  },
  "params": {
    "cacheID": "5e28be626e29d947b450c08a1522e6fd",
    "id": "f1616f38d609e4be4cf37e6affd61fc23fac295a4d88284284f6aa4a15d1aca2",
    "metadata": {},
    "name": "FollowMutation",
    "operationKind": "mutation",
    "text": "mutation FollowMutation(\n  $input: FollowUserInput!\n) {\n  followUser(input: $input) {\n    user {\n      id\n      followerCount\n      viewerFollows\n      viewerGroups\n    }\n    viewer {\n      id\n      user {\n        id\n        followingCount\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "c3f35470c448088bbad0febaa17d8f3d";

export default node;
