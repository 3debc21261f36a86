/**
 * @generated SignedSource<<7a92c7670e7b3365b75c5d7f97a9b6cc>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ReaderInlineDataFragment } from 'relay-runtime';
import type { FragmentRefs } from "relay-runtime";
export type Post_post$data = {
  readonly author: {
    readonly handle: string;
    readonly name: string;
  };
  readonly commentCount: number;
  readonly createdAt: string;
  readonly id: string;
  readonly likeCount: number;
  readonly text: string;
  readonly viewerCanDelete: boolean;
  readonly viewerHasLiked: boolean;
  readonly " $fragmentType": "Post_post";
};
export type Post_post$key = {
  readonly " $data"?: Post_post$data;
  readonly " $fragmentSpreads": FragmentRefs<"Post_post">;
};

const node: ReaderInlineDataFragment = {
  "kind": "InlineDataFragment",
  "name": "Post_post"
};

(node as any).hash = "3f7c716ed2412322d8dcc8f28bdb430c";

export default node;
