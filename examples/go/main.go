// A client of Feedline by genqlient. Usage: go run . URL AUTHORIZATION AUTHORIZATION, see docs/how-to/other-languages.md.
package main

//go:generate go tool genqlient

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	. "feedline.example/go/feedline"
	"github.com/Khan/genqlient/graphql"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// connect returns a client that repeats a request without an answer, and with status 429 or 503, as Retry-After says.
// A repeated mutation has the same clientMutationId, so it takes effect once. Each answer is counted by its status.
func connect(url, authorization string, statuses map[int]int) graphql.Client {
	client := retryablehttp.NewClient()
	client.HTTPClient.Timeout, client.RetryMax = 15*time.Second, 20
	client.ErrorHandler, client.Logger = retryablehttp.PassthroughErrorHandler, nil
	client.RequestLogHook = func(_ retryablehttp.Logger, request *http.Request, _ int) {
		request.Header.Set("Authorization", authorization)
	}
	// A mutation whose result could not be read whole has status 200, and such an error.
	client.CheckRetry = func(ctx context.Context, answer *http.Response, err error) (bool, error) {
		again, err := retryablehttp.DefaultRetryPolicy(ctx, answer, err)
		if again || err != nil || answer == nil {
			return again, err
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body = io.NopCloser(bytes.NewReader(body))
		return err != nil || bytes.Contains(body, []byte(`"code":"UNAVAILABLE"`)), nil
	}
	client.ResponseLogHook = func(_ retryablehttp.Logger, answer *http.Response) { statuses[answer.StatusCode]++ }
	return graphql.NewClient(url, client.StandardClient())
}

var reactions = map[ErrorCode]string{
	ErrorCodeBadUserInput: "correct the input", ErrorCodeUnauthenticated: "sign in again",
	ErrorCodeNotFound: "take it back", ErrorCodeForbidden: "take it back", ErrorCodeConflict: "take it back",
	ErrorCodeRateLimited: "try again later", ErrorCodeUnavailable: "try again later",
}

// problemOf returns the code of an error, and a line for the log. An error has another type if the status is not 200.
func problemOf(err error) (code ErrorCode, line string) {
	var list gqlerror.List
	var refusal *graphql.HTTPError
	if errors.As(err, &refusal) {
		list = refusal.Response.Errors
	} else if !errors.As(err, &list) {
		return "", fmt.Sprint("no answer: ", err)
	}
	code = ErrorCode(fmt.Sprint(list[0].Extensions["code"]))
	reaction := cmp.Or(reactions[code], fmt.Sprint("report request ", list[0].Extensions["requestId"]))
	return code, fmt.Sprintf("%s: %s (%s)", code, reaction, list[0].Message)
}

type edge = TimelinePageEdgesTimelineEdge

// poll returns the posts since the last poll, and the cursor of the next one. After changed, read the first page again.
func poll(ctx context.Context, client graphql.Client, since string) (posts []edge, next string, changed bool) {
	news := must(TimelineNews(ctx, client, since, nil, nil)).TimelineNews
	for size, more := 10, news.Count > 0 && !news.Changed; more; {
		page := must(TimelinePoll(ctx, client, &size, since, nil, nil)).Timeline
		posts, since, more = append(page.Edges, posts...), *page.PollCursor, page.PageInfo.HasPreviousPage
		news.PollCursor = since
	}
	return posts, news.PollCursor, news.Changed
}


func must[Answer any](answer *Answer, err error) *Answer {
	if err != nil {
		log.Fatal(problemOf(err))
	}
	return answer
}

func expect(holds bool, line ...any) {
	if !holds {
		log.Fatal("not so: ", fmt.Sprintln(line...))
	}
	fmt.Println(line...)
}

func main() {
	ctx, run, statuses, ids := context.Background(), rand.Text(), map[int]int{}, map[string]bool{}
	key := func(name any) *string { id := fmt.Sprint(run, name); return &id }
	alice, bob := connect(os.Args[1], os.Args[2], statuses), connect(os.Args[1], os.Args[3], statuses)
	for name, client := range map[string]graphql.Client{"Alice": alice, "Bob": bob} {
		if must(Viewer(ctx, client)).Viewer.User == nil {
			must(CreateUser(ctx, client, CreateUserInput{Name: name, ClientMutationId: key("sign up")}))
		}
	}
	handle := *must(Viewer(ctx, alice)).Viewer.Handle
	must(FollowUser(ctx, bob, FollowUserInput{User: UserRef{Handle: handle}, ClientMutationId: key("follow")}))
	fmt.Println("signed up and followed:", handle)

	posts, since, changed := poll(ctx, bob, *must(Timeline(ctx, bob, nil, nil, nil)).Timeline.PollCursor)
	expect(len(posts) == 0 && !changed, "polled: nothing new")
	fmt.Println("publishing")
	for n := range 26 {
		id := key(min(n, 24)) // the last mutation repeats the one before
		answer := must(CreatePost(ctx, alice, CreatePostInput{Text: "Post " + *id, ClientMutationId: id}))
		ids[answer.CreatePost.Post.Id] = true
	}
	expect(len(ids) == 25, "published: limited", statuses[429], "times, unavailable", statuses[503], "times")
	posts, since, changed = poll(ctx, bob, since)
	expect(len(posts) == 25 && !changed, "polled:", len(posts), "new posts")

	for size, after, more := 10, (*string)(nil), true; more; {
		page := must(Timeline(ctx, bob, &size, after, nil)).Timeline
		for _, edge := range page.Edges {
			if edge.Node != nil { // nil if the post was deleted while the page was read
				delete(ids, edge.Node.Id)
			}
		}
		after, more = page.PageInfo.EndCursor, page.PageInfo.HasNextPage
	}
	expect(len(ids) == 0, "paged to the end: each post is there")
	liked := must(LikePost(ctx, bob, LikePostInput{PostId: posts[0].Node.Id, ClientMutationId: key("like")})).LikePost
	expect(liked.Changed && liked.Post.ViewerHasLiked, "liked:", liked.Post.LikeCount, "like")
	must(DeletePost(ctx, alice, DeletePostInput{PostId: posts[0].Node.Id, ClientMutationId: key("delete")}))
	_, _, changed = poll(ctx, bob, since)
	expect(changed, "polled: a post is gone")

	_, blank := CreatePost(ctx, bob, CreatePostInput{ClientMutationId: key("blank")})
	_, missing := FollowUser(ctx, bob, FollowUserInput{User: UserRef{Handle: "nobody-" + handle}})
	_, taken := CreateUser(ctx, bob, CreateUserInput{Name: "Bob"})
	_, unknown := Viewer(ctx, connect(os.Args[1], "Bearer unknown", statuses))
	for at, err := range []error{blank, missing, taken, unknown} {
		code, line := problemOf(err)
		expect(code == []ErrorCode{"BAD_USER_INPUT", "NOT_FOUND", "CONFLICT", "UNAUTHENTICATED"}[at], line)
	}
}
