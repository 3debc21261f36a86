/**
 * @generated SignedSource<<6f71dac4f1c9793f4890950779b7e4e6>>
 * @relayHash ea15d9afc5034445ded65d4d0981f460
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 3d52c952ed821c85a035a4d41d39a4f9085449297ccf48e5267a9c48e993ac8b

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
export type AccountCreateUserMutation$variables = {
  input: CreateUserInput;
};
export type AccountCreateUserMutation$data = {
  readonly createUser: {
    readonly viewer: {
      readonly " $fragmentSpreads": FragmentRefs<"main_viewer">;
    };
  } | null | undefined;
};
export type AccountCreateUserMutation = {
  response: AccountCreateUserMutation$data;
  variables: AccountCreateUserMutation$variables;
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
    "name": "AccountCreateUserMutation",
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
    "name": "AccountCreateUserMutation",
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
    "cacheID": "ea15d9afc5034445ded65d4d0981f460",
    "id": "3d52c952ed821c85a035a4d41d39a4f9085449297ccf48e5267a9c48e993ac8b",
    "metadata": {},
    "name": "AccountCreateUserMutation",
    "operationKind": "mutation",
    "text": "mutation AccountCreateUserMutation(\n  $input: CreateUserInput!\n) {\n  createUser(input: $input) {\n    viewer {\n      ...main_viewer\n      id\n    }\n  }\n}\n\nfragment main_viewer on Viewer {\n  user {\n    id\n    handle\n  }\n  groups(first: 100) {\n    edges {\n      node {\n        name\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "6062dfc936cf7df189bba30970a0a7dc";

export default node;
