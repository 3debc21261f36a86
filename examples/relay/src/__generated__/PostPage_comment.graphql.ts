/**
 * @generated SignedSource<<9ffa63d397824590077a9090ae7a7c8e>>
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ReaderInlineDataFragment } from 'relay-runtime';
export type FacetKind = "HASHTAG" | "LINK" | "MENTION";
import type { FragmentRefs } from "relay-runtime";
export type PostPage_comment$data = {
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
  readonly text: string;
  readonly user: {
    readonly avatarUrl: string | null | undefined;
    readonly handle: string;
    readonly name: string;
  } | null | undefined;
  readonly viewerCanDelete: boolean;
  readonly " $fragmentType": "PostPage_comment";
};
export type PostPage_comment$key = {
  readonly " $data"?: PostPage_comment$data;
  readonly " $fragmentSpreads": FragmentRefs<"PostPage_comment">;
};

const node: ReaderInlineDataFragment = {
  "kind": "InlineDataFragment",
  "name": "PostPage_comment"
};

(node as any).hash = "171708f1529a2519cbdb4b8582351ded";

export default node;
