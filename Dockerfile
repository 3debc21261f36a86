# For a release, pin both to the digest that your registry shows for this tag.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages ./packages
# The examples and the typed client are workspaces too, which the server does not need.
RUN npm ci --ignore-scripts --include-workspace-root -w packages
COPY tsconfig.json tsconfig.build.json main.ts ./
COPY src ./src
RUN npm run build && npm prune --omit=dev --ignore-scripts --include-workspace-root -w packages

FROM node:24-bookworm-slim
# The admin port is open inside the container. Publish only the public port.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 ADMIN_HOST=0.0.0.0 ADMIN_PORT=4001
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY schema/operations ./schema/operations
USER node
EXPOSE 4000 4001
# Liveness of a server or a worker. Whether the database answers too is /readyz.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT}/livez`, { signal: AbortSignal.timeout(2000) }).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Any command of Feedline may follow the name of the image; `serve` if none does.
# A small young generation, as in `npm start`: 30 MB less are resident at rest.
ENTRYPOINT ["node", "--max-semi-space-size=8", "/app/dist/main.js"]
CMD ["serve"]
