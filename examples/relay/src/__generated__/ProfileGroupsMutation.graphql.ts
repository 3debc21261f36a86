/**
 * @generated SignedSource<<2552971553c49f1b6fda6e30a1e51bcf>>
 * @relayHash f92b882376fe12562e575600250e3611
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID ef413426243bc44cbd9d96e9f7afdbab515484a01f7136779ebb8aa12b0d7d3b

import type { ConcreteRequest } from 'relay-runtime';
import type { FragmentRefs } from "relay-runtime";
export type SetFollowGroupsInput = {
  clientMutationId?: string | null | undefined;
  groups: ReadonlyArray<string>;
  user: UserRef;
};
export type UserRef = {
  handle: string;
  id?: never;
} | {
  handle?: never;
  id: string;
};
export type ProfileGroupsMutation$variables = {
  input: SetFollowGroupsInput;
};
export type ProfileGroupsMutation$data = {
  readonly setFollowGroups: {
    readonly user: {
      readonly id: string;
      readonly viewerGroups: ReadonlyArray<string>;
    } | null | undefined;
    readonly viewer: {
      readonly " $fragmentSpreads": FragmentRefs<"main_viewer">;
    };
  } | null | undefined;
};
export type ProfileGroupsMutation = {
  response: ProfileGroupsMutation$data;
  variables: ProfileGroupsMutation$variables;
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
},
v3 = {
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
      "name": "viewerGroups",
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
    "name": "ProfileGroupsMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "SetFollowGroupsPayload",
        "kind": "LinkedField",
        "name": "setFollowGroups",
        "plural": false,
        "selections": [
          (v3/*:: as any*/),
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
    "name": "ProfileGroupsMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "SetFollowGroupsPayload",
        "kind": "LinkedField",
        "name": "setFollowGroups",
        "plural": false,
        "selections": [
          (v3/*:: as any*/),
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
    "cacheID": "f92b882376fe12562e575600250e3611",
    "id": "ef413426243bc44cbd9d96e9f7afdbab515484a01f7136779ebb8aa12b0d7d3b",
    "metadata": {},
    "name": "ProfileGroupsMutation",
    "operationKind": "mutation",
    "text": "mutation ProfileGroupsMutation(\n  $input: SetFollowGroupsInput!\n) {\n  setFollowGroups(input: $input) {\n    user {\n      id\n      viewerGroups\n    }\n    viewer {\n      ...main_viewer\n      id\n    }\n  }\n}\n\nfragment main_viewer on Viewer {\n  user {\n    id\n    handle\n  }\n  groups(first: 100) {\n    edges {\n      node {\n        name\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "aabb904fffc8efa2bb4bdc7e524edf14";

export default node;
