//! Calls on single rows and pairs, one after another over one stream.
//!
//! 1. The client sends messages with one call each, or several, without waiting for answers.
//! 2. All calls that have come by now are carried out in their order, on one thread.
//! 3. Their answers go back in the same order.
//!
//! The stream ends in good order when the client ends it, when the server drains, and when its
//! users were read again: calls without an answer were not carried out then.

use std::sync::Arc;
use std::time::Instant;

use arrow_flight::FlightData;
use bytes::Bytes;
use futures::FutureExt;
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonnage::{Error, Result};
use tonnage_wire::{AnswersMessage, CallAnswer, CallFailure, CallMessage, CallsMessage};

use super::actions;
use super::client_stream::ClientStream;
use super::opened_stream::{MessageMemory, OpenedStream};
use super::stream_event::StreamEvent;
use crate::auth::Caller;
use crate::context::ServerContext;
use crate::drain::DrainPhase;
use crate::error::{kind_label, status};
use crate::metrics::ListenerKind;

/// Messages with answers that wait for the client.
const WAITING_ANSWERS: usize = 2;
/// Calls that one thread carries out before their answers are sent.
const CALLS_AT_ONCE: usize = 256;
/// Once answers have as many bytes, they are sent.
const ANSWER_BYTES: usize = 1 << 20;

type AnswerSender = mpsc::Sender<std::result::Result<FlightData, Status>>;

/// The stream of one client.
pub(super) struct CallStream {
    context: Arc<ServerContext>,
    caller: Caller,
    users_seen: u64,
    wire: ClientStream,
    memory: MessageMemory,
    answers: AnswerSender,
}

/// What has come from the client.
#[derive(Default)]
struct Arrived {
    calls: Vec<CallMessage>,
    /// How the stream ends after them, if it does.
    end: Option<Result<()>>,
}

impl CallStream {
    /// Begins to carry out the calls of a stream. Gives the stream of their answers.
    pub(super) fn start(
        context: Arc<ServerContext>,
        caller: Caller,
        opened: OpenedStream,
    ) -> ReceiverStream<std::result::Result<FlightData, Status>> {
        let (answers, stream) = mpsc::channel(WAITING_ANSWERS);
        let users_seen = context.logins.generation();
        let OpenedStream { first, wire, held: memory, .. } = opened;
        let wire = wire.held();
        let calls = CallStream { context, caller, users_seen, wire, memory, answers };
        tokio::spawn(calls.run(*first));
        ReceiverStream::new(stream)
    }

    async fn run(mut self, first: FlightData) {
        let ended = self.carry_out(first).await;
        if let Err(error) = ended {
            // A client that is gone hears of nothing.
            let _ = self.answers.send(Err(status(&error))).await;
        }
    }

    async fn carry_out(&mut self, first: FlightData) -> Result<()> {
        let mut arrived = Arrived { calls: calls_of(first)?, end: None };
        loop {
            self.take_what_waits(&mut arrived)?;
            let mut calls = std::mem::take(&mut arrived.calls).into_iter();
            while calls.len() > 0 {
                if self.is_over() {
                    return Ok(());
                }
                calls = self.answer(calls).await?;
            }
            self.memory.restart();
            if let Some(end) = arrived.end.take() {
                return end;
            }
            let phases = self.context.phases.clone();
            let event = tokio::select! {
                event = self.wire.next() => event?,
                () = phases.wait_for(DrainPhase::Draining) => return Ok(()),
            };
            arrived.add(event)?;
        }
    }

    /// Whether further calls belong on another stream.
    fn is_over(&self) -> bool {
        self.context.phases.current() >= DrainPhase::Draining
            || self.context.logins.generation() != self.users_seen
    }

    /// Takes messages without waiting for any.
    fn take_what_waits(&mut self, arrived: &mut Arrived) -> Result<()> {
        while arrived.end.is_none() && arrived.calls.len() < CALLS_AT_ONCE {
            match self.wire.next().now_or_never() {
                Some(event) => arrived.add(event?)?,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// Carries calls out and sends their answers. Gives back the calls that are left.
    async fn answer(
        &mut self,
        mut calls: std::vec::IntoIter<CallMessage>,
    ) -> Result<std::vec::IntoIter<CallMessage>> {
        let caller = self.caller.clone();
        let done = self.context.blocking(move |context| {
            let (mut answers, mut bytes) = (Vec::new(), 0);
            while bytes < ANSWER_BYTES
                && let Some(call) = calls.next()
            {
                let answer = answer_of(context, &caller, &call);
                bytes += answer.results.iter().map(Bytes::len).sum::<usize>();
                answers.push(answer);
            }
            Ok((answers, calls))
        });
        let (answers, calls) = done.await?;
        let message = AnswersMessage { answers }.encode_to_vec();
        let data = FlightData::new().with_app_metadata(message);
        self.answers.send(Ok(data)).await.map_err(|_| Error::cancelled("the client is gone"))?;
        Ok(calls)
    }
}

impl Arrived {
    fn add(&mut self, event: StreamEvent) -> Result<()> {
        match event {
            StreamEvent::Message(message) => self.calls.extend(calls_of(*message)?),
            StreamEvent::Ended => self.end = Some(Ok(())),
            StreamEvent::Torn(why) => self.end = Some(Err(Error::cancelled(why))),
        }
        Ok(())
    }
}

fn calls_of(message: FlightData) -> Result<Vec<CallMessage>> {
    CallsMessage::read(message.app_metadata)
}

fn answer_of(context: &ServerContext, caller: &Caller, call: &CallMessage) -> CallAnswer {
    let started = Instant::now();
    let done = actions::run_single(context, caller, &call.action, &call.body);
    let outcome = done.as_ref().map_or_else(|error| error.kind().label(), |_| "ok");
    context.metrics.count_call(ListenerKind::flight, "DoAction", outcome, started.elapsed());
    match done {
        Ok(results) => {
            CallAnswer { results: results.into_iter().map(Bytes::from).collect(), failure: None }
        }
        Err(error) => CallAnswer { results: Vec::new(), failure: Some(failure_of(&error)) },
    }
}

fn failure_of(error: &Error) -> CallFailure {
    let status = status(error);
    CallFailure {
        code: status.code().into(),
        kind: kind_label(error).to_owned(),
        message: status.message().to_owned(),
    }
}
