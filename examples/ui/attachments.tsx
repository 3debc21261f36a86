import { useState } from 'react'
import { BlurHash } from './blur-hash'

export interface ShownAttachment {
  readonly url: string
  readonly kind: 'IMAGE' | 'VIDEO' | 'LINK'
  readonly alt?: string | null | undefined
  /** In pixels, if its author gave them. */
  readonly width?: number | null | undefined
  readonly height?: number | null | undefined
  readonly blurhash?: string | null | undefined
}

/** The least and the most of a width divided by its height: a narrower or a wider picture is cropped. */
const [ratioMin, ratioMax] = [0.8, 3]
const [defaultWidth, defaultHeight] = [1_600, 900]
/** What opens beside the app learns nothing of it, and search engines do not count it. */
const outside = { target: '_blank', rel: 'noreferrer nofollow' }

/** The pictures, videos and web pages of a post. Their places are there before they load, and of a bounded height. */
export function Attachments({ attachments }: { attachments: readonly ShownAttachment[] }) {
  const pages = attachments.filter(({ kind }) => kind === 'LINK')
  const media = attachments.filter(({ kind }) => kind !== 'LINK')
  return (
    <>
      {media.length > 0 ? (
        <div className={media.length > 1 ? 'media several' : 'media'}>
          {media.map((attachment, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a post may have the same picture twice.
            <Medium key={place} attachment={attachment} isAlone={media.length === 1} />
          ))}
        </div>
      ) : null}
      {pages.map(({ url, alt }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a post may have the same page twice.
        <a key={place} href={url} className="page" {...outside}>
          {alt ? <span>{alt}</span> : null}
          <span className="quiet">{new URL(url).host}</span>
        </a>
      ))}
    </>
  )
}

/** A picture or a video. If it does not load, its alternative text is in its place. */
function Medium({ attachment, isAlone }: { attachment: ShownAttachment; isAlone: boolean }) {
  const [hasFailed, setFailed] = useState(false)
  const { url, kind, alt, blurhash } = attachment
  const isSized = attachment.width && attachment.height
  const width = (isSized && attachment.width) || defaultWidth
  const height = (isSized && attachment.height) || defaultHeight
  const ratio = isAlone ? Math.min(ratioMax, Math.max(ratioMin, width / height)) : 1
  const style = { aspectRatio: ratio }
  const name = alt || (kind === 'VIDEO' ? 'Video' : 'Picture')
  const onError = () => setFailed(true)
  if (kind === 'VIDEO' && !hasFailed) {
    return (
      <div className="medium" style={style}>
        {blurhash ? <BlurHash hash={blurhash} /> : null}
        {/* biome-ignore lint/a11y/useMediaCaption: an attachment has no captions. */}
        <video src={url} controls preload="none" playsInline aria-label={name} onError={onError} />
      </div>
    )
  }
  return (
    <a href={url} className="medium" style={style} {...outside}>
      {blurhash && !hasFailed ? <BlurHash hash={blurhash} /> : null}
      {hasFailed ? (
        <span className="missing">{name}</span>
      ) : (
        <img
          src={url}
          alt={name}
          width={width}
          height={height}
          loading="lazy"
          decoding="async"
          referrerPolicy="no-referrer"
          onError={onError}
        />
      )}
    </a>
  )
}
