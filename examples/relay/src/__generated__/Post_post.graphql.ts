/**
 * @generated SignedSource<<2c38651a42424f3a754ff3f2ab7c101a>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ReaderInlineDataFragment } from 'relay-runtime';
export type AttachmentKind = "IMAGE" | "LINK" | "VIDEO";
export type FacetKind = "HASHTAG" | "LINK" | "MENTION";
import type { FragmentRefs } from "relay-runtime";
export type Post_post$data = {
  readonly attachments: ReadonlyArray<{
    readonly alt: string | null | undefined;
    readonly blurhash: string | null | undefined;
    readonly height: number | null | undefined;
    readonly kind: AttachmentKind;
    readonly url: string;
    readonly width: number | null | undefined;
  }>;
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

(node as any).hash = "df653dd0ab672a8831a7359b143ba889";

export default node;
