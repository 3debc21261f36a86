/**
 * @generated SignedSource<<5cbf18967381b07e7e1b45c77c8da25f>>
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
    readonly kind: FacetKind;
    readonly start: number;
    readonly url: string | null | undefined;
    readonly user: {
      readonly handle: string;
    } | null | undefined;
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

(node as any).hash = "24808677b1e030d5361a557c920d9f60";

export default node;
