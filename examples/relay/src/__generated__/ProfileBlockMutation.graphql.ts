/**
 * @generated SignedSource<<f7bd9089718a3826c669743ebdb40d93>>
 * @relayHash 5d43c18a1e69d24186b27067716c3650
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 0c62896942577b3b452a248be66e3886c6801b6b17e247b2359a4d17c82ca598

import type { ConcreteRequest } from 'relay-runtime';
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
      readonly id: string;
      readonly viewerHasBlocked: boolean;
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
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "input",
        "variableName": "input"
      }
    ],
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
            "name": "viewerHasBlocked",
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
    "name": "ProfileBlockMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "ProfileBlockMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "5d43c18a1e69d24186b27067716c3650",
    "id": "0c62896942577b3b452a248be66e3886c6801b6b17e247b2359a4d17c82ca598",
    "metadata": {},
    "name": "ProfileBlockMutation",
    "operationKind": "mutation",
    "text": "mutation ProfileBlockMutation(\n  $input: BlockUserInput!\n) {\n  blockUser(input: $input) {\n    user {\n      id\n      viewerHasBlocked\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "b1ec01332f48fea52391422376d992ef";

export default node;
