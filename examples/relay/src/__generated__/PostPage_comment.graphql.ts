/**
 * @generated SignedSource<<0031ced79acd45fbf682f6b230127a26>>
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
    readonly handle: string | null | undefined;
    readonly kind: FacetKind;
    readonly start: number;
    readonly url: string | null | undefined;
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

(node as any).hash = "3e441abbbe526a4da0ecb66e0b2362d5";

export default node;
