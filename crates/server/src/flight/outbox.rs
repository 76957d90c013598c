//! The messages of a bulk put to its client.
//!
//! The load never waits for a client to read: the usual program writes everything before it reads
//! anything. So newer progress and acknowledgements replace older ones, and reports of single
//! entries wait on disk.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use futures::Stream;
use serde_json::json;
use tokio::sync::Notify;
use tonic::Status;
use tonnage::internal::sync::lock;
use tonnage::{Counts, Error, Result};

use super::report_backlog::{FailureReport, ReportBacklog, ReportBatch};
use crate::error::status;
use crate::jobs::counts_json;

/// A message to the client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PutMessage {
    Ready {
        job: String,
        stream: usize,
    },
    Progress(Counts),
    Existing(Vec<u64>),
    Failed(Vec<FailureReport>),
    Ack(u64),
    Completed {
        stream: usize,
        counts: Counts,
        durability: String,
    },
    EndedWithoutMarker {
        stream: usize,
        counts: Counts,
    },
    Report(serde_json::Value),
    Stopped {
        kind: &'static str,
        code: Option<&'static str>,
        message: String,
        flushed: bool,
        counts: Counts,
    },
}

impl PutMessage {
    pub(crate) fn to_json(&self) -> serde_json::Value {
        // These names are the protocol of docs/flight.md: clients of all versions read them.
        match self {
            PutMessage::Ready { job, stream } => json!({"ready": {"job": job, "stream": stream}}),
            PutMessage::Progress(counts) => json!({"progress": counts_json(counts)}),
            PutMessage::Existing(positions) => json!({"existing": {"positions": positions}}),
            PutMessage::Failed(failures) => {
                let failures = failures.iter().map(|failure| {
                    // A failure of the whole row has the name `column` too, with null.
                    json!({
                        "position": failure.position,
                        "column": failure.column,
                        "reason": failure.reason,
                    })
                });
                json!({"failed": failures.collect::<Vec<_>>()})
            }
            PutMessage::Ack(id) => json!({"ack": id}),
            PutMessage::Completed { stream, counts, durability } => json!({"completed": {
                "stream": stream, "counts": counts_json(counts), "durability": durability,
            }}),
            PutMessage::EndedWithoutMarker { stream, counts } => json!({"ended_without_marker": {
                "stream": stream, "counts": counts_json(counts),
            }}),
            PutMessage::Report(report) => json!({"report": report}),
            PutMessage::Stopped { kind, code, message, flushed, counts } => json!({"stopped": {
                "kind": kind, "code": code, "message": message, "flushed": flushed,
                "counts": counts_json(counts),
            }}),
        }
    }
}

/// Messages that wait for the client.
pub(crate) struct Outbox {
    state: Mutex<OutboxState>,
    news: Notify,
}

struct OutboxState {
    ready: Option<PutMessage>,
    backlog: ReportBacklog,
    /// Batches whose acknowledgement the client asked for: the position after them, its number.
    asked: VecDeque<(u64, u64)>,
    ack: Option<u64>,
    progress: Option<Counts>,
    /// The stream's last words, in order.
    last: VecDeque<PutMessage>,
    /// Whether its client said that everything was sent.
    is_marked: bool,
    is_completed: bool,
    closed: Option<Option<Status>>,
}

/// Acknowledgements that may wait. A client that asks for more gets the later ones only.
const ASKED_MAX: usize = 65_536;

impl Outbox {
    pub(crate) fn new(backlog: ReportBacklog) -> Arc<Self> {
        let waiting = OutboxState {
            ready: None,
            backlog,
            asked: VecDeque::new(),
            ack: None,
            progress: None,
            last: VecDeque::new(),
            is_marked: false,
            is_completed: false,
            closed: None,
        };
        Arc::new(Self { state: Mutex::new(waiting), news: Notify::new() })
    }

    pub(crate) fn ready(&self, job: &str, stream: usize) {
        self.state().ready = Some(PutMessage::Ready { job: job.to_owned(), stream });
        self.news.notify_one();
    }

    pub(crate) fn progress(&self, counts: Counts) {
        self.state().progress = Some(counts);
        self.news.notify_one();
    }

    /// # Errors
    /// `Exhausted` when the entry must be reported and cannot be kept.
    pub(crate) fn existing(&self, position: u64) -> Result<()> {
        let is_told = self.state().backlog.existing(position)?;
        if is_told {
            self.news.notify_one();
        }
        Ok(())
    }

    /// # Errors
    /// As [`Outbox::existing`].
    pub(crate) fn failed(&self, failure: impl FnOnce() -> FailureReport) -> Result<()> {
        let is_told = self.state().backlog.failed(failure)?;
        if is_told {
            self.news.notify_one();
        }
        Ok(())
    }

    /// Asks for an acknowledgement of all entries before a position.
    pub(crate) fn request_ack(&self, position: u64, id: u64) {
        let mut waiting = self.state();
        if waiting.asked.len() == ASKED_MAX {
            waiting.asked.pop_front();
        }
        waiting.asked.push_back((position, id));
    }

    /// Everything before a position is durable.
    pub(crate) fn durable(&self, position: u64) {
        let mut waiting = self.state();
        while let Some((asked, id)) = waiting.asked.front().copied() {
            if asked > position {
                break;
            }
            waiting.asked.pop_front();
            waiting.ack = Some(id);
        }
        drop(waiting);
        self.news.notify_one();
    }

    /// The client said that it sent everything: from now on the stream may complete.
    pub(crate) fn mark(&self) {
        self.state().is_marked = true;
    }

