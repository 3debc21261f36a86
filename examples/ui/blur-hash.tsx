import { decode, isBlurhashValid } from 'blurhash'
import { useEffect, useRef } from 'react'

/** The size of the drawing, in pixels. The page scales it. */
const size = 32

/** A blurred preview behind a picture that loads. It is drawn, so that no policy of the page has to allow a data URL. */
export function BlurHash({ hash }: { hash: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context || !isBlurhashValid(hash).result) return
    const preview = context.createImageData(size, size)
    preview.data.set(decode(hash, size, size))
    context.putImageData(preview, 0, 0)
  }, [hash])
  return <canvas ref={canvas} width={size} height={size} />
}
