/**
 * @generated SignedSource<<fcc8169f2250c3783eeadf7719d03159>>
 * @relayHash 2cdd3dcd07cfa0e6eebeac1ddd1618d7
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID d399703721b2184463f7fbf98fc5eb7d2f52d3fa0091aca1b0e428a323d8b235

import type { ConcreteRequest } from 'relay-runtime';
export type DeleteCommentInput = {
  clientMutationId?: string | null | undefined;
  commentId: string;
};
export type PostPageDeleteCommentMutation$variables = {
  connections: ReadonlyArray<string>;
  input: DeleteCommentInput;
};
export type PostPageDeleteCommentMutation$data = {
  readonly deleteComment: {
    readonly deletedCommentId: string;
    readonly post: {
      readonly commentCount: number;
      readonly id: string;
    } | null | undefined;
  } | null | undefined;
};
export type PostPageDeleteCommentMutation = {
  response: PostPageDeleteCommentMutation$data;
  variables: PostPageDeleteCommentMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = {
  "defaultValue": null,
  "kind": "LocalArgument",
  "name": "connections"
},
v1 = {
  "defaultValue": null,
  "kind": "LocalArgument",
  "name": "input"
},
v2 = [
  {
    "kind": "Variable",
    "name": "input",
    "variableName": "input"
  }
],
v3 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "deletedCommentId",
  "storageKey": null
},
v4 = {
  "alias": null,
  "args": null,
  "concreteType": "Post",
  "kind": "LinkedField",
  "name": "post",
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
      "name": "commentCount",
      "storageKey": null
    }
  ],
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": [
      (v0/*:: as any*/),
      (v1/*:: as any*/)
    ],
    "kind": "Fragment",
    "metadata": null,
    "name": "PostPageDeleteCommentMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "DeleteCommentPayload",
        "kind": "LinkedField",
        "name": "deleteComment",
        "plural": false,
        "selections": [
          (v3/*:: as any*/),
          (v4/*:: as any*/)
        ],
        "storageKey": null
      }
    ],
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": [
      (v1/*:: as any*/),
      (v0/*:: as any*/)
    ],
    "kind": "Operation",
    "name": "PostPageDeleteCommentMutation",
    "selections": [
      {
        "alias": null,
        "args": (v2/*:: as any*/),
        "concreteType": "DeleteCommentPayload",
        "kind": "LinkedField",
        "name": "deleteComment",
        "plural": false,
        "selections": [
          (v3/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "filters": null,
            "handle": "deleteEdge",
            "key": "",
            "kind": "ScalarHandle",
            "name": "deletedCommentId",
            "handleArgs": [
              {
                "kind": "Variable",
                "name": "connections",
                "variableName": "connections"
              }
            ]
          },
          (v4/*:: as any*/)
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "2cdd3dcd07cfa0e6eebeac1ddd1618d7",
    "id": "d399703721b2184463f7fbf98fc5eb7d2f52d3fa0091aca1b0e428a323d8b235",
    "metadata": {},
    "name": "PostPageDeleteCommentMutation",
    "operationKind": "mutation",
    "text": "mutation PostPageDeleteCommentMutation(\n  $input: DeleteCommentInput!\n) {\n  deleteComment(input: $input) {\n    deletedCommentId\n    post {\n      id\n      commentCount\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "376239a309e48080d3fb9ca9b7d6021d";

export default node;