    /// The load says that all entries are durable. Nothing is reported where the client never said
    /// that these were all.
    pub(crate) fn complete(&self, stream: usize, counts: Counts, durability: &str) {
        let mut waiting = self.state();
        if !waiting.is_marked || waiting.is_completed {
            return;
        }
        waiting.is_completed = true;
        let durability = durability.to_owned();
        waiting.last.push_back(PutMessage::Completed { stream, counts, durability });
        drop(waiting);
        self.news.notify_one();
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.state().is_completed
    }

    pub(crate) fn last(&self, message: PutMessage) {
        self.state().last.push_back(message);
        self.news.notify_one();
    }

    /// Ends the messages, with a status when something went wrong.
    pub(crate) fn close(&self, status: Option<Status>) {
        self.state().closed.get_or_insert(status);
        self.news.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, OutboxState> {
        lock(&self.state)
    }

    fn take(&self) -> Option<NextMessage> {
        let mut waiting = self.state();
        if let Some(ready) = waiting.ready.take() {
            return Some(NextMessage::Message(ready));
        }
        if !waiting.backlog.is_empty() {
            return Some(match waiting.backlog.is_on_disk() {
                true => NextMessage::OnDisk,
                false => NextMessage::of_reports(waiting.backlog.pop()),
            });
        }
        if let Some(id) = waiting.ack.take() {
            return Some(NextMessage::Message(PutMessage::Ack(id)));
        }
        if let Some(counts) = waiting.progress.take() {
            return Some(NextMessage::Message(PutMessage::Progress(counts)));
        }
        if let Some(message) = waiting.last.pop_front() {
            return Some(NextMessage::Message(message));
        }
        waiting.closed.take().map(|status| {
            waiting.closed = Some(None);
            NextMessage::End(status)
        })
    }

    /// The next reports, read by a thread that may block.
    async fn read_from_disk(self: Arc<Self>) -> NextMessage {
        let read = tokio::task::spawn_blocking(move || self.state().backlog.pop()).await;
        NextMessage::of_reports(read.unwrap_or_else(|_| Err(Error::internal("a thread panicked"))))
    }

    /// The messages as they come.
    pub(crate) fn messages(
        self: Arc<Self>,
    ) -> impl Stream<Item = std::result::Result<PutMessage, Status>> {
        futures::stream::unfold((self, false), |(outbox, is_over)| async move {
            if is_over {
                return None;
            }
            loop {
                let next = match outbox.take() {
                    Some(NextMessage::OnDisk) => Some(outbox.clone().read_from_disk().await),
                    next => next,
                };
                match next {
                    Some(NextMessage::Message(message)) => {
                        return Some((Ok(message), (outbox, false)));
                    }
                    Some(NextMessage::End(Some(status))) => {
                        return Some((Err(status), (outbox, true)));
                    }
                    Some(NextMessage::End(None)) => return None,
                    Some(NextMessage::OnDisk) => {}
                    // `news` keeps a permit: what comes between the look and the wait is not missed.
                    None => outbox.news.notified().await,
                }
            }
        })
    }
}

enum NextMessage {
    Message(PutMessage),
    /// The next reports wait on the disk.
    OnDisk,
    End(Option<Status>),
}

impl NextMessage {
    fn of_reports(reports: Result<Option<ReportBatch>>) -> NextMessage {
        match reports {
            Ok(Some(ReportBatch::Existing(positions))) => {
                NextMessage::Message(PutMessage::Existing(positions))
            }
            Ok(Some(ReportBatch::Failed(failures))) => {
                NextMessage::Message(PutMessage::Failed(failures))
            }
            // One reads for each stream, so that what waited still waits.
            Ok(None) => NextMessage::End(Some(status(&Error::internal("reports are gone")))),
            Err(error) => NextMessage::End(Some(status(&error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;

    use super::*;
    use crate::flight::choice::ReportsChoice;
    use crate::spool::Spool;

    fn outbox(reports_max: usize) -> Arc<Outbox> {
        let spool = Arc::new(Spool::new(1 << 30));
        Outbox::new(ReportBacklog::new(ReportsChoice::First, reports_max, spool))
    }

    fn drained(outbox: Arc<Outbox>) -> Vec<PutMessage> {
        outbox.close(None);
        futures::executor::block_on(outbox.messages().map(std::result::Result::unwrap).collect())
    }

    #[test]
    fn a_client_that_does_not_read_costs_no_memory() {
        let outbox = outbox(3);
        for position in 0..1_000_000 {
            outbox.existing(position).unwrap();
            outbox.progress(Counts { read: position, ..Counts::default() });
        }
        let last = Counts { read: 999_999, ..Counts::default() };
        assert_eq!(
            drained(outbox),
            [PutMessage::Existing(vec![0, 1, 2]), PutMessage::Progress(last)]
        );
    }

    #[test]
    fn an_acknowledgement_covers_all_before_it() {
        let outbox = outbox(0);
        for id in 1..=4 {
            outbox.request_ack(id * 10, id);
        }
        outbox.durable(35);
        assert_eq!(drained(outbox), [PutMessage::Ack(3)]);
    }

    #[test]
    fn nothing_completes_before_the_client_said_that_it_sent_everything() {
        let outbox = outbox(0);
        outbox.complete(0, Counts::default(), "write");
        assert!(!outbox.is_completed());
        outbox.mark();
        outbox.complete(0, Counts::default(), "write");
        assert!(outbox.is_completed());
        assert_eq!(drained(outbox).len(), 1);
    }
}
