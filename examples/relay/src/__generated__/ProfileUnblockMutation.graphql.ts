/**
 * @generated SignedSource<<5c76df6efe1ba35127fdb2e4e13922b0>>
 * @relayHash a16a474b47acfea92450af9bbe63dab4
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID d30dcb288ff9e0773711621c86196000ebb9b985f1dcfc310d0e11b0f46b1d62

import type { ConcreteRequest } from 'relay-runtime';
export type UnblockUserInput = {
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
export type ProfileUnblockMutation$variables = {
  input: UnblockUserInput;
};
export type ProfileUnblockMutation$data = {
  readonly unblockUser: {
    readonly user: {
      readonly id: string;
      readonly viewerHasBlocked: boolean;
    } | null | undefined;
  } | null | undefined;
};
export type ProfileUnblockMutation = {
  response: ProfileUnblockMutation$data;
  variables: ProfileUnblockMutation$variables;
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
    "concreteType": "UnblockUserPayload",
    "kind": "LinkedField",
    "name": "unblockUser",
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
    "name": "ProfileUnblockMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "ProfileUnblockMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "a16a474b47acfea92450af9bbe63dab4",
    "id": "d30dcb288ff9e0773711621c86196000ebb9b985f1dcfc310d0e11b0f46b1d62",
    "metadata": {},
    "name": "ProfileUnblockMutation",
    "operationKind": "mutation",
    "text": "mutation ProfileUnblockMutation(\n  $input: UnblockUserInput!\n) {\n  unblockUser(input: $input) {\n    user {\n      id\n      viewerHasBlocked\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "6e51d872c89c55ae6d7204b98d02b35b";

export default node;
