//! Server-sent events: the progress of a load, and the state of the server.
//!
//! An event is built when the client takes it. A slow reader gets fewer events, and nothing waits
//! for it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value as Json, json};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

use super::handler::{CallerExtension, ContextState, HandlerResult};
use crate::admission::Permit;
use crate::auth::Caller;
use crate::context::ServerContext;
use crate::drain::DrainPhase;
use crate::jobs::JobSubscription;

/// Proxies cut off what is silent for longer.
const SILENCE_MAX: Duration = Duration::from_secs(15);
const INTERVAL: Duration = Duration::from_secs(1);

/// Reports the progress of a load until it has ended.
pub(super) async fn of_job(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Path(id): Path<String>,
) -> HandlerResult<Response> {
    context.check_open()?;
    let followed = context.jobs.subscribe(&id, &caller.job_scope())?;
    let place = context.event_streams.acquire().await?;
    Ok(event_response(EventStream::new(context, place, Topic::Job { followed, last: Json::Null })))
}

/// Says what the server does, until it ends.
pub(super) async fn of_server(
    State(context): ContextState,
    Extension(caller): CallerExtension,
) -> HandlerResult<Response> {
    caller.check_operator("watch")?;
    context.check_open()?;
    let place = context.event_streams.acquire().await?;
    let last = [Json::Null, Json::Null, Json::Null];
    Ok(event_response(EventStream::new(context, place, Topic::Server { caller, last })))
}

fn event_response(events: EventStream) -> Response {
    let pieces = futures::stream::unfold(events, |mut events| async move {
        let piece = events.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(piece)), events))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        // nginx would hold events back.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(pieces)).into_response()
}

/// The subject of the reports.
enum Topic {
    Job { followed: JobSubscription, last: Json },
    Server { caller: Caller, last: [Json; 3] },
}

/// The events of one client.
struct EventStream {
    context: Arc<ServerContext>,
    topic: Topic,
    ticks: Interval,
    told: Instant,
    /// The silence before a comment is sent.
    silence_max: Duration,
    is_over: bool,
    _place: Permit,
}

impl EventStream {
    fn new(context: Arc<ServerContext>, place: Permit, topic: Topic) -> Self {
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            context,
            topic,
            ticks,
            told: Instant::now(),
            silence_max: SILENCE_MAX,
            is_over: false,
            _place: place,
        }
    }

    /// The next piece of the body.
    async fn next(&mut self) -> Option<String> {
        if self.is_over {
            return None;
        }
        let phases = self.context.phases.clone();
        loop {
            let piece = tokio::select! {
                // In this order: an end is sent before further news.
                biased;
                () = phases.wait_for(DrainPhase::Draining) => {
                    self.is_over = true;
                    event("closing", &json!({}))
                }
                ended = wait_for_end(&mut self.topic) => {
                    self.is_over = true;
                    event("ended", &ended)
                }
                _ = self.ticks.tick() => self.new_events().await,
            };
            if !piece.is_empty() {
                self.told = Instant::now();
                return Some(piece);
            }
            // Clients skip a comment, but proxies that cut silent connections see that this one
            // lives.
            if self.told.elapsed() >= self.silence_max {
                self.told = Instant::now();
                return Some(": nothing new\n\n".to_owned());
            }
        }
    }

    /// What has changed since the last event.
    async fn new_events(&mut self) -> String {
        match &mut self.topic {
            Topic::Job { followed, last } => {
                let Some(view) = followed.view() else { return String::new() };
                // The time alone is no news.
                let news = json!([view["counts"], view["streams"]]);
                event_if_changed("progress", &view, last, news)
            }
            Topic::Server { caller, last: [jobs, counters, tables] } => {
                let context = &self.context;
                let running = json!({"jobs": context.jobs.running()});
                let counted = counters_of(context);
                let caller = caller.clone();
                let listed = context.blocking(move |context| {
                    let tables = context.store.tables().into_iter();
                    let seen = tables.filter(|table| caller.may_see(table.path()));
                    Ok(seen.map(|table| table.path().to_owned()).collect::<Vec<_>>())
                });
                let mut news = event_if_changed("jobs", &running, jobs, running.clone());
                news += &event_if_changed("counters", &counted, counters, counted.clone());
                // A list that cannot be had is no news, and no reason to end the stream: the next
                // tick asks again.
                if let Ok(paths) = listed.await {
                    let listed = json!({"tables": paths});
                    news += &event_if_changed("catalog", &listed, tables, listed.clone());
                }
                news
            }
        }
    }
}

/// Waits for the end of the load that is watched; for ever where none is.
async fn wait_for_end(topic: &mut Topic) -> Json {
    match topic {
        Topic::Job { followed, .. } => {
            followed.wait_for_end().await.map_or_else(|| json!({}), |ended| Json::clone(&ended))
        }
        Topic::Server { .. } => std::future::pending().await,
    }
}

fn counters_of(context: &ServerContext) -> Json {
    let metrics = &context.metrics;
    json!({
        "connections": metrics.connections_open(),
        "rows_in": metrics.rows_moved("in"),
        "rows_out": metrics.rows_moved("out"),
        "statements": context.statements.count(),
        "loads": context.jobs.running_loads(),
        "streams": context.streams.in_use(),
    })
}

/// An event, unless its news equals that of the last one.
fn event_if_changed(name: &str, data: &Json, last: &mut Json, news: Json) -> String {
    match *last == news {
        true => String::new(),
        false => {
            *last = news;
            event(name, data)
        }
    }
}

/// JSON has no line ends of its own, so it is one line of data.
fn event(name: &str, data: &Json) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;
    use tonnage::Store;

    use super::*;
    use crate::config::Settings;
    use crate::context::ServerFiles;
    use crate::drain::phases;

    /// Proxies cut off what is silent.
    #[test]
    fn a_comment_comes_after_silence() {
        let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
        let (_phase, phases) = phases();
        let config = Settings::default().resolve().unwrap();
        let store = Store::open("memory:").unwrap();
        let files = ServerFiles::read(&config).unwrap();
        let context = ServerContext::new(store, config, phases, files).unwrap();
        let pieces = runtime.block_on(async {
            let place = context.event_streams.acquire().await.unwrap();
            let caller = context.logins.caller(&Default::default(), None).await.unwrap();
            let last = [Json::Null, Json::Null, Json::Null];
            let mut events =
                EventStream::new(context.clone(), place, Topic::Server { caller, last });
            events.ticks = interval(Duration::from_millis(5));
            events.silence_max = Duration::from_secs(1);
            let mut pieces = Vec::new();
            for _ in 0..3 {
                let began = Instant::now();
                pieces.push((events.next().await.unwrap(), began.elapsed()));
            }
            pieces
        });
        assert!(pieces[0].0.starts_with("event: jobs"), "{pieces:?}");
        for (piece, waited) in &pieces[1..] {
            assert!(piece.starts_with(": ") && piece.ends_with("\n\n"), "{piece}");
            // The clock of the silence starts a little earlier than this one.
            assert!(*waited >= Duration::from_millis(500), "{waited:?}");
        }
    }
}
