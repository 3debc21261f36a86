/**
 * @generated SignedSource<<a86ac6ac51cbe9a3c91946d71f82119e>>
 * @relayHash b9bb56e89fc4140e8b9aaf2cc9a50111
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 0edc9ed50f006ddc9121501830858b4a8fc1349c5509a006c20496f49619109b

import type { ConcreteRequest } from 'relay-runtime';
export type UnfollowUserInput = {
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
export type FollowEndMutation$variables = {
  input: UnfollowUserInput;
};
export type FollowEndMutation$data = {
  readonly unfollowUser: {
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
export type FollowEndMutation = {
  response: FollowEndMutation$data;
  variables: FollowEndMutation$variables;
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
    "concreteType": "UnfollowUserPayload",
    "kind": "LinkedField",
    "name": "unfollowUser",
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
    "name": "FollowEndMutation",
    "selections": (v2/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "FollowEndMutation",
    "selections": (v2/*:: as any*/)
  },
  "params": {
    "cacheID": "b9bb56e89fc4140e8b9aaf2cc9a50111",
    "id": "0edc9ed50f006ddc9121501830858b4a8fc1349c5509a006c20496f49619109b",
    "metadata": {},
    "name": "FollowEndMutation",
    "operationKind": "mutation",
    "text": "mutation FollowEndMutation(\n  $input: UnfollowUserInput!\n) {\n  unfollowUser(input: $input) {\n    user {\n      id\n      followerCount\n      viewerFollows\n      viewerGroups\n    }\n    viewer {\n      id\n      user {\n        id\n        followingCount\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "146f58811af0f82b044dfb39d0487100";

export default node;
