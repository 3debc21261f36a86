/**
 * @generated SignedSource<<a1656f46a810ba5d766c0a2941c37332>>
 * @relayHash 553984435e36c856b8c666970c1d4ff6
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 05a047e1a6cfac7ac444f64bcd29dfca148f3f0fa693d4ff2befa2d51cea29a0

import type { ConcreteRequest } from 'relay-runtime';
import type { FragmentRefs } from "relay-runtime";
export type CreateUserInput = {
  avatarUrl?: string | null | undefined;
  bannerUrl?: string | null | undefined;
  bio?: string | null | undefined;
  clientMutationId?: string | null | undefined;
  handle?: string | null | undefined;
  name: string;
};
export type mainCreateUserMutation$variables = {
  input: CreateUserInput;
};
export type mainCreateUserMutation$data = {
  readonly createUser: {
    readonly viewer: {
      readonly " $fragmentSpreads": FragmentRefs<"main_viewer">;
    };
  } | null | undefined;
};
export type mainCreateUserMutation = {
  response: mainCreateUserMutation$data;
  variables: mainCreateUserMutation$variables;
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
  "name": "id",
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "mainCreateUserMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "CreateUserPayload",
        "kind": "LinkedField",
        "name": "createUser",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "Viewer",
            "kind": "LinkedField",
            "name": "viewer",
            "plural": false,
            "selections": [
              {
                "args": null,
                "kind": "FragmentSpread",
                "name": "main_viewer"
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
    "name": "mainCreateUserMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "CreateUserPayload",
        "kind": "LinkedField",
        "name": "createUser",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "Viewer",
            "kind": "LinkedField",
            "name": "viewer",
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
                  (v2/*:: as any*/),
                  {
                    "alias": null,
                    "args": null,
                    "kind": "ScalarField",
                    "name": "handle",
                    "storageKey": null
                  }
                ],
                "storageKey": null
              },
              {
                "alias": null,
                "args": [
                  {
                    "kind": "Literal",
                    "name": "first",
                    "value": 100
                  }
                ],
                "concreteType": "FollowGroupConnection",
                "kind": "LinkedField",
                "name": "groups",
                "plural": false,
                "selections": [
                  {
                    "alias": null,
                    "args": null,
                    "concreteType": "FollowGroupEdge",
                    "kind": "LinkedField",
                    "name": "edges",
                    "plural": true,
                    "selections": [
                      {
                        "alias": null,
                        "args": null,
                        "concreteType": "FollowGroup",
                        "kind": "LinkedField",
                        "name": "node",
                        "plural": false,
                        "selections": [
                          {
                            "alias": null,
                            "args": null,
                            "kind": "ScalarField",
                            "name": "name",
                            "storageKey": null
                          }
                        ],
                        "storageKey": null
                      }
                    ],
                    "storageKey": null
                  }
                ],
                "storageKey": "groups(first:100)"
              },
              (v2/*:: as any*/)
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "553984435e36c856b8c666970c1d4ff6",
    "id": "05a047e1a6cfac7ac444f64bcd29dfca148f3f0fa693d4ff2befa2d51cea29a0",
    "metadata": {},
    "name": "mainCreateUserMutation",
    "operationKind": "mutation",
    "text": "mutation mainCreateUserMutation(\n  $input: CreateUserInput!\n) {\n  createUser(input: $input) {\n    viewer {\n      ...main_viewer\n      id\n    }\n  }\n}\n\nfragment main_viewer on Viewer {\n  user {\n    id\n    handle\n  }\n  groups(first: 100) {\n    edges {\n      node {\n        name\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "c9084b06abd7b9c8710e594e8dadc4db";

export default node;
