import static com.fasterxml.jackson.annotation.JsonInclude.Include.NON_NULL;
import static feedline.types.ErrorCode.*;

import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import com.netflix.graphql.dgs.client.codegen.*;
import feedline.client.*;
import feedline.types.*;
import java.net.URI;
import java.net.http.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Callable;

/** A client of Feedline by DGS. Usage: Main URL AUTHORIZATION AUTHORIZATION, see docs/how-to/other-languages.md. */
record Main(String url, String authorization) {
  static final ObjectMapper JSON = JsonMapper.builder().addModule(new JavaTimeModule()).serializationInclusion(NON_NULL).build();
  static final HttpClient HTTP = HttpClient.newHttpClient();
  static final Map<Integer, Integer> STATUSES = new HashMap<>();

  /** Repeats a request without an answer, and with status 429 or 503. Its clientMutationId makes it take effect once. */
  <T> T send(Class<T> type, GraphQLQuery query, BaseProjectionNode fields, Map<String, ?> variables) throws Exception {
    var body = Map.of("query", new GraphQLQueryRequest(query, fields).serialize(), "variables", variables);
    var request = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(15))
        .header("content-type", "application/json").header("authorization", authorization)
        .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body))).build();
    for (int attempt = 1; attempt <= 20; attempt++) {
      var response = HTTP.sendAsync(request, HttpResponse.BodyHandlers.ofString()).exceptionally(error -> null).join();
      // A mutation whose result could not be read whole has status 200, and such an error.
      var isLate = response == null || response.body().contains("\"code\":\"UNAVAILABLE\"");
      var status = isLate ? 503 : response.statusCode();
      STATUSES.merge(status, 1, Integer::sum);
      if (response != null && (status != 429 && status != 503 || attempt == 20)) {
        var answer = JSON.readTree(response.body());
        var code = answer.at("/errors/0/extensions/code");
        if (answer.has("errors")) throw new Refused(ErrorCode.valueOf(code.textValue()), answer.at("/errors/0"));
        return JSON.treeToValue(answer.get("data").get(query.getOperationName()), type);
      }
      var after = response == null ? "1" : response.headers().firstValue("retry-after").orElse("1");
      Thread.sleep(Duration.ofSeconds(Long.parseLong(after)).toMillis());
    }
    throw new java.io.IOException("no answer");
  }

  static final Map<ErrorCode, String> REACTIONS = Map.of(BAD_USER_INPUT, "correct the input", NOT_FOUND, "take it back",
      FORBIDDEN, "take it back", CONFLICT, "take it back", UNAUTHENTICATED, "sign in again",
      RATE_LIMITED, "try again later", UNAVAILABLE, "try again later");

  static class Refused extends RuntimeException {
    Refused(ErrorCode code, JsonNode error) {
      super(code + ": " + REACTIONS.getOrDefault(code, "report the requestId") + " (" + error.get("message").textValue() + ")");
    }
  }
  TimelineConnection timeline(Map<String, ?> variables) throws Exception {
    var query = TimelineGraphQLQuery.newRequest().firstReference("first").afterReference("after").lastReference("last");
    var fields = new TimelineProjectionRoot<>().pollCursor().edges().node().id().createdAt().parent().parent()
        .pageInfo().endCursor().hasNextPage().hasPreviousPage();
    return send(TimelineConnection.class, query.beforeReference("before").build(), fields, variables);
  }

  String createPost(String text, String key) throws Exception {
    var query = CreatePostGraphQLQuery.newRequest().inputReference("input").build();
    var input = CreatePostInput.newBuilder().text(text).clientMutationId(key).build();
    var fields = new CreatePostProjectionRoot<>().post().id();
    return send(CreatePostPayload.class, query, fields, Map.of("input", input)).getPost().getId();
  }

  String signUp(String name) throws Exception {
    var input = CreateUserInput.newBuilder().name(name).clientMutationId("sign up").build();
    return send(CreateUserPayload.class, CreateUserGraphQLQuery.newRequest().inputReference("input").build(),
        new CreateUserProjectionRoot<>().user().handle(), Map.of("input", input)).getUser().getHandle();
  }

  boolean follow(String handle) throws Exception {
    var input = FollowUserInput.newBuilder().user(UserRef.newBuilder().handle(handle).build()).build();
    return send(FollowUserPayload.class, FollowUserGraphQLQuery.newRequest().inputReference("input").build(),
        new FollowUserProjectionRoot<>().changed(), Map.of("input", input)).getChanged();
  }

  static List<String> idsOf(TimelineConnection page) {
    return page.getEdges().stream().filter(edge -> edge.getNode() != null).map(edge -> edge.getNode().getId()).toList();
  }

  record Poll(List<String> posts, String since, boolean changed) {}

  /** The posts since the last poll, and the cursor of the next one. After changed, read the first page again. */
  Poll poll(String since) throws Exception {
    var query = TimelineNewsGraphQLQuery.newRequest().sinceReference("since").build();
    var fields = new TimelineNewsProjectionRoot<>().count().changed().pollCursor();
    var news = send(TimelineNews.class, query, fields, Map.of("since", since));
    var posts = new LinkedList<String>();
    var next = news.getPollCursor();
    for (boolean more = news.getCount() > 0 && !news.getChanged(); more; since = next) {
      var page = timeline(Map.of("last", 10, "before", since));
      posts.addAll(0, idsOf(page));
      next = page.getPollCursor();
      more = page.getPageInfo().getHasPreviousPage();
    }
    return new Poll(posts, next, news.getChanged());
  }

  static void expect(boolean holds, String line) {
    if (!holds) throw new IllegalStateException("not so: " + line);
    System.out.println(line);
  }

  static void refuse(ErrorCode code, Callable<?> request) throws Exception {
    try {
      expect(false, "refused: " + request.call());
    } catch (Refused refused) {
      expect(refused.getMessage().startsWith(code + ":"), refused.getMessage());
    }
  }

  public static void main(String[] args) throws Exception {
    var alice = new Main(args[0], args[1]);
    var bob = new Main(args[0], args[2]);
    var run = UUID.randomUUID() + " ";
    var handle = alice.signUp("Alice");
    bob.signUp("Bob");
    bob.follow(handle);
    System.out.println("signed up and followed: " + handle);

    var unchanged = bob.poll(bob.timeline(Map.of()).getPollCursor());
    expect(unchanged.posts.isEmpty() && !unchanged.changed, "polled: nothing new");
    System.out.println("publishing");
    var ids = new HashSet<String>();
    for (int n = 0; n < 26; n++) { // the last mutation repeats the one before
      ids.add(alice.createPost("Post " + Math.min(n, 24), run + Math.min(n, 24)));
    }
    expect(ids.size() == 25, "published: limited %d times, unavailable %d times"
        .formatted(STATUSES.getOrDefault(429, 0), STATUSES.getOrDefault(503, 0)));
    var news = bob.poll(unchanged.since);
    expect(news.posts.size() == 25 && !news.changed, "polled: 25 new posts");

    var variables = new HashMap<String, Object>(Map.of("first", 10));
    for (boolean more = true; more; ) {
      var page = bob.timeline(variables);
      ids.removeAll(idsOf(page));
      variables.put("after", page.getPageInfo().getEndCursor());
      more = page.getPageInfo().getHasNextPage();
    }
    expect(ids.isEmpty(), "paged to the end: each post is there");
    var post = news.posts.get(0);
    var like = LikePostInput.newBuilder().postId(post).clientMutationId(run + "like").build();
    var liked = bob.send(LikePostPayload.class, LikePostGraphQLQuery.newRequest().inputReference("input").build(),
        new LikePostProjectionRoot<>().changed().post().likeCount(), Map.of("input", like));
    expect(liked.getChanged(), "liked: " + liked.getPost().getLikeCount() + " like");
    var delete = DeletePostInput.newBuilder().postId(post).clientMutationId(run + "delete").build();
    alice.send(DeletePostPayload.class, DeletePostGraphQLQuery.newRequest().inputReference("input").build(),
        new DeletePostProjectionRoot<>().changed(), Map.of("input", delete));
    expect(bob.poll(news.since).changed, "polled: a post is gone");

    refuse(BAD_USER_INPUT, () -> bob.createPost("", run + "blank"));
    refuse(NOT_FOUND, () -> bob.follow("nobody-" + handle));
    refuse(CONFLICT, () -> bob.signUp("Another"));
    refuse(UNAUTHENTICATED, () -> new Main(args[0], "Bearer unknown").signUp("Nobody"));
  }
}
