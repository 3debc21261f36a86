"""A client of Feedline by ariadne-codegen. Usage: main.py URL AUTHORIZATION AUTHORIZATION, see docs/how-to/other-languages.md."""

import sys
from collections import Counter
from uuid import uuid4

import httpx
from httpx_retries import Retry, RetryTransport

from feedline import (
    Client,
    CreatePostInput,
    CreateUserInput,
    DeletePostInput,
    ErrorCode,
    FollowUserInput,
    GraphQLClientError,
    GraphQLClientHttpError,
    LikePostInput,
    UserRef,
)

statuses = Counter()


class CountingTransport(httpx.HTTPTransport):
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        # A mutation whose result could not be read whole has status 200, and such an error.
        if b'"code":"UNAVAILABLE"' in response.read():
            response.status_code = 503
        statuses[response.status_code] += 1
        return response


def connect(url: str, authorization: str) -> Client:
    """Repeats a request without an answer, and with status 429 or 503, as Retry-After says.

    A repeated mutation has the same clientMutationId, so it takes effect once.
    """
    retry = Retry(total=20, allowed_methods=["POST"], status_forcelist=[429, 503], backoff_factor=0.5)
    transport = RetryTransport(CountingTransport(), retry=retry)
    headers = {"authorization": authorization}
    return Client(url, http_client=httpx.Client(headers=headers, timeout=15, transport=transport))


REACTIONS = {
    "correct the input": [ErrorCode.BAD_USER_INPUT],
    "take it back": [ErrorCode.NOT_FOUND, ErrorCode.FORBIDDEN, ErrorCode.CONFLICT],
    "sign in again": [ErrorCode.UNAUTHENTICATED],
    "try again later": [ErrorCode.RATE_LIMITED, ErrorCode.UNAVAILABLE],
}


def problem_of(error: GraphQLClientError) -> tuple[ErrorCode, str]:
    """The code of an error, and a line for the log. An error has another type if the status is not 200."""
    if isinstance(error, GraphQLClientHttpError):
        problem = error.response.json()["errors"][0]
    else:
        problem = error.errors[0].original
    code = ErrorCode(problem["extensions"]["code"])
    report = f"report request {problem['extensions']['requestId']}"
    reaction = next((reaction for reaction, codes in REACTIONS.items() if code in codes), report)
    return code, f"{code.value}: {reaction} ({problem['message']})"


def expect(holds: bool, line: str) -> None:
    if not holds:
        sys.exit(f"not so: {line}")
    print(line, flush=True)


def poll(client: Client, since: str) -> tuple[list, str, bool]:
    """The posts since the last poll and the cursor of the next one, or after changed the first page."""
    news = client.timeline_news(since).timeline_news
    if news.changed:
        page = client.timeline().timeline
        return page.edges, page.poll_cursor, True
    posts, since, more = [], news.poll_cursor if news.count == 0 else since, news.count > 0
    while more:
        page = client.timeline_poll(before=since, last=10).timeline
        posts, since, more = page.edges + posts, page.poll_cursor, page.page_info.has_previous_page
    return posts, since, False


def refuse(code: ErrorCode, request) -> None:
    try:
        expect(False, f"refused: {request()}")
    except GraphQLClientError as error:
        got, line = problem_of(error)
        expect(got == code, line)


def main(url: str, *authorizations: str) -> None:
    run = uuid4()
    alice, bob = (connect(url, authorization) for authorization in authorizations)
    for name, client in ("Alice", alice), ("Bob", bob):
        if client.viewer().viewer.user is None:
            client.create_user(CreateUserInput(name=name, client_mutation_id=f"{run} sign up"))
    handle = alice.viewer().viewer.handle
    bob.follow_user(FollowUserInput(user=UserRef(handle=handle), client_mutation_id=f"{run} follow"))
    expect(True, f"signed up and followed: {handle}")

    posts, since, changed = poll(bob, bob.timeline().timeline.poll_cursor)
    expect(not posts and not changed, "polled: nothing new")
    print("publishing", flush=True)
    ids = {}
    for n in [*range(25), 24]:  # the last mutation repeats the one before
        post = CreatePostInput(text=f"Post {n} of {run}", client_mutation_id=f"{run} {n}")
        ids[alice.create_post(post).create_post.post.id] = n
    limits = f"limited {statuses[429]} times, unavailable {statuses[503]} times"
    expect(len(ids) == 25, f"published: {limits}")
    posts, since, changed = poll(bob, since)
    expect(len(posts) == 25 and not changed, f"polled: {len(posts)} new posts")

    read, after, more = set(), None, True
    while more:
        page = bob.timeline(first=10, after=after).timeline
        read.update(edge.node.id for edge in page.edges if edge.node)
        after, more = page.page_info.end_cursor, page.page_info.has_next_page
    expect(ids.keys() <= read, "paged to the end: each post is there")
    liked = bob.like_post(LikePostInput(post_id=posts[0].node.id, client_mutation_id=f"{run} like")).like_post
    expect(liked.changed and liked.post.viewer_has_liked, f"liked: {liked.post.like_count} like")
    alice.delete_post(DeletePostInput(post_id=posts[0].node.id, client_mutation_id=f"{run} delete"))
    expect(poll(bob, since)[2], "polled: a post is gone")

    nobody = FollowUserInput(user=UserRef(handle=f"nobody-{handle}"))
    refuse(ErrorCode.BAD_USER_INPUT, lambda: bob.create_post(CreatePostInput(text="")))
    refuse(ErrorCode.NOT_FOUND, lambda: bob.follow_user(nobody))
    refuse(ErrorCode.CONFLICT, lambda: bob.create_user(CreateUserInput(name="Bob")))
    refuse(ErrorCode.UNAUTHENTICATED, connect(url, "Bearer unknown").viewer)


main(*sys.argv[1:])
