/**
 * @generated SignedSource<<15b6d9a11bcf143e96c62cd5a0cb8c49>>
 * @relayHash e7a6fd27301807f35168ab79bdee8d24
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 60f6e53221b71b8e23b0ea5e5ff3b69d4a955fa3d00117dd9033b55b05289073

import type { ConcreteRequest } from 'relay-runtime';
export type mainHandleQuery$variables = {
  handle: string;
};
export type mainHandleQuery$data = {
  readonly isHandleAvailable: boolean;
};
export type mainHandleQuery = {
  response: mainHandleQuery$data;
  variables: mainHandleQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "handle"
  }
],
v1 = [
  {
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "handle",
        "variableName": "handle"
      }
    ],
    "kind": "ScalarField",
    "name": "isHandleAvailable",
    "storageKey": null
  }
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "mainHandleQuery",
    "selections": (v1/*:: as any*/),
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "mainHandleQuery",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "e7a6fd27301807f35168ab79bdee8d24",
    "id": "60f6e53221b71b8e23b0ea5e5ff3b69d4a955fa3d00117dd9033b55b05289073",
    "metadata": {},
    "name": "mainHandleQuery",
    "operationKind": "query",
    "text": "query mainHandleQuery(\n  $handle: String!\n) {\n  isHandleAvailable(handle: $handle)\n}\n"
  }
};
})();

(node as any).hash = "c9ef6d10500868b19299070654826c60";

export default node;
