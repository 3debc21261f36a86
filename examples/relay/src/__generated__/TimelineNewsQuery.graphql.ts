/**
 * @generated SignedSource<<a4e7ebddcbc905ca8279e93e7d1c85cf>>
 * @relayHash 0348f973631ed2188aaf16994fa90561
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 1e353ae610e48c8c7826d9912bf2131c28ee88f9d433a5db9fe26de2043c5fe3

import type { ConcreteRequest } from 'relay-runtime';
export type TimelineNewsQuery$variables = {
  group?: string | null | undefined;
  since: string;
};
export type TimelineNewsQuery$data = {
  readonly timelineNews: {
    readonly changed: boolean;
    readonly count: number;
    readonly hasMore: boolean;
    readonly pollCursor: string;
  } | null | undefined;
};
export type TimelineNewsQuery = {
  response: TimelineNewsQuery$data;
  variables: TimelineNewsQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = {
  "defaultValue": null,
  "kind": "LocalArgument",
  "name": "group"
},
v1 = {
  "defaultValue": null,
  "kind": "LocalArgument",
  "name": "since"
},
v2 = [
  {
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "group",
        "variableName": "group"
      },
      {
        "kind": "Variable",
        "name": "since",
        "variableName": "since"
      }
    ],
    "concreteType": "TimelineNews",
    "kind": "LinkedField",
    "name": "timelineNews",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "count",
        "storageKey": null
      },
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "hasMore",
        "storageKey": null
      },
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "changed",
        "storageKey": null
      },
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "pollCursor",
        "storageKey": null
      }
    ],
    "storageKey": null
  }
];
return {
  "fragment": {
    "argumentDefinitions": [
      (v0/*:: as any*/),
      (v1/*:: as any*/)
    ],
    "kind": "Fragment",
    "metadata": null,
    "name": "TimelineNewsQuery",
    "selections": (v2/*:: as any*/),
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": [
      (v1/*:: as any*/),
      (v0/*:: as any*/)
    ],
    "kind": "Operation",
    "name": "TimelineNewsQuery",
    "selections": (v2/*:: as any*/)
  },
  "params": {
    "cacheID": "0348f973631ed2188aaf16994fa90561",
    "id": "1e353ae610e48c8c7826d9912bf2131c28ee88f9d433a5db9fe26de2043c5fe3",
    "metadata": {},
    "name": "TimelineNewsQuery",
    "operationKind": "query",
    "text": "query TimelineNewsQuery(\n  $since: String!\n  $group: String\n) {\n  timelineNews(since: $since, group: $group) {\n    count\n    hasMore\n    changed\n    pollCursor\n  }\n}\n"
  }
};
})();

(node as any).hash = "e419bb0c0c93b8218dc912576533bd4f";

export default node;
