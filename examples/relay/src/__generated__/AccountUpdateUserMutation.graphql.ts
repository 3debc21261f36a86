/**
 * @generated SignedSource<<6ffb7e9ac884eba958fdb0b82122ce69>>
 * @relayHash cf1dfc90404a232041b9b330c14c0ccd
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 44ebc8eaddb58b143f1b30c5133aa157211b2d4fd71f0afdd84976958dd0f4ff

import type { ConcreteRequest } from 'relay-runtime';
export type UpdateUserInput = {
  avatarUrl?: string | null | undefined;
  bannerUrl?: string | null | undefined;
  bio?: string | null | undefined;
  clientMutationId?: string | null | undefined;
  handle?: string | null | undefined;
  name?: string | null | undefined;
};
export type AccountUpdateUserMutation$variables = {
  input: UpdateUserInput;
};
export type AccountUpdateUserMutation$data = {
  readonly updateUser: {
    readonly user: {
      readonly avatarUrl: string | null | undefined;
      readonly bannerUrl: string | null | undefined;
      readonly bio: string | null | undefined;
      readonly handle: string;
      readonly id: string;
      readonly name: string;
    } | null | undefined;
  } | null | undefined;
};
export type AccountUpdateUserMutation = {
  response: AccountUpdateUserMutation$data;
  variables: AccountUpdateUserMutation$variables;
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
    "concreteType": "UpdateUserPayload",
    "kind": "LinkedField",
    "name": "updateUser",
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
    "name": "AccountUpdateUserMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "AccountUpdateUserMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "cf1dfc90404a232041b9b330c14c0ccd",
    "id": "44ebc8eaddb58b143f1b30c5133aa157211b2d4fd71f0afdd84976958dd0f4ff",
    "metadata": {},
    "name": "AccountUpdateUserMutation",
    "operationKind": "mutation",
    "text": "mutation AccountUpdateUserMutation(\n  $input: UpdateUserInput!\n) {\n  updateUser(input: $input) {\n    user {\n      id\n      handle\n      name\n      bio\n      avatarUrl\n      bannerUrl\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "0a5166c7727509c6c0cd9ce17c212ef4";

export default node;
