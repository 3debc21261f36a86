/**
 * @generated SignedSource<<423d16776bf38095141c1109484510c4>>
 * @relayHash 18a007c3c4174c6906b98d0fe78b90b1
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID d01c283052257a74524fd019fcc68a54dbb3f2b1e6587a42b9317b6bd5222026

import type { ConcreteRequest } from 'relay-runtime';
export type AccountHandleQuery$variables = {
  handle: string;
};
export type AccountHandleQuery$data = {
  readonly isHandleAvailable: boolean;
};
export type AccountHandleQuery = {
  response: AccountHandleQuery$data;
  variables: AccountHandleQuery$variables;
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
    "name": "AccountHandleQuery",
    "selections": (v1/*:: as any*/),
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "AccountHandleQuery",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "18a007c3c4174c6906b98d0fe78b90b1",
    "id": "d01c283052257a74524fd019fcc68a54dbb3f2b1e6587a42b9317b6bd5222026",
    "metadata": {},
    "name": "AccountHandleQuery",
    "operationKind": "query",
    "text": "query AccountHandleQuery(\n  $handle: String!\n) {\n  isHandleAvailable(handle: $handle)\n}\n"
  }
};
})();

(node as any).hash = "4182dae8808eb784b34f10da0db445e4";

export default node;
