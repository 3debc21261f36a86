//! A client of Feedline by graphql_client. Usage: cargo run -- URL AUTHORIZATION AUTHORIZATION, see docs/how-to/other-languages.md.
use graphql_client::{GraphQLQuery, Response};
use std::{cell::RefCell, collections::HashMap, collections::HashSet, thread::sleep, time::Duration};

type DateTime = String;
macro_rules! operations {
    ($($name:ident),*) => { $(
        #[derive(GraphQLQuery)]
        #[graphql(schema_path = "../../schema/schema.graphql", query_path = "operations.graphql", skip_serializing_none)]
        struct $name;
    )* };
}
operations!(CreateUser, FollowUser, CreatePost, LikePost, DeletePost, Timeline, TimelineNews);

struct Client {
    url: String,
    authorization: String,
    statuses: RefCell<HashMap<u16, u32>>,
}

impl Client {
    /// Repeats a request without an answer, and with status 429 or 503, as Retry-After says. A repeated mutation has the
    /// same clientMutationId, so it takes effect once.
    fn send<Q: GraphQLQuery>(&self, variables: Q::Variables) -> Result<Q::ResponseData, Problem> {
        let (body, mut seconds) = (Q::build_query(variables), 0);
        for _ in 0..20 {
            sleep(Duration::from_secs(seconds));
            seconds = 1;
            let request = ureq::post(&self.url).header("authorization", &self.authorization).config();
            let request = request.timeout_global(Some(Duration::from_secs(15))).http_status_as_error(false).build();
            let Ok(mut answer) = request.send_json(&body) else { continue };
            let (status, text) = (answer.status().as_u16(), answer.body_mut().read_to_string().expect("a text"));
            *self.statuses.borrow_mut().entry(status).or_default() += 1;
            // A mutation whose result could not be read whole has status 200, and such an error.
            if status != 429 && status != 503 && !text.contains(r#""code":"UNAVAILABLE""#) {
                let Response { data, errors, .. } = serde_json::from_str(&text).expect("an answer in JSON");
                return errors.map_or_else(|| Ok(data.unwrap()), |errors| Err(problem_of(&errors[0])));
            }
            seconds = answer.headers().get("retry-after").map_or(1, |value| value.to_str().unwrap().parse().unwrap());
        }
        Err(("UNAVAILABLE".into(), "UNAVAILABLE: try again later".into()))
    }
}

/// The code of an error, and a line for the log.
type Problem = (String, String);

fn problem_of(error: &graphql_client::Error) -> Problem {
    let extensions = error.extensions.as_ref().unwrap();
    let code = extensions["code"].as_str().unwrap_or_default();
    let reaction = match code {
        "BAD_USER_INPUT" => "correct the input",
        "UNAUTHENTICATED" => "sign in again",
        "NOT_FOUND" | "FORBIDDEN" | "CONFLICT" => "take it back",
        "RATE_LIMITED" | "UNAVAILABLE" => "try again later",
        _ => &format!("report request {}", extensions["requestId"]),
    };
    (code.into(), format!("{code}: {reaction} ({})", error.message))
}
/// The first page, the page after a cursor, or the page before a poll cursor, with the ids of its posts.
fn read(client: &Client, after: Option<String>, before: Option<String>) -> (Vec<String>, timeline::TimelineTimeline) {
    let (first, last) = if before.is_some() { (None, Some(10)) } else { (Some(10), None) };
    let page = client.send::<Timeline>(timeline::Variables { first, after, last, before }).unwrap().timeline.unwrap();
    (page.edges.iter().filter_map(|edge| Some(edge.node.as_ref()?.id.clone())).collect(), page)
}

/// The posts since the last poll and the cursor of the next one. None after changed: then read the first page again.
fn poll(client: &Client, since: &str) -> Option<(Vec<String>, String)> {
    let news = client.send::<TimelineNews>(timeline_news::Variables { since: since.into() }).unwrap().timeline_news?;
    let (mut posts, mut since, mut more) = (vec![], since.to_owned(), news.count > 0);
    while more && !news.changed {
        let (ids, page) = read(client, None, Some(since));
        posts.splice(0..0, ids);
        (since, more) = (page.poll_cursor?, page.page_info.has_previous_page);
    }
    (!news.changed).then_some((posts, if news.count > 0 { since } else { news.poll_cursor }))
}

fn expect(holds: bool, line: &str) {
    assert!(holds, "not so: {line}");
    println!("{line}");
}

fn refuse(code: &str, refusal: Option<Problem>) {
    let (refused, line) = refusal.unwrap();
    expect(refused == code, &line);
}

fn sign_up(client: &Client, name: &str) -> Result<String, Problem> {
    let (key, name) = (Some("sign up".into()), name.into());
    Ok(client.send::<CreateUser>(create_user::Variables { name, key })?.create_user.unwrap().user.unwrap().handle)
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [alice, bob, unknown] = [&args[2], &args[3], "Bearer unknown"].map(|authorization| Client {
        url: args[1].clone(),
        authorization: authorization.into(),
        statuses: RefCell::default(),
    });
    let run = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    let key = |name: &str| Some(format!("{run} {name}"));
    let handle = sign_up(&alice, "Alice").unwrap();
    sign_up(&bob, "Bob").unwrap();
    let follow = |handle: String| bob.send::<FollowUser>(follow_user::Variables { key: key(&handle), handle });
    follow(handle.clone()).unwrap();
    println!("signed up and followed: {handle}");

    let publish = |client: &Client, text: String| -> Result<String, Problem> {
        let variables = create_post::Variables { key: key(&text), text };
        Ok(client.send::<CreatePost>(variables)?.create_post.unwrap().post.unwrap().id)
    };
    let (posts, since) = poll(&bob, &read(&bob, None, None).1.poll_cursor.unwrap()).unwrap();
    expect(posts.is_empty(), "polled: nothing new");
    println!("publishing");
    // The last mutation repeats the one before.
    let mut ids: HashSet<String> = (0..26).map(|n| publish(&alice, format!("Post {}", n.min(24))).unwrap()).collect();
    let count = |status| alice.statuses.borrow().get(&status).copied().unwrap_or(0);
    expect(ids.len() == 25, &format!("published: limited {} times, unavailable {} times", count(429), count(503)));
    let (posts, since) = poll(&bob, &since).unwrap();
    expect(posts.len() == 25, &format!("polled: {} new posts", posts.len()));

    let mut next = Some(None);
    while let Some(after) = next {
        let (page_ids, page) = read(&bob, after, None);
        ids.retain(|id| !page_ids.contains(id));
        next = page.page_info.has_next_page.then_some(page.page_info.end_cursor);
    }
    expect(ids.is_empty(), "paged to the end: each post is there");
    let like = like_post::Variables { post: posts[0].clone(), key: key("like") };
    let liked = bob.send::<LikePost>(like).unwrap().like_post.unwrap();
    expect(liked.changed, &format!("liked: {} like", liked.post.unwrap().like_count));
    let delete = delete_post::Variables { post: posts[0].clone(), key: key("delete") };
    alice.send::<DeletePost>(delete).unwrap();
    expect(poll(&bob, &since).is_none(), "polled: a post is gone");

    refuse("BAD_USER_INPUT", publish(&bob, String::new()).err());
    refuse("NOT_FOUND", follow(format!("nobody-{handle}")).err());
    refuse("CONFLICT", sign_up(&bob, "Another").err());
    refuse("UNAUTHENTICATED", sign_up(&unknown, "Nobody").err());
}
