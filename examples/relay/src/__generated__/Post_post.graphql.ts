/**
 * @generated SignedSource<<3bf03a8dad47e3de15442b8712f6abe2>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ReaderInlineDataFragment } from 'relay-runtime';
export type FacetKind = "HASHTAG" | "LINK" | "MENTION";
import type { FragmentRefs } from "relay-runtime";
export type Post_post$data = {
  readonly author: {
    readonly avatarUrl: string | null | undefined;
    readonly handle: string;
    readonly name: string;
  };
  readonly commentCount: number;
  readonly createdAt: string;
  readonly facets: ReadonlyArray<{
    readonly end: number;
    readonly handle: string | null | undefined;
    readonly kind: FacetKind;
    readonly start: number;
    readonly url: string | null | undefined;
  }>;
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

(node as any).hash = "9d1161418be99f41813e5e99160aa490";

export default node;
